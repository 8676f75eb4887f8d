# SPDX-License-Identifier: MIT
"""Agreement with the perf tool, on files of both."""
import re

import cli
from cli import BURN, Folder, Skip, expect, expect_code, need_command, our_rows, perf_rows, perfev, run

WORKLOADS = {
    "burn": [BURN, "0.6"],
    "compile": ["cc", "-O2", "-x", "c", "-c", "-o", "/dev/null",
                str(cli.pathlib.Path(__file__).parent / "burn.c")],
    "system": ["sh", "-c", "find /usr/include -type f | xargs cat | sort | tail -1 >/dev/null"],
}


def same_top_ten(path):
    theirs, events = perf_rows(path)
    report = perfev("report", "-i", path, "--json", "--no-inline").json()
    expect(theirs, "perf shows nothing")
    expect({e["event"]: e["samples"] for e in report["events"]} == events,
           f"events: {report['events']}, perf: {events}")
    for event in events:
        same_rows([row[1:] for row in theirs if row[0] == event], our_rows(path, event))


def by_name(rows):
    """Rows of one name added up: perf sometimes splits a function over two rows, as its order of
    places with and without a name is no total order."""
    sums = {}
    for samples, name in rows:
        sums[name] = sums.get(name, 0) + samples
    return sums


def same_rows(theirs, ours):
    theirs, ours = by_name(theirs), by_name(ours)
    most = sorted(theirs.values(), reverse=True)[:10]
    for name, samples in theirs.items():
        if samples >= most[-1]:
            expect(ours.get(name, 0) == samples, f"{name}: {ours.get(name, 0)} samples, perf: {samples}")
    extra = [name for name, samples in ours.items() if samples > most[-1] and name not in theirs]
    expect(not extra, f"perf does not have {extra}")


def agree(record):
    need_command("perf")
    with Folder() as folder:
        for name, command in WORKLOADS.items():
            path = folder / f"{name}.data"
            record(path, command)
            same_top_ten(path)


def test_perf_reads_what_perfev_records():
    agree(lambda path, command: expect_code(
        perfev("record", "-e", "cpu-clock", "-F", "3000", "-o", path, "--", *command), 0))


def test_perf_reads_two_events():
    agree(lambda path, command: expect_code(
        perfev("record", "-e", "cpu-clock,page-faults", "-F", "3000", "-o", path, "--", *command), 0))


def test_perfev_reads_what_perf_records():
    agree(lambda path, command: expect_code(
        run("perf", "record", "-e", "cpu-clock", "-F", "999", "-g", "-o", path, "--", *command), 0))


def test_perf_shows_the_header():
    need_command("perf")
    with Folder() as folder:
        path = folder / "a.data"
        expect_code(perfev("record", "-e", "cpu-clock", "-o", path, "--", BURN, "0.2"), 0)
        header = run("perf", "report", "--header-only", "-i", path, "-f").out
        for line in ("hostname : ", "os release : ", "perf version : ", "arch : ", "nrcpus online : ",
                     "nrcpus avail : ", "cpudesc : ", "total memory : ", "cmdline : ", "event : name = cpu-clock",
                     "time of first sample : ", "clockid"):
            expect(line in header, f"{line!r} is not in\n{header}")
        ids = run("perf", "buildid-list", "-i", path, "-f").out
        expect(re.search(r"^[0-9a-f]{40} .*/burn$", ids, re.M), ids)


def test_perf_stat_agrees_on_exact_events():
    """What starting a program costs depends on what is in the page cache; what it touches does not."""
    need_command("perf")
    ours, theirs = [], []
    for pages in (1000, 4000):
        words = ["-e", "minor-faults:u", "--", BURN, "touch", str(pages)]
        ours.append(perfev("stat", "--json", *words).json()["events"][0]["count"])
        theirs.append(int(run("perf", "stat", "-x", ",", *words).err.split(",")[0]))
    for counts in (ours, theirs):
        expect(abs(counts[1] - counts[0] - 3000) <= 10, f"{counts}")
    expect(abs(ours[1] - theirs[1]) <= 20, f"{ours}, perf: {theirs}")


def test_dump_counts_are_perfs():
    need_command("perf")
    with Folder() as folder:
        path = folder / "a.data"
        expect_code(perfev("record", "-e", "cpu-clock", "-F", "2000", "-o", path, "--", BURN, "0.3"), 0)
        done = run("perf", "report", "-D", "-i", path, "-f")
        theirs = dict(re.findall(r"^\s+(\w+) events:\s+(\d+)", done.out.split("Aggregated stats:")[1].split("stats:")[0], re.M))
        ours = cli.stats(path)
        if not theirs:
            raise Skip("this perf prints no aggregated counts")
        for name in ("SAMPLE", "MMAP2", "COMM", "FORK", "EXIT", "FINISHED_ROUND", "ID_INDEX", "TOTAL"):
            if name in theirs or name in ours:
                expect(int(theirs.get(name, 0)) == ours.get(name, 0), f"{name}: {ours.get(name)}, perf: {theirs.get(name)}")


def test_perf_reads_tracepoints():
    """Fields of tracepoints, from a file and from a stream: what perf prints is what happened."""
    need_command("perf")
    cli.need_root()
    if not cli.pathlib.Path("/sys/kernel/tracing/events/syscalls").is_dir():
        raise Skip("tracefs is not mounted, or has no system calls")
    shell = ["--", "sh", "-c", "echo abc; echo abcdefgh"]
    with Folder() as folder:
        done = perfev("record", "-e", "syscalls:sys_enter_write", "--filter", "count > 2", "-o", folder / "a.data", *shell)
        expect_code(done, 0)
        text = run("perf", "script", "-i", folder / "a.data").out
        expect([int(size, 16) for size in re.findall(r"count: (0x\w+)", text)] == [4, 9], text)
        done = perfev("record", "--call-graph", "no", "-e", "sched:sched_process_exec,syscalls:sys_enter_write", "-o", "-",
                      *shell, stdout=(folder / "b.data").open("wb"))
        text = run("perf", "script", "-i", "-", stdin=(folder / "b.data").open("rb")).out
        expect("sched_process_exec: filename=" in text and "count: 0x00000009" in text, text)
