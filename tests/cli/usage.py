# SPDX-License-Identifier: MIT
"""Help, versions, wrong command lines, exit codes that have nothing to do with measuring."""
import subprocess

from cli import BURN, ENV, PERFEV, expect, expect_code, expect_in, expect_same, perfev

COMMANDS = ("stat", "record", "report", "script", "dump", "fix", "list", "doctor")
LATER = ("annotate", "top", "diff", "merge")


def test_help_and_version():
    done = perfev("--version")
    expect_code(done, 0)
    expect(done.out == "perfev 0.1.0\n", done.out)
    for words in (["help"], ["--help"], ["-h"]):
        done = perfev(*words)
        expect_code(done, 0)
        for command in COMMANDS:
            expect_in(command, done.out)
        expect_same([line for line in done.out.splitlines() if len(line) > 100], [])


def test_help_of_each_command():
    for command in COMMANDS:
        for words in ([command, "--help"], [command, "-h"], ["help", command]):
            done = perfev(*words)
            expect_code(done, 0)
            expect_in(f"Usage: perfev {command}", done.out)
            expect_same([line for line in done.out.splitlines() if len(line) > 100], [])
            expect(done.err == "", done.err)


def test_nothing_said():
    done = perfev()
    expect_code(done, 2)
    expect_in("Usage: perfev", done.err)
    expect(done.out == "", done.out)


def test_unknown_command():
    done = perfev("recrod")
    expect_code(done, 2)
    expect_in("'recrod'", done.err)
    expect_in("perfev record", done.err)
    expect_in("'perfev --version'", perfev("version").err)


def test_unknown_options():
    done = perfev("report", "--foldde")
    expect_code(done, 2)
    expect_in("--foldde", done.err)
    expect_in("--folded", done.err)
    expect_code(perfev("stat", "-Q", "--", "true"), 2)
    expect_code(perfev("record", "-F"), 2)
    expect_code(perfev("record", "-F", "abc", "--", "true"), 2)
    expect_code(perfev("report", "--json=yes"), 2)


def test_numbers_out_of_range():
    for words in (["record", "-F", "0"], ["record", "-c", "0"], ["record", "-m", "0"], ["stat", "-I", "0"],
                  ["stat", "-r", "0"], ["record", "-m", str(2**52)], ["record", "-m", str(2**63)],
                  ["stat", "-C", "3-1"], ["stat", "-C", "0-99999999999"]):
        expect_code(perfev(*words, "--", "true"), 2)
    for words in (["--pid", "x"], ["--pid", "1,"], ["--tid", ""], ["--limit", "0"], ["--cpu", ""], ["--html", "x", "-o", "y"]):
        expect_code(perfev("report", *words), 2)
    for command in ("report", "script"):
        for option in ("--symfs", "--kallsyms", "--vmlinux"):
            done = perfev(command, option, "/nonexistent")
            expect_code(done, 1)
            expect_in(f"cannot use {option} /nonexistent", done.err)


def test_not_built_yet():
    for command in LATER:
        done = perfev(command)
        expect_code(done, 2)
        expect_in("not built yet", done.err)
    for words in (["record", "--off-cpu", "--", "true"],
                  ["report", "--pprof", "x"]):
        done = perfev(*words)
        expect_code(done, 2)
        expect_in("not built yet", done.err)


def test_no_target():
    for command in ("stat", "record"):
        done = perfev(command)
        expect_code(done, 2)
        expect_in("-p PID", done.err)


def test_targets_that_exclude_each_other():
    expect_code(perfev("stat", "-a", "-p", "1"), 2)
    expect_code(perfev("stat", "-p", "1", "-t", "1"), 2)
    expect_code(perfev("stat", "-p", "x"), 2)
    expect_code(perfev("stat", "-C", "0-", "-a"), 2)
    expect_code(perfev("record", "-F", "9", "-c", "9", "--", "true"), 2)
    expect_code(perfev("record", "-m", "3", "--", "true"), 2)
    expect_code(perfev("record", "-g", "--call-graph", "no", "--", "true"), 2)
    expect_code(perfev("report", "--json", "--folded"), 2)
    expect_code(perfev("record", "--html", "-", "--", "true"), 2)


def test_closed_pipe_ends_quietly():
    for words in (f"{PERFEV} help", f"{PERFEV} doctor", f"{PERFEV} stat --json -- {BURN} exit 0"):
        done = subprocess.run(["bash", "-c", f"{words} 2>/dev/null | true; echo ${{PIPESTATUS[0]}}"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV, timeout=60)
        expect(done.stdout == b"0\n", f"{words}: {done.stdout} {done.stderr}")


def test_full_device_is_an_error():
    done = subprocess.run(["bash", "-c", f"{PERFEV} help >/dev/full"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=ENV, timeout=60)
    expect(done.returncode == 1, f"{done.returncode}")
    expect(b"cannot write" in done.stderr, done.stderr)
