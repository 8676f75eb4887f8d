# SPDX-License-Identifier: MIT
"""perfev stat: counts, the JSON of the contract, runs, exit codes, targets."""
import re
import signal
import subprocess
import time

from cli import BURN, ENV, PERFEV, Folder, expect, expect_code, expect_in, perfev

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
    expect(one["events"][0]["count"] > 0.8e9, f"{one}")
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
