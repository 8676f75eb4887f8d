# SPDX-License-Identifier: MIT
"""perfev list and perfev doctor: what the machine is, as people and as programs read it."""
import os
import pathlib
import subprocess

import cli
from cli import (BUILD, ENV, PERFEV, Skip, as_nobody, expect, expect_code, expect_in, need_root, perfev)

EVENTS = pathlib.Path("/sys/kernel/tracing/events")


def listed():
    done = perfev("list", "--json")
    expect_code(done, 0)
    return done.json()


def test_list_is_the_same_both_ways():
    text = perfev("list")
    expect_code(text, 0)
    names = [line[2:].split("  ")[0].strip() for line in text.out.splitlines() if line.startswith("  ")]
    events = listed()["events"]
    expect([event["event"] for event in events] == names, "the table has other names than the JSON")
    expect(len(set(names)) == len(names), "a name stands there twice")
    for name in ("page-faults", "task-clock", "duration_time"):
        expect(name in names, f"{name} is missing")


def test_all_tracepoints_are_listed():
    if not EVENTS.is_dir() or not os.access(EVENTS, os.R_OK):
        raise Skip("this user may not read tracefs, or it is not mounted")
    there = {f"{path.parent.parent.name}:{path.parent.name}" for path in EVENTS.glob("*/*/id")}
    found = {event["event"] for event in listed()["events"] if event["kind"] == "tracepoint"}
    expect(found == there, f"{len(found)} of {len(there)}: {sorted(found ^ there)[:5]}")


def test_what_is_listed_is_taken():
    """As -e takes it: every event is parsed, and a few are opened."""
    for event in listed()["events"]:
        if event["kind"] == "tracepoint":
            continue
        done = perfev("stat", "-a", "-e", event["event"], "--json", "--", "true")
        expect(done.code == 0, f"{event['event']}: {done.err}")
        row = done.json()["events"][0]
        expect(row["status"] in ("counted", "not-counted"), f"{event['event']}: {row['why']}")
        expect(row["unit"] == event["unit"] or not event["unit"], f"{row} {event}")


def test_list_of_a_glob():
    done = perfev("list", "page-f*")
    expect_code(done, 0)
    expect(done.out.split() == ["software:", "page-faults", "or", "faults"], done.out)
    done = perfev("list", "cs", "--json")
    expect([event["event"] for event in done.json()["events"]] == ["context-switches"], done.out)
    done = perfev("list", "no-such-*")
    expect_code(done, 1)
    if "tracepoints" not in done.err:  # which cannot be seen here
        expect_in("no event here matches 'no-such-*'", done.err)
    done = perfev("list", "a", "b")
    expect_code(done, 2)
    expect_in("'b'", done.err)


def test_list_without_rights():
    need_root()
    done = as_nobody(PERFEV, "list")
    expect(done.code == 0, done.err)
    expect_in("page-faults", done.out)
    if not as_nobody_can_read():
        expect_in("cannot look up tracepoints: ", done.err)


def as_nobody_can_read():
    return subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "ls", str(EVENTS)],
                          capture_output=True).returncode == 0


def test_doctor():
    done = perfev("doctor")
    expect_code(done, 0)
    facts = perfev("doctor", "--json").json()
    for item in facts["abilities"]:
        expect_in(f"  {'yes' if item['able'] else 'no '}  {item['title']}", done.out)
        expect(item["able"] == (item["why"] is None), f"{item}")
        if item["why"]:
            cause = item["why"].split(": ", 1)[1]
            expect(done.out.count(cause) == 1, f"{cause} stands there more than once, or not")
    for pmu in facts["pmus"]:
        expect_in(pmu["name"], done.out)
    expect(facts["system"]["uid"] == os.geteuid(), "another user")
    for item in facts["kernel"]:
        expect((item["known"] is not False) == (f"{item['title']} (Linux {item['since']})" not in done.out),
               f"{item}")


def test_doctor_as_nobody():
    need_root()
    done = as_nobody(PERFEV, "doctor")
    expect_code(done, 0)
    expect_in("uid 65534, capabilities that matter: none", done.out)
    if cli.paranoid() >= 1:
        expect_in("  no   count everything on a CPU", done.out)
        expect_in("perf_event_paranoid", done.out)
    expect_in("  no   put probes into programs", done.out)


def test_doctor_under_seccomp():
    program = BUILD / "tests" / "under-seccomp"
    for number in ("1", "38"):  # EPERM, ENOSYS
        done = subprocess.run([program, number, PERFEV, "doctor"], capture_output=True, text=True, env=ENV)
        expect(done.returncode == 0, done.stderr)
        expect_in("seccomp", done.stdout)
        expect_in("  no   use perf events", done.stdout)
        expect(done.stdout.count("a seccomp filter refuses") == 1, done.stdout)
        for line in ("use tracepoints", "put probes into programs"):
            expect_in(f"  no   {line}", done.stdout)
        expect_in("what it knows cannot be told", done.stdout)
