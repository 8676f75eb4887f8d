# SPDX-License-Identifier: MIT
"""perfev record: targets, rates, what the file holds, and that it is whole whatever ends the recorder."""
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time

import cli
from cli import BURN, ENV, PERFEV, Folder, Skip, expect, expect_code, expect_in, perfev, run, stats


def record(folder, *words, name="a.data", **more):
    done = perfev("record", "-o", folder / name, *words, **more)
    expect_code(done, 0)
    return folder / name, done


def test_a_command():
    with Folder() as folder:
        path, done = record(folder, "-e", "cpu-clock", "-F", "1000", "--", BURN, "0.5")
        counts = stats(path)
        expect(300 < counts["SAMPLE"] < 700, f"{counts}")
        for name in ("MMAP2", "COMM", "ID_INDEX", "FINISHED_ROUND"):
            expect(counts.get(name, 0) > 0, f"no {name}: {counts}")
        expect(counts["TOTAL"] == sum(counts.values()) - counts["TOTAL"], f"{counts}")
        expect_in("0 lost", done.err)
        expect_in(str(path), done.err)


def test_an_old_file_is_kept():
    with Folder() as folder:
        path, _ = record(folder, "-e", "cpu-clock", "--", "true")
        before = path.read_bytes()
        record(folder, "-e", "cpu-clock", "--", "true")
        expect((folder / "a.data.old").read_bytes() == before, "the old file")
        expect(path.stat().st_mode & 0o777 == 0o600, oct(path.stat().st_mode))


def test_threads_and_children_are_sampled():
    with Folder() as folder:
        for words in (["threads", "4", "0.3"], ["fork", "0.3"]):
            path, _ = record(folder, "-e", "cpu-clock", "-F", "1000", "--", BURN, *words)
            report = perfev("report", "-i", path, "--json").json()
            expect(report["events"][0]["samples"] > 350, f"{words}: {report['events']}")
            burnt = sum(f["self"] for f in report["functions"] if f["symbol"].startswith("burn_"))
            expect(burnt > 0.75 * report["events"][0]["samples"], f"{words}: {burnt}")


def test_period():
    with Folder() as folder:
        path, _ = record(folder, "-e", "cpu-clock", "-c", "1000000", "--", BURN, "0.4")
        expect(250 < stats(path)["SAMPLE"] < 500, f"{stats(path)}")
        path, _ = record(folder, "-e", "page-faults", "-c", "1", "--", BURN, "0.01")
        counted = perfev("stat", "--json", "-e", "page-faults", "--", BURN, "0.01").json()
        expect(abs(stats(path)["SAMPLE"] - counted["events"][0]["count"]) <= 5, f"{stats(path)}")


def test_several_events_share_rings():
    with Folder() as folder:
        path, _ = record(folder, "-e", "cpu-clock,page-faults", "-e", "context-switches", "-F", "500",
                         "--", BURN, "0.4")
        report = perfev("report", "-i", path, "--json").json()
        expect([e["event"] for e in report["events"]] == ["cpu-clock", "page-faults", "context-switches"],
               f"{report['events']}")
        expect(report["events"][0]["samples"] > 100 and report["events"][1]["samples"] > 0, f"{report['events']}")
        expect(sum(e["samples"] for e in report["events"]) == stats(path)["SAMPLE"], "sums")


def test_a_process_with_threads():
    target = subprocess.Popen([BURN, "threads", "3", "20"])
    try:
        time.sleep(0.2)
        with Folder() as folder:
            path, _ = record(folder, "-e", "cpu-clock", "-F", "500", "-p", target.pid, "--", "sleep", "0.5")
            report = perfev("report", "-i", path, "--json").json()
            expect(report["events"][0]["samples"] > 50, f"{report['events']}")
            expect(report["functions"][0]["symbol"].startswith("burn_"), f"{report['functions'][0]}")
    finally:
        target.kill()
        target.wait()


def test_threads_that_start_later():
    """The process is attached while it is alone; its threads come afterwards."""
    code = ("import threading,time\n"
            "def work():\n"
            "  end=time.thread_time()+0.25\n"
            "  while time.thread_time()<end: sum(range(1000))\n"
            "time.sleep(0.5)\n"
            "t=[threading.Thread(target=work) for _ in range(2)]\n"
            "[x.start() for x in t]; [x.join() for x in t]\n")
    target = subprocess.Popen([cli.sys.executable, "-c", code])
    with Folder() as folder:
        path, _ = record(folder, "-e", "cpu-clock", "-F", "1000", "-p", target.pid)
        target.wait()
        expect(stats(path)["SAMPLE"] > 250, f"{stats(path)}")


# maps a page of code again and again; on one CPU, because the events of others end a little before or after
MAPPER = """import ctypes, os, sys, time
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
c = ctypes.CDLL(None)
c.mmap.restype = ctypes.c_void_p
c.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
code = open(sys.executable, "rb")
end = time.monotonic() + 20
for _ in range(40000):
    if time.monotonic() > end:
        break
    c.mmap(None, 4096, 5, 2, code.fileno(), 0)
    until = time.perf_counter() + 20e-6
    while time.perf_counter() < until:
        pass
time.sleep(60)
"""


