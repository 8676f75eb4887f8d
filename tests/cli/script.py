# SPDX-License-Identifier: MIT
"""perfev script: the text of perf script, of recordings of all kinds; fields; JSON; what is refused."""
import hashlib
import json
import os
import pathlib
import re

from cli import (BURN, ENV, PERFEV, Folder, Skip, as_nobody, expect, expect_code, expect_in, need_command, need_root,
                 perfev, run, stats)

# Recordings of others that have a trace, which is followed without being asked.
TRACED = ("quipper/perf.data.intel_pt-4.14",)

# Recorded by perf here: options, command.
RECORDINGS = (
    (["-e", "cpu-clock", "-c", "250000", "-g"], [BURN, "0.1"]),
    (["-e", "cpu-clock:u", "-c", "250000"], [BURN, "0.1"]),
    (["-e", "{cpu-clock,page-faults,context-switches}:S", "-c", "100000"], [BURN, "0.1"]),
    (["-e", "page-faults", "-c", "1", "-d"], ["ls", "/"]),
    (["-e", "cpu-clock", "--intr-regs", "--user-regs=ip,sp", "-d", "-W"], [BURN, "0.1"]),
    (["-e", "dummy,cpu-migrations"], ["true"]),
)
# The same, for root.
SYSTEM = (
    (["-e", "sched:*", "-a"], ["sleep", "0.1"]),
    (["-e", "syscalls:sys_enter_*"], ["ls", "/"]),
    (["-e", "sched:sched_switch", "-g", "-a"], ["sleep", "0.1"]),
    (["-e", "timer:timer_start,workqueue:workqueue_execute_start", "-a"], ["sleep", "0.5"]),  # fields that are functions
    (["-e", "cpu-clock,raw_syscalls:sys_enter", "--switch-events", "--namespaces", "-T"], ["ls", "/"]),
)
# Options of both.
FORMS = (["-F", "comm,tid,time,ip,sym"], ["-F", "+pid,+misc,-period"], ["-F", "event,ip"], ["-G"], ["--ns"],
         ["-F", "pid,time,event,ip,sym,symoff,dso"], ["--max-stack", "3"])


def same_text(path, *options):
    theirs = run("perf", "script", "-i", path, *options)
    expect_code(theirs, 0)
    ours = perfev("script", "-i", path, *options)
    expect_code(ours, 0)
    if ours.raw == theirs.raw:
        return
    lines = zip(theirs.out.splitlines() + ["(end)"], ours.out.splitlines() + ["(end)"])
    different = [(number, a, b) for number, (a, b) in enumerate(lines, 1) if a != b]
    expect(False, f"{options}: {len(different)} lines differ, the first is {different[:1]}")


def recorded(folder, options, command):
    path = folder / "a.data"
    done = run("perf", "record", "-q", "-o", path, *options, "--", *command, cwd=folder.path)
    expect_code(done, 0)
    return path


def test_text_of_recordings_of_perf():
    need_command("perf")
    with Folder() as folder:
        for options, command in RECORDINGS:
            same_text(recorded(folder, options, command))


def test_text_of_tracepoints():
    need_command("perf")
    need_root()
    with Folder() as folder:
        for options, command in SYSTEM:
            same_text(recorded(folder, options, command))


def test_text_of_our_recordings():
    need_command("perf")
    with Folder() as folder:
        for options in (["-g"], ["--call-graph", "no"], ["-e", "cpu-clock,page-faults"]):
            path = folder / "a.data"
            expect_code(perfev("record", *options, "-o", path, "--", BURN, "0.1"), 0)
            same_text(path)


def test_fields():
    need_command("perf")
    with Folder() as folder:
        path = recorded(folder, *RECORDINGS[0])
        for form in FORMS:
            same_text(path, *form)


def test_fields_of_memory_and_registers():
    need_command("perf")
    with Folder() as folder:
        path = recorded(folder, *RECORDINGS[4])
        same_text(path, "-F", "+iregs,+uregs,+addr,+weight,+sym")


