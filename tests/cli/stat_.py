# SPDX-License-Identifier: MIT
"""perfev stat: counts, the JSON of the contract, runs, exit codes, targets."""
import csv
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import cli
from cli import BURN, ENV, PERFEV, Folder, Skip, expect, expect_code, expect_in, need_root, perfev

KEYS = {"event", "count", "value", "unit", "enabled_ns", "running_ns", "status", "why", "scaled",
        "cpu", "tid", "mean", "stddev"}


def test_json_has_the_keys_of_the_contract():
    done = perfev("stat", "--json", "-e", "page-faults,task-clock", "--", BURN, "0.05")
    expect_code(done, 0)
    document = done.json()
    expect(set(document) == {"events", "elapsed_ns", "runs", "command_status"}, f"{set(document)}")
    expect(document["runs"] == 1 and document["command_status"] == 0, f"{document}")
    expect(document["elapsed_ns"] > 50_000_000, f"{document['elapsed_ns']}")
    for event in document["events"]:
        expect(set(event) == KEYS, f"{set(event) ^ KEYS}")
        expect(event["status"] == "counted" and isinstance(event["count"], int), f"{event}")
        expect(event["why"] is None and event["mean"] is None, f"{event}")
    expect([e["event"] for e in document["events"]] == ["page-faults", "task-clock"], "order")


def test_default_events():
    names = [e["event"] for e in perfev("stat", "--json", "--", "true").json()["events"]]
    expect(names[:4] == ["task-clock", "context-switches", "cpu-migrations", "page-faults"], f"{names}")


def test_task_clock_of_a_busy_program():
    event = perfev("stat", "--json", "-e", "task-clock:u", "--", BURN, "0.5").json()["events"][0]
    expect(0.3e9 < event["count"] < 0.7e9, f"{event['count']}")


def test_threads_and_children_are_counted():
    one = perfev("stat", "--json", "-e", "task-clock", "--", BURN, "threads", "4", "0.2").json()
    two = perfev("stat", "--json", "-e", "task-clock", "-i", "--", BURN, "threads", "4", "0.2").json()
    expect(one["events"][0]["count"] > 0.79e9, f"{one}")
    expect(two["events"][0]["count"] < one["events"][0]["count"] / 4, f"{two} of {one}")


def test_runs():
    document = perfev("stat", "--json", "-r", "5", "-e", "page-faults", "--", "true").json()
    event = document["events"][0]
    expect(document["runs"] == 5, f"{document}")
    expect(abs(event["mean"] * 5 - event["count"]) < 1, f"{event}")
    expect(event["stddev"] >= 0, f"{event}")


def test_exit_status_is_the_commands():
    for status in (0, 3, 77):
        expect_code(perfev("stat", "-e", "page-faults", "--", BURN, "exit", status), status)
    done = perfev("stat", "--json", "-r", "2", "-e", "page-faults", "--", "sh", "-c", "exit 5")
    expect_code(done, 5)
    expect(done.json()["command_status"] == 5, done.out)
    expect_code(perfev("stat", "-e", "page-faults", "--", "sh", "-c", "kill -TERM $$"), 128 + 15)


def test_streams_do_not_mix():
    done = perfev("stat", "--json", "-e", "page-faults", "--", BURN, "exit", "0")
    done.json()
    expect_in("to stdout", done.err)
    done = perfev("stat", "-e", "page-faults", "--", BURN, "exit", "0")
    expect(done.out == "to stdout\n", done.out)
    expect_in("page-faults", done.err)
    with Folder() as folder:
        done = perfev("stat", "--json", "-o", folder / "x", "-e", "page-faults", "--", BURN, "exit", "0")
        expect(done.out == "to stdout\n", done.out)
        expect_in('"page-faults"', (folder / "x").read_text())