def test_no_mapping_is_missed():
    """A process that maps all the time: what is there at the end was there before, or has its record."""
    target = subprocess.Popen([sys.executable, "-c", MAPPER])
    try:
        time.sleep(0.2)
        with Folder() as folder:
            path, done = record(folder, "-e", "task-clock:u", "-F", "100", "-m", "1024", "-p", target.pid, "--",
                                "sleep", "0.2")
            target.send_signal(signal.SIGSTOP)
            lines = pathlib.Path(f"/proc/{target.pid}/maps").read_text().splitlines()
            there = {int(line.split("-")[0], 16) for line in lines if " r-xp " in line}
            records = perfev("dump", "--json", "-i", path).json()["records"]
            expect_in(" 0 lost", done.err)
    finally:
        target.kill()
        target.wait()
    maps = [r["record"] for r in records if r["name"] == "MMAP2"]
    told = {int(r["addr"], 16) for r in maps}
    before = sum(r["sample_id"]["time"] == 0 for r in maps)
    if not 100 < before < len(maps) - 100:
        raise Skip("this machine is too slow: the process did not map meanwhile")
    # the kernel maps downwards: below the last that was told is what came after the recording
    last = int(max(maps, key=lambda r: int(r["sample_id"]["time"]))["addr"], 16)
    missed = [at for at in there - told if at > last]
    expect(not missed, f"{len(missed)} of {len(there)} mappings are missed")
    names = [r["name"] for r in records]
    expect(names.count("FINISHED_INIT") == 1, "FINISHED_INIT")


def test_all_cpus():
    with Folder() as folder:
        done = perfev("record", "-o", folder / "a.data", "-a", "-e", "cpu-clock", "-F", "500", "--", BURN, "0.4")
        if done.code == 1 and "perf_event_paranoid" in done.err:
            raise Skip("this user may not sample all CPUs")
        expect_code(done, 0)
        report = perfev("report", "-i", folder / "a.data", "--json").json()
        expect(any(f["symbol"] == "burn_50" for f in report["functions"]), "burn_50 is not there")


