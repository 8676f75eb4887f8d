# SPDX-License-Identifier: MIT
"""The command under valgrind: no wrong access, nothing lost, no descriptor left open at its end."""
import re

import cli
from cli import BURN, PERFEV, Folder, expect


def watched(*words, ending=0):
    """Runs the command under valgrind, and says what that found."""
    cli.need_command("valgrind")
    if b"__asan_init" in cli.pathlib.Path(PERFEV).read_bytes():
        raise cli.Skip("valgrind and a sanitizer do not go together")
    done = cli.run("valgrind", "--error-exitcode=99", "--leak-check=full", "--track-fds=yes",
                   "--child-silent-after-fork=yes", PERFEV, *words, timeout=200)
    expect(done.code == ending, f"perfev {words[0]} ended with {done.code} under valgrind:\n{done.err}")
    opened = re.split(r"Open (?:file descriptor|AF_\w+ socket) ", done.err)[1:]
    left = [where for where in opened if "<inherited from parent>" not in where]
    expect(not left, f"perfev {words[0]} leaves open:\n" + "".join(left))


def test_counting():
    watched("stat", "-r", "2", "-e", "page-faults,{task-clock,context-switches}", "--", "true")
    watched("stat", "--json", "-a", "--", "sleep", "0.1") if cli.os.geteuid() == 0 else None


def test_recording_and_reading():
    with Folder() as folder:
        path = folder / "perf.data"
        watched("record", "-e", "cpu-clock", "-o", path, "--html", folder / "r.html", "--", BURN, "0.5")
        for options in ([], ["--json"], ["-g"], ["--folded"], ["--html", folder / "again.html"]):
            watched("report", "-i", path, *options)
        watched("dump", "--stats", "-i", path)
        broken = folder / "broken.data"
        broken.write_bytes(path.read_bytes()[:-1000])
        watched("report", "-i", broken, ending=1)
        watched("dump", "--stats", "--partial", "-i", broken, ending=1)


def test_the_environment():
    watched("doctor")


def test_refusals():
    watched("stat", "-e", "cycels", "--", "true", ending=2)
    watched("record", "-o", "/dev/null/x", "--", "true", ending=1)
    watched("stat", "--", "/nonexistent", ending=127)