def test_text():
    done = perfev("stat", "-e", "page-faults,task-clock", "--", BURN, "0.1")
    expect(re.search(r"^ +[\d,]+ +page-faults", done.err, re.M), done.err)
    expect(re.search(r"^ +[\d.]+ msec task-clock .*CPUs utilized", done.err, re.M), done.err)
    expect_in("seconds elapsed", done.err)


def test_not_supported_beside_counted():
    done = perfev("stat", "--json", "-e", "page-faults,4294967:1", "--", "true")
    expect_code(done, 0)
    good, bad = done.json()["events"]
    expect(good["status"] == "counted", f"{good}")
    expect(bad["status"] == "not-supported" and bad["count"] is None and bad["why"], f"{bad}")


def test_modifiers():
    done = perfev("stat", "--json", "-e", "page-faults:u,page-faults:k,page-faults", "--", "true")
    user, kernel, both = (e["count"] for e in done.json()["events"])
    expect(user > 0 and both >= user, f"{user} {kernel} {both}")


def test_a_process_until_interrupted():
    target = subprocess.Popen([BURN, "20"])
    try:
        stat = subprocess.Popen([PERFEV, "stat", "--json", "-e", "task-clock", "-p", str(target.pid)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)
        time.sleep(1)
        stat.send_signal(signal.SIGINT)
        out, err = stat.communicate(timeout=20)
        expect(stat.returncode == 0, f"{stat.returncode} {err}")
        expect_in(b'"command_status":null', out)
        count = int(re.search(rb'"count":(\d+)', out)[1])
        expect(0.05e9 < count < 10e9, f"{count}")
    finally:
        target.kill()
        target.wait()


def test_a_process_that_ends():
    target = subprocess.Popen([BURN, "0.5"])
    done = perfev("stat", "--json", "-e", "task-clock", "-p", target.pid)
    target.wait()
    expect_code(done, 0)
    expect(done.json()["events"][0]["count"] > 1e8, done.out)


def test_a_process_while_a_command_runs():
    target = subprocess.Popen([BURN, "20"])
    try:
        done = perfev("stat", "--json", "-e", "task-clock", "-p", target.pid, "--", "sleep", "0.3")
        expect_code(done, 0)
        expect(0.03e9 < done.json()["events"][0]["count"] < 10e9, done.out)
    finally:
        target.kill()
        target.wait()


def test_all_cpus():
    done = perfev("stat", "--json", "-a", "-e", "cpu-clock", "--", "sleep", "0.2")
    if done.code == 1 and "perf_event_paranoid" in done.err:
        from cli import Skip
        raise Skip("this user may not count all CPUs")
    expect_code(done, 0)
    event = done.json()["events"][0]
    expect(event["count"] > 0.15e9, f"{event}")


# ---- intervals, places, fields ---------------------------------------------------------------------------------


def test_intervals():
    done = perfev("stat", "-e", "cpu-clock,page-faults", "-I", "100", "--json", "--", BURN, "0.55")
    expect_code(done, 0)
    parts = [json.loads(line) for line in done.out.splitlines() if line.startswith("{")]
    times = [part["time_ns"] for part in parts]
    expect(4 <= len(parts) <= times[-1] / 100_000_000 + 2, f"{len(parts)} intervals: {times}")  # long on a busy machine
    expect(times == sorted(times) and times[0] >= 90_000_000, f"{times}")
    expect([part["command_status"] for part in parts] == [None] * (len(parts) - 1) + [0], done.out)
    whole = perfev("stat", "-e", "page-faults", "--json", "--", BURN, "0.05").json()["events"][0]["count"]
    faults = [part["events"][1]["count"] or 0 for part in parts]
    expect(faults[0] > whole * 0.8 and sum(faults[1:]) < whole / 2, f"{faults}, and {whole} in a run: no differences")
    expect(abs(sum(part["elapsed_ns"] for part in parts) - times[-1]) < 1000, "intervals with gaps")


def test_an_interval_in_which_nothing_ran():
    done = perfev("stat", "-e", "page-faults", "-I", "60", "--json", "--", "sleep", "0.25")
    parts = [json.loads(line) for line in done.out.splitlines()]
    expect(any(part["events"][0]["status"] == "not-counted" and part["events"][0]["count"] is None
               for part in parts[1:]), done.out)
    text = perfev("stat", "-e", "page-faults", "-I", "60", "--", "sleep", "0.25").err
    expect_in("not counted", text)


def test_each_cpu():
    need_root()
    done = perfev("stat", "-a", "--per-cpu", "--json", "-e", "cpu-clock,duration_time", "--", "sleep", "0.1")
    expect_code(done, 0)
    rows = done.json()["events"]
    cpus = [row["cpu"] for row in rows if row["event"] == "cpu-clock"]
    expect(len(cpus) == os.cpu_count() and cpus == sorted(set(cpus)), f"{cpus}")
    expect([row["cpu"] for row in rows if row["event"] == "duration_time"] == [None], f"{rows}")
    whole = perfev("stat", "-a", "--json", "-e", "cpu-clock", "--", "sleep", "0.1").json()["events"][0]["count"]
    expect(abs(sum(row["count"] for row in rows[:-1]) / whole - 1) < 0.5, f"{rows} {whole}")
    expect_code(perfev("stat", "--per-cpu", "--", "true"), 2)
    expect_code(perfev("stat", "-a", "--per-cpu", "--per-thread", "--", "true"), 2)


def test_each_thread():
    with subprocess.Popen([BURN, "threads", "2", "5"], stdout=subprocess.DEVNULL) as process:
        try:
            time.sleep(0.2)
            tids = sorted(int(name) for name in os.listdir(f"/proc/{process.pid}/task"))
            done = perfev("stat", "--per-thread", "--json", "-e", "task-clock", "-p", process.pid, "--", "sleep", "0.2")
            expect_code(done, 0)
            rows = done.json()["events"]
            expect(sorted(row["tid"] for row in rows) == tids, f"{rows} {tids}")
            expect(any(row["status"] == "counted" and row["count"] > 0 for row in rows), f"{rows}")
        finally:
            process.kill()
    expect_code(perfev("stat", "--per-thread", "--", "true"), 2)


def test_fields():
    done = perfev("stat", "-x", ",", "-e", "page-faults,task-clock,cycles", "--", BURN, "0.05")
    expect_code(done, 0)
    rows = list(csv.reader(done.err.splitlines()))
    expect([row[2] for row in rows] == ["page-faults", "task-clock", "cycles"], done.err)
    expect(int(rows[0][0]) > 0 and rows[0][1] == "" and float(rows[0][4]) == 100, f"{rows[0]}")
    expect(rows[0][6] in ("/sec", "K/sec", "M/sec") and rows[1][1] == "msec", f"{rows}")
    expect(rows[1][6] == "CPUs utilized", f"{rows[1]}")
    done = perfev("stat", "-x", ",", "-e", "cs/name=a\\,b/", "--", "true")
    expect(done.code in (0, 2), done.err)  # a name may not have commas
    done = perfev("stat", "-x", "faults", "-e", "page-faults", "-r", "2", "--", "true")
    expect_in('"page-faults"', done.err)
    expect_code(perfev("stat", "-x", "", "--", "true"), 2)
    expect_code(perfev("stat", "-x", ",", "--json", "--", "true"), 2)


def test_fields_as_perf_has_them():
    """The first five are the same; what a count means is worded differently."""
    cli.need_command("perf")
    words = ["-x", ";", "-e", "minor-faults:u,major-faults:u", "--", BURN, "touch", "1000"]
    ours = [line.split(";") for line in perfev("stat", *words).err.splitlines()]
    theirs = [line.split(";") for line in cli.run("perf", "stat", *words).err.splitlines() if ";" in line]
    expect([row[1:3] for row in ours] == [row[1:3] for row in theirs], f"{ours} {theirs}")
    expect([row[4] for row in ours] == [row[4] for row in theirs] == ["100.00", "100.00"], f"{ours} {theirs}")
    expect(abs(int(ours[0][0]) - int(theirs[0][0])) <= 20, f"{ours} {theirs}")  # starting a program takes 50 or so
    words = ["-x", ";", "-r", "4", "-e", "task-clock:u", "--", BURN, "0.05"]
    ours = perfev("stat", *words).err.splitlines()[0].split(";")
    theirs = [line for line in cli.run("perf", "stat", *words).err.splitlines() if ";" in line][0].split(";")
    for row in (ours, theirs):  # the spread stands before the time, which is that of a run
        expect(row[3].endswith("%") and row[5] == "100.00", f"{ours} {theirs}")
        expect(30_000_000 < int(row[4]) < 150_000_000, f"{ours} {theirs}")


def cgroup():
    """A cgroup of our own, in the hierarchy that perf's controller is in."""
    need_root()
    for root in ("/sys/fs/cgroup/perf_event", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
        if os.path.exists(f"{root}/cgroup.procs"):
            path = pathlib.Path(root, f"perfev-test-{os.getpid()}")
            try:
                path.mkdir()
            except OSError:
                continue
            return path
    raise Skip("there is no cgroup that perf's controller is in, or none can be made")


def test_the_root_of_cgroups():
    """As perf has it; and a folder that is none is refused by its name."""
    os.rmdir(cgroup())
    done = perfev("stat", "-G", "/", "--json", "-e", "cpu-clock", "--", "sleep", "0.1")
    expect_code(done, 0)
    expect(done.json()["events"][0]["count"] > 0, done.out)
    done = perfev("stat", "-G", "/tmp", "--", "true")
    expect_code(done, 1)
    expect_in("cannot open cgroup /tmp", done.err)


def test_a_cgroup():
    path = cgroup()
    try:
        inside = subprocess.Popen(["sh", "-c", f'echo $$ > {path}/cgroup.procs; exec "$0" 1.2', BURN],
                                  stdout=subprocess.DEVNULL)
        time.sleep(0.3)
        for name in (path, path.name):
            done = perfev("stat", "-G", name, "--json", "-e", "task-clock,cpu-clock", "--", "sleep", "0.2")
            expect_code(done, 0)
            row = done.json()["events"][0]
            expect(row["status"] == "counted" and 0 < row["count"] < 400_000_000, f"{row}")
            expect(row["enabled_ns"] < 400_000_000, f"{row}: the time since boot")
        with cli.Folder() as folder:
            done = perfev("record", "-G", path, "-e", "cpu-clock", "-o", folder / "a.data", "--", "sleep", "0.2")
            expect_code(done, 0)
            functions = perfev("report", "-i", folder / "a.data", "--json").json()["functions"]
            expect(functions and functions[0]["symbol"].startswith("burn_"), f"{functions[:3]}")
        inside.wait()
    finally:
        for _ in range(20):
            try:
                path.rmdir()
                break
            except OSError:
                time.sleep(0.1)
    done = perfev("stat", "-G", "no-such-cgroup", "--", "true")
    expect_code(done, 1)
    expect_in("cannot open cgroup no-such-cgroup", done.err)
    expect_code(perfev("stat", "-a", "-G", "x", "--", "true"), 2)


def test_times_of_the_command():
    done = perfev("stat", "--json", "-e", "duration_time,user_time,system_time,task-clock", "--", BURN, "0.3")
    wall, user, system, clock = (row["count"] for row in done.json()["events"])
    expect(wall == done.json()["elapsed_ns"], f"{done.out}")
    expect(abs((user + system) / clock - 1) < 0.1, f"{user} + {system}, and task-clock {clock}")
    done = perfev("stat", "--json", "-a", "-e", "duration_time", "--", "sleep", "0.05")
    expect(done.json()["events"][0]["count"] > 40_000_000, done.out)
