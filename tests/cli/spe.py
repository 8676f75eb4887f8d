# SPDX-License-Identifier: MIT
"""perfev script of samples of Arm SPE: the text of perf script, and what the records say."""
import collections
import json
import shutil

from cli import Folder, Skip, expect, expect_code, perfev, run
from spe_recording import recording

KINDS = ({}, {"context": (300, 301, 302, 999)}, {"timed": False}, {"per_thread": True, "cpus": 1}, {"switches": True, "midr": "0x00000000480fd010"},
         {"timed": False, "per_thread": True, "cpus": 1}, {"conv": False, "timed": False}, {"context": (300,), "phys": False, "kernel": False},
         {"switches": True, "cpus": 3, "midr": "0x00000000410fd490"})


def test_the_text_of_perf():
    if not shutil.which("perf"):
        raise Skip("perf is not there")
    with Folder() as folder:
        for seed, how in enumerate(KINDS):
            path = folder / "a.data"
            recording(path, seed + 1, **how)
            for options in ([], ["--itrace=f"], ["--itrace=mt"], ["--itrace=bM", "--ns"], ["-F", "+data_src,+addr"], ["-F", "comm,ip,data_src,addr"],
                            ["-F", "+weight,+phys_addr"], ["--itrace=aM", "-F", "+misc,+flags"], ["--itrace"], ["--no-itrace"]):
                theirs = run("perf", "script", "-i", path, *options)
                ours = perfev("script", "-i", path, *options)
                expect_code(ours, 0)
                expect(ours.out == theirs.out, f"{how} {options}: {ours.out[:300]}\n{theirs.out[:300]}")
                expect(ours.out.count("\n") > 20 or options == ["--no-itrace"], f"{how} {options}: {ours.out}")


def test_json():
    with Folder() as folder:
        path = folder / "a.data"
        recording(path, 1)
        rows = [json.loads(line) for line in perfev("script", "-i", path, "--json").out.splitlines()]
        events = collections.Counter(row["event"] for row in rows)
        expect(set(events) == {"l1d-miss", "l1d-access", "llc-miss", "llc-access", "tlb-miss", "tlb-access", "branch-miss", "remote-access", "memory"},
               f"{events}")
        memory = [row for row in rows if row["event"] == "memory"]
        expect(all(row["data_src"].startswith(("load", "store")) and row["addr"] != "0x0" and row["weight"] < 500 for row in memory), f"{memory[:2]}")
        times = [row["time_ns"] for row in rows]
        expect(times == sorted(times) and times[0] > 5000000, f"{times[:5]}")
        only = perfev("script", "-i", path, "--event", "memory").out.splitlines()
        expect(len(only) == len(memory) and all(" memory: " in line for line in only), f"{only[:2]}")