def test_interrupt_keeps_the_file_whole():
    with Folder() as folder:
        path = folder / "a.data"
        run = subprocess.Popen([PERFEV, "record", "-e", "cpu-clock", "-o", str(path), "--", BURN, "30"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV,
                               start_new_session=True,
                               # a job in the background of a script ignores it, and so would what it starts
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        time.sleep(0.7)
        cli.os.killpg(run.pid, signal.SIGINT)  # as a terminal does: to the command too
        _, err = run.communicate(timeout=30)
        expect(run.returncode == 128 + signal.SIGINT, f"{run.returncode} {err}")
        header = path.read_bytes()[:104]
        expect(struct.unpack_from("<Q", header, 48)[0] > 0, "the header was not completed")
        expect(stats(path)["SAMPLE"] > 100, f"{stats(path)}")


def test_a_killed_recorder_leaves_a_readable_file():
    with Folder() as folder:
        path = folder / "a.data"
        run = subprocess.Popen([PERFEV, "record", "-e", "cpu-clock", "-F", "20000", "-m", "8", "-o", str(path),
                                "--", BURN, "3"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENV)
        time.sleep(1.2)
        run.kill()
        run.wait()
        done = perfev("report", "-i", path, "--json")
        expect_code(done, 0)
        expect_in("was not finished", done.err)
        expect(done.json()["events"][0]["samples"] > 1000, done.out[:200])


def test_lost_records_are_counted_and_shown():
    """A ring of one page that nobody empties for a while, and a sample for each page fault."""
    with Folder() as folder:
        path = folder / "perf.data"
        recorder = subprocess.Popen([cli.PERFEV, "record", "-e", "page-faults:u", "-c", "1", "-m", "1", "-o", path,
                                     "--", BURN, "touch", "100000"], stderr=subprocess.PIPE)
        time.sleep(0.02)
        while recorder.poll() is None:
            recorder.send_signal(signal.SIGSTOP)
            time.sleep(0.02)
            recorder.send_signal(signal.SIGCONT)
            time.sleep(0.005)
        said = recorder.stderr.read().decode()
        expect(recorder.returncode == 0, said)
        report = perfev("report", "-i", path, "--json").json()
        counts = stats(path)
        expect(report["lost"] > 0, f"nothing was lost: {counts}")
        expect("LOST_SAMPLES" in counts, f"{counts}")
        expect_in("were lost because the rings were full", said)
        exact = perfev("stat", "--json", "-e", "page-faults:u", "--", BURN, "touch", "100000").json()
        faults = exact["events"][0]["count"]
        others = counts["TOTAL"] - counts["SAMPLE"]  # lost records may be of any kind
        total = counts["SAMPLE"] + report["lost"]
        expect(faults - 20 <= total <= faults + 20 + others, f"{counts} + {report['lost']}, {faults} faults")


def may_be_first():
    return run(sys.executable, "-c", "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))").code == 0


def test_a_recorder_that_was_too_late_comes_first():
    """When a ring has overflowed, it asks for real-time priority; its command never has it."""
    if not may_be_first():
        raise Skip("this user may not have real-time priority")
    policies = set()
    with Folder() as folder:
        recorder = subprocess.Popen([cli.PERFEV, "record", "-e", "page-faults:u", "-c", "1", "-m", "1", "-o",
                                     folder / "perf.data", "--", BURN, "touch", "100000"], stderr=subprocess.DEVNULL)
        time.sleep(0.02)
        while recorder.poll() is None:
            recorder.send_signal(signal.SIGSTOP)
            time.sleep(0.02)
            recorder.send_signal(signal.SIGCONT)
            time.sleep(0.005)
            try:
                children = pathlib.Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split()
                policies |= {("command", os.sched_getscheduler(int(child))) for child in children}
                policies.add(("recorder", os.sched_getscheduler(recorder.pid)))
            except (ProcessLookupError, FileNotFoundError):
                pass
        expect(recorder.returncode == 0, f"{recorder.returncode}")
    forked = getattr(os, "SCHED_RESET_ON_FORK", 0x40000000)
    expect(("recorder", os.SCHED_FIFO | forked) in policies, f"{policies}")
    expect(all(policy == os.SCHED_OTHER for who, policy in policies if who == "command"), f"{policies}")


def test_stdout():
    with Folder() as folder:
        (folder / "-").write_text("a file of that name is none of ours")
        done = perfev("record", "-e", "cpu-clock", "-o", "-", "--", BURN, "exit", "0", cwd=folder.path)
        expect((folder / "-").is_file() and not (folder / "-.old").exists(), "the file was moved")
        expect_code(done, 0)
        expect(done.raw[:8] == b"PERFILE2", done.raw[:16])
        expect_in("to stdout", done.err)
        (folder / "s.data").write_bytes(done.raw)
        with open(folder / "s.data", "rb") as stream:
            piped = perfev("dump", "--stats", "-i", "-", stdin=stream)
        expect_code(piped, 0)
        expect(piped.out == perfev("dump", "--stats", "-i", folder / "s.data").out, piped.out)
        expect_in("HEADER_ATTR 1", piped.out)


def test_record_into_report():
    done = subprocess.run(["bash", "-c", f"{PERFEV} record -e cpu-clock -o - -- {BURN} 0.4 | "
                                         f"{PERFEV} report -i - --json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV, timeout=60)
    report = cli.json.loads(done.stdout)
    expect(report["events"][0]["samples"] > 100, f"{report['events']}")
    expect(report["functions"][0]["symbol"].startswith("burn_"), f"{report['functions'][0]}")


def test_names_of_events_in_a_stream():
    """They come with the first records, and are those of a file."""
    for tool in (f"{PERFEV} record", "perf record -q"):
        done = subprocess.run(["bash", "-c", f"{tool} -e cpu-clock/name=mine/,page-faults -o - -- {BURN} 0.2 2>/dev/null | "
                                             f"{PERFEV} report -i - --json"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV, timeout=60)
        if not done.stdout and tool.startswith("perf "):
            raise Skip("perf is not there")
        names = [event["event"] for event in cli.json.loads(done.stdout)["events"]]
        expect(names == ["mine", "page-faults"], f"{tool}: {names}")


def test_page_beside_the_recording():
    with Folder() as folder:
        _, done = record(folder, "-e", "cpu-clock", "--html", folder / "a.html", "--", BURN, "0.2")
        page = (folder / "a.html").read_text()
        expect_in('<script type="application/octet-stream" id="profile">', page)
        expect_in("a.html", done.err)


def test_no_sample_is_no_failure():
    with Folder() as folder:
        path, done = record(folder, "-e", "cpu-clock", "-c", "1000000000", "--", "true")
        expect_in("no sample", done.err)
        report = perfev("report", "-i", path, "--json").json()
        expect(report["events"] == [{"event": "cpu-clock", "samples": 0, "weight": 0}], f"{report}")


def test_no_call_graph():
    with Folder() as folder:
        path, _ = record(folder, "-e", "cpu-clock", "--call-graph", "no", "--", BURN, "0.2")
        folded = perfev("report", "-i", path, "--folded", "--no-inline").out
        expect(all(line.count(";") == 1 for line in folded.splitlines()), folded)


def test_the_first_samples_only():
    with Folder() as folder:
        path = folder / "a.data"
        done = perfev("record", "-e", "cpu-clock/nr=7/,page-faults/nr=3,period=1/,minor-faults/period=1/", "-o", path, "--",
                      BURN, "0.3")
        expect_code(done, 0)
        events = {e["event"].split("/")[0]: e["samples"] for e in perfev("report", "-i", path, "--json").json()["events"]}
        expect(events["cpu-clock"] == 7 and events["page-faults"] == 3 and events["minor-faults"] > 20, f"{events}")
