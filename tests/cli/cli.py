# SPDX-License-Identifier: MIT
"""What the tests of the command share: running it, and saying what was expected."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()
PERFEV = str(BUILD / "perfev")
BURN = str(BUILD / "tests" / "burn")
HOME = tempfile.TemporaryDirectory(prefix="perfev-home-")  # perf has its cache of files in it; the user's stays as it is
ENV = dict(os.environ, LC_ALL="C", HOME=HOME.name)


class Skip(Exception):
    """A test that this machine cannot run; the text says what is missing."""


class Done:
    def __init__(self, done):
        self.code = done.returncode
        self.out = (done.stdout or b"").decode(errors="replace")
        self.err = done.stderr.decode(errors="replace")
        self.raw = done.stdout

    def json(self):
        return json.loads(self.out)


def run(*words, timeout=60, stdin=subprocess.DEVNULL, **more):
    """Runs words; ends with what it printed and its status."""
    return Done(subprocess.run([str(word) for word in words], stdout=more.pop("stdout", subprocess.PIPE),
                               stderr=subprocess.PIPE, timeout=timeout, stdin=stdin,
                               env=more.pop("env", ENV), **more))


def perfev(*words, **more):
    return run(PERFEV, *words, **more)


def as_nobody(*words, **more):
    """Runs words as uid 65534, without capabilities."""
    if os.geteuid() != 0:
        raise Skip("only root can become nobody")
    return run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all",
               *words, **more)


def need_command(name):
    if not shutil.which(name):
        raise Skip(f"{name} is not there")


def need_root():
    if os.geteuid() != 0:
        raise Skip("only root may do this")


def paranoid():
    try:
        return int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    except (OSError, ValueError):
        raise Skip("this kernel has no perf events") from None


def need_kernel_samples():
    """Kernel code can be sampled by this user."""
    if os.geteuid() != 0 and paranoid() > 1:
        raise Skip("kernel code needs root or perf_event_paranoid <= 1")


class Folder:
    """A folder for one test, that nobody may use too, and that goes away."""

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="perfev-test-"))
        self.path.chmod(0o777)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def __truediv__(self, name):
        return self.path / name


def expect(condition, text):
    if not isinstance(text, (str, bytes)):
        raise TypeError("expect() takes a condition and a text; expect_same() compares two values")
    if not condition:
        raise AssertionError(text)


def expect_same(got, wanted):
    expect(got == wanted, f"{got!r}, not {wanted!r}")


def expect_code(done, code):
    expect(done.code == code, f"exit status {done.code}, not {code}\n{done.err}")


def expect_in(part, text):
    expect(part in text, f"{part!r} is not in:\n{text}")


def expect_one_line(text):
    """An error is one line, in the form: perfev: cannot VERB OBJECT: CAUSE; REMEDY"""
    lines = text.rstrip("\n").split("\n")
    expect(len(lines) == 1, f"more than one line:\n{text}")
    expect(re.match(r"perfev: cannot .+: .+; .+", lines[0]), f"not in the form of an error: {text}")


def stats(path, *options):
    """The counts of dump --stats."""
    done = perfev("dump", "--stats", "-i", path, *options)
    expect_code(done, 0)
    rows = dict(line.rsplit(" ", 1) for line in done.out.splitlines())
    return {name: int(count) for name, count in rows.items()}


def perf_rows(path):
    """[(event, samples, symbol)] of perf's own report, most first; and the samples of each event."""
    done = run("perf", "report", "--stdio", "-i", path, "--no-children", "-g", "none",
               "-F", "sample,symbol", "-f")
    rows, events, event = [], {}, None
    for line in done.out.splitlines():
        head = re.match(r"# Samples: (\S+)\s+of event '(.*)'", line)
        row = re.match(r"\s*(\d+)\s+\[.\] (.*?)\s*$", line)
        if head:
            event = head[2]
            events[event] = 0
        elif row:
            rows.append((event, int(row[1]), row[2]))
            events[event] = events.get(event, 0) + int(row[1])
    return sorted(rows, key=lambda row: (-row[1], row[2])), events


def our_rows(path, event):
    report = perfev("report", "-i", path, "--json", "--no-inline", "--event", event).json()
    rows = [(f["self"], f["symbol"]) for f in report["functions"] if f["self"]]
    return sorted(rows, key=lambda row: (-row[0], row[1]))


def run_all(groups, only=()):
    """Runs the functions named test_* of modules, or those of @only; prints a line each, and the closing line."""
    passed = failed = skipped = 0
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have us ignore it, and our children too
    for group in groups:
        for name, function in sorted(vars(group).items()):
            full = f"{group.__name__}.{name}"
            if not name.startswith("test_") or (only and group.__name__ not in only and full not in only):
                continue
            try:
                function()
                passed += 1
                print(f"ok   {group.__name__}.{name}")
            except Skip as reason:
                skipped += 1
                print(f"SKIPPED: {group.__name__}.{name}: {reason}")
            except Exception as error:  # a test must not end the others
                failed += 1
                print(f"FAIL {group.__name__}.{name}: {type(error).__name__}: {error}")
            sys.stdout.flush()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if passed + skipped and not failed else 1