JIT = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
let s = 0
for (let i = 0; i < 27; i++) s += fib(i)
for (let i = 0; i < 100000; i++) s += JSON.stringify({a: i}).length
"""


def test_code_made_at_run_time():
    """Lists of functions, as perf has them; what perf needs 'inject' for is named directly."""
    need_command("perf")
    need_command("node")
    with Folder() as folder:
        program = folder / "a.js"
        program.write_text(JIT)
        options = ["-k", "mono", "-e", "cpu-clock", "-c", "500000", "-g"]
        path = recorded(folder, options, ["node", "--perf-basic-prof", "--interpreted-frames-native-stack", program])
        same_text(path)
        expect_in("fib", perfev("script", "-i", path, "-F", "ip,sym,dso").out)
        for name in re.findall(r"/tmp/perf-\d+\.map", perfev("script", "-i", path, "-F", "ip,dso").out)[:1]:
            os.unlink(name)
        done = run("perf", "record", "-q", "-o", path, *options, "--", "node", "--perf-prof", program, cwd=folder.path)
        expect_code(done, 0)
        expect_code(run("perf", "inject", "-j", "-i", path, "-o", folder / "b.data", cwd=folder.path), 0)
        theirs = run("perf", "script", "-i", folder / "b.data", "-F", "ip,sym,dso", cwd=folder.path).out
        ours = perfev("script", "-i", path, "-F", "ip,sym,dso").out
        names = re.findall(r"[0-9a-f]+ (.*) \(\S*jitted-", theirs)
        expect(len(names) > 20, f"{len(names)} names")
        expect(names == re.findall(r"[0-9a-f]+ (.*) \(\S*jit-\d+\.dump\)", ours), "names of a jitdump file")


def test_from_a_pipe():
    need_command("perf")
    with Folder() as folder:
        path = folder / "a.pipe"
        with open(path, "wb") as out:
            run("perf", "record", "-o", "-", "-e", "cpu-clock", "-g", "--", BURN, "0.1", stdout=out)
        same_text(path)
        with open(path, "rb") as stream:
            piped = perfev("script", "-i", "-", stdin=stream)
        expect(piped.raw == perfev("script", "-i", path).raw, "a stream is not the same as its file")


def truths():
    folder = os.environ.get("PERFEV_TEST_DATA")
    if not folder:
        raise Skip("PERFEV_TEST_DATA names no folder of recordings")
    folder = pathlib.Path(folder)
    return folder, json.loads((folder / "truth.json").read_text())


def test_text_of_recordings_of_others():
    folder, truth = truths()
    same = 0
    with Folder() as empty:
        for name, facts in truth.items():
            if facts.get("perf_exit") is None or facts["perf_exit"]["S"]:
                continue
            done = perfev("script", "-i", folder / name, "--symfs", empty.path)
            digest = hashlib.sha256(done.raw).hexdigest()[:16]
            expect(digest == facts["script_sha256_16"],
                   f"{name}: {len(done.out.splitlines())} lines, perf {facts['script_lines']}: {done.out[:200]}")
            same += 1
    expect(same > 25, f"{same} recordings")


def test_text_of_recordings_with_traces():
    need_command("perf")
    folder, _ = truths()
    with Folder() as empty:
        empty.path.chmod(0o755)
        for name in TRACED:
            for options in ([], ["--no-itrace"], ["--itrace=be"], ["--itrace=cr"], ["--itrace"], ["-F", "+flags"], ["--itrace=p", "--ns"],
                            ["-F", "comm,tid,time,event,ip,sym,dso,synth"], ["-F", "synth:+period"]):
                words = ["script", "-i", folder / name, "--symfs", empty.path, *options]
                theirs = as_nobody("perf", *words, env=dict(ENV, HOME=str(empty.path)), cwd="/")
                ours = perfev(*words)
                expect(ours.raw == theirs.raw and ours.raw.count(b"\n") > 10, f"{name} {options}: {ours.out[:200]} {theirs.out[:200]}")


def test_counts_that_were_recorded():
    """perf stat record: one command, all CPUs, intervals, two threads; as a file and as a stream."""
    need_command("perf")
    tables = 0
    with Folder() as folder:
        for words in (["-e", "task-clock,page-faults", "-I", "50", "--", BURN, "0.2"], ["-a", "-e", "cpu-clock,page-faults", "--", "sleep", "0.1"],
                      ["-e", "{task-clock,page-faults}", "--", BURN, "0.05"], ["--per-thread", "-e", "task-clock", "-p", str(os.getpid()), "--", "sleep", "0.1"],
                      ["-a", "-A", "-e", "cpu-clock:u", "--", "sleep", "0.1"]):
            path = folder / "a.data"
            if run("perf", "stat", "record", "-o", path, *words).code:
                continue
            theirs, ours = run("perf", "script", "-i", path), perfev("script", "-i", path)
            expect_code(ours, 0)
            expect(ours.out == theirs.out and ours.out.startswith("CPU   THREAD "), f"{words}: {ours.out[:300]} {theirs.out[:300]}")
            expect(not ours.err, ours.err)
            tables += 1
        expect(tables >= 3, f"{tables} tables")
        if run("perf", "stat", "record", "-a", "-o", path, "-e", "cpu-clock", "--", "sleep", "0.1").code == 0:
            # an event that is of one CPU only, as those of a socket are: its unit (type 0) becomes a list of CPUs (type 3)
            data = path.read_bytes()
            at = data.find(b"msec\0")
            update = at - 24
            expect(data[update:update + 4] == b"\x4e\0\0\0", "no EVENT_UPDATE with a unit")
            data = data[:update + 8] + b"\3" + data[update + 9:at] + b"\0\0\1\0\0\0\0\0" + data[at + 8:]
            # and all counts become that CPU's
            path.write_bytes(re.sub(rb"(\x4c\0\0\0\0\0\x30\0.{8}).{4}", rb"\1\0\0\0\0", data, flags=re.S))
            theirs, ours = run("perf", "script", "-i", path), perfev("script", "-i", path)
            expect(ours.out == theirs.out and ours.out.count("cpu-clock") == 1, f"{ours.out} {theirs.out}")
        done = run("sh", "-c", f"perf stat record -o - -e task-clock -- {BURN} 0.05 2>/dev/null | {PERFEV} script -i -")
        expect_code(done, 0)
        expect(re.search(r"^ -1 +\d+ +[1-9]\d+ .* task-clock", done.out, re.M), done.out)


def test_branches_of_recordings_of_others():
    """Each way to print branches, of kernel code, of files and of code that was made at run time; also where there are none."""
    need_command("perf")
    folder, truth = truths()
    branches = 0
    with Folder() as home:
        home.path.chmod(0o755)
        for name, facts in truth.items():
            if facts.get("perf_exit") is None or facts["perf_exit"]["S"] or "branch" not in name:
                continue
            for fields in ("ip,brstack", "ip,brstacksym", "ip,brstackoff", "comm,ip,dso,brstackoff"):
                words = ["script", "-i", folder / name, "--symfs", home.path, "-F", fields]
                theirs = as_nobody("perf", *words, env=dict(ENV, HOME=str(home.path)), cwd="/")
                expect_code(theirs, 0)
                ours = perfev(*words)
                expect(ours.raw == theirs.raw, f"{name} -F {fields}: {ours.err} {ours.out[:200]} {theirs.out[:200]}")
                branches += theirs.out.count("/P/-/-/")
        done = perfev("script", "-i", folder / "quipper/perf.data.singleprocess-3.4", "--symfs", home.path, "-F", "ip,brstackoff")
        expect_code(done, 0)
    expect(branches > 1000, f"{branches} branches")


def test_swapped_twins():
    folder, truth = truths()
    with Folder() as empty:
        for name, facts in truth.items():
            if facts.get("twin_of"):
                texts = [perfev("script", "-i", folder / path, "--symfs", empty.path).raw
                         for path in (name, facts["twin_of"])]
                expect(texts[0] == texts[1] and texts[0], name)


def test_json():
    with Folder() as folder:
        path = folder / "a.data"
        expect_code(perfev("record", "-e", "cpu-clock,page-faults", "-o", path, "--", BURN, "0.1"), 0)
        done = perfev("script", "--json", "-i", path)
        samples = [json.loads(line) for line in done.out.splitlines()]
        expect(len(samples) == stats(path)["SAMPLE"], f"{len(samples)}")
        expect({s["event"] for s in samples} == {"cpu-clock", "page-faults"}, "events")
        text = perfev("script", "-i", path, "-F", "ip,sym").out.split("\n\n")
        for sample, block in zip(samples, text):
            names = re.findall(r"[0-9a-f]+ (.*)", block)
            expect([c["symbol"] or "[unknown]" for c in sample["callchain"]][:127] == names, f"{sample}: {block}")
        times = [s["time_ns"] for s in samples]
        expect(times == sorted(times), "not in the order of time")


def test_filters():
    with Folder() as folder:
        path = folder / "a.data"
        expect_code(perfev("record", "-e", "cpu-clock", "-F", "5000", "-o", path, "--", BURN, "0.2"), 0)
        samples = [json.loads(line) for line in perfev("script", "--json", "-i", path).out.splitlines()]
        middle = samples[len(samples) // 2]["time_ns"]
        limit = f"{middle // 10**9}.{middle % 10**9:09}"
        before = perfev("script", "--json", "-i", path, "--time", f",{limit}").out.splitlines()
        behind = perfev("script", "--json", "-i", path, "--time", f"{limit},").out.splitlines()
        expect(len(before) == sum(s["time_ns"] <= middle for s in samples), f"{len(before)} before {limit}")
        expect(len(behind) == sum(s["time_ns"] >= middle for s in samples), f"{len(behind)} behind {limit}")
        report = perfev("report", "--json", "-i", path, "--time", f",{limit}").json()
        expect(report["events"][0]["samples"] == len(before), "report --time")
        cpu = samples[0].get("cpu")
        if cpu is not None:
            on = perfev("script", "--json", "-i", path, "--cpu", str(cpu)).out.splitlines()
            expect(len(on) == sum(s["cpu"] == cpu for s in samples), f"--cpu {cpu}")
        for words in (["--pid", str(samples[0]["pid"])], ["--comm", "burn"], ["--event", "cpu-clock"]):
            expect(perfev("script", "--json", "-i", path, *words).out.strip(), f"{words}")
        none = perfev("script", "-i", path, "--pid", "1")
        expect_code(none, 0)
        expect_in("no sample", none.err)


def test_refusals():
    for words, text in ((["-F", "comm,timer"], "did you mean 'time'"), (["-F", "+comm,time"], "either all fields"),
                        (["-F", "hardware:comm"], "no kind of event"), (["-F", ""], "takes fields"),
                        (["-F", "sw:trace"], "no field 'trace'"), (["--time", "12"], "two times"),
                        (["--time", "3,2"], "ends before"), (["--cpu", "x"], "--cpu"), (["--json", "-F", "ip"], "leave out"),
                        (["a.data"], "takes no argument")):
        done = perfev("script", *words)
        expect_code(done, 2)
        expect_in(text, done.err)
    with Folder() as folder:
        path = folder / "a.data"
        expect_code(perfev("record", "-e", "cpu-clock", "-o", path, "--", BURN, "0.05"), 0)
        done = perfev("script", "-i", path, "-F", "ip,phys_addr")
        expect_code(done, 1)
        expect_in("cannot print phys_addr of cpu-clock", done.err)
        expect(not done.out, "it printed")
        for fields, part in (("comm,symoff", "behind sym, which"), ("comm,srcline", "behind ip, which"), ("-sym,+symoff", "behind sym")):
            done = perfev("script", "-i", path, "-F", fields)
            expect_code(done, 1)
            expect_in(part, done.err)
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2])
        done = perfev("script", "-i", path)
        expect_code(done, 1)
        expect(done.err.count("\n") == 1 and done.err.startswith("perfev: cannot read"), done.err)


def test_closed_pipe():
    with Folder() as folder:
        path = folder / "a.data"
        expect_code(perfev("record", "-e", "cpu-clock", "-F", "10000", "-o", path, "--", BURN, "0.3"), 0)
        done = run("sh", "-c", f"'{PERFEV}' script -i '{path}' | head -1; true")
        expect(done.err == "", done.err)
        full = run("sh", "-c", f"'{PERFEV}' script -i '{path}' >/dev/full")
        expect_code(full, 1)
        expect_in("cannot write the result", full.err)
        for form in ([], ["--json"]):
            full = perfev("script", "-i", path, "-o", "/dev/full", *form)
            expect_code(full, 1)
            expect_in("cannot write /dev/full: No space left on device", full.err)
