# SPDX-License-Identifier: MIT
"""Where results go, what they are called, and what ends the command: devices, folders, pipes with names, links,
closed descriptors, names that would steer a terminal, signals, processes that cannot be started."""
import os
import pathlib
import signal
import subprocess
import time

import cli
from cli import BURN, ENV, PERFEV, Folder, Skip, expect, expect_code, expect_in, expect_one_line, need_root, perfev, stats

STRANGE = "a\nb\x1b[31m\u009bc"


def device(folder, name, minor):
    """A device of our own: a fault must not move the machine's."""
    need_root()
    path = folder / name
    try:
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, minor))
        path.open("wb").close()
    except OSError:
        raise Skip("no device can be made here") from None
    return path


def record_to(path, *words, **more):
    return perfev("record", "-e", "cpu-clock", "-o", path, *(words or ("--", "true")), **more)


def test_a_device_stays_one():
    with Folder() as folder:
        null, full = device(folder, "null", 3), device(folder, "full", 7)
        expect_code(record_to(null), 0)
        expect_code(record_to(full), 1)
        for words in (["stat", "-o", full, "--", "true"], ["stat", "--json", "-o", full, "--", "true"],
                      ["record", "-e", "cpu-clock", "-o", full, "--", "true"]):
            done = perfev(*words)
            expect_code(done, 1)
            expect_one_line(done.err.splitlines()[0])
        expect(sorted(p.name for p in folder.path.iterdir()) == ["full", "null"], "something was renamed")
        expect(null.is_char_device() and full.is_char_device(), "no devices any more")


def test_a_folder_is_refused_and_stays():
    with Folder() as folder:
        (folder / "d").mkdir()
        for words in (["record", "-e", "cpu-clock", "-o", folder / "d", "--", "true"],
                      ["stat", "-o", folder / "d", "--", "true"]):
            done = perfev(*words)
            expect_code(done, 1)
            expect_one_line(done.err)
        expect([p.name for p in folder.path.iterdir()] == ["d"], "it was renamed")


def test_a_pipe_with_a_name():
    with Folder() as folder:
        os.mkfifo(folder / "pipe")
        with open(folder / "out", "wb") as out:
            reader = subprocess.Popen(["cat", folder / "pipe"], stdout=out)
            expect_code(record_to(folder / "pipe", "--", BURN, "0.2"), 0)
            reader.wait(20)
        expect(stats(folder / "out")["SAMPLE"] > 50, f"{stats(folder / 'out')}")


def test_what_a_link_leads_to_is_kept():
    with Folder() as folder:
        (folder / "far").mkdir()
        (folder / "a.data").symlink_to(folder / "far" / "b.data")
        expect_code(record_to(folder / "a.data"), 0)
        before = (folder / "far" / "b.data").read_bytes()
        expect_code(record_to(folder / "a.data"), 0)
        expect((folder / "a.data").is_symlink(), "the link is gone")
        expect((folder / "far" / "b.data.old").read_bytes() == before, "the old recording is gone")


def test_an_old_one_that_cannot_be_kept_is_not_overwritten():
    with Folder() as folder:
        expect_code(record_to(folder / "a.data"), 0)
        before = (folder / "a.data").read_bytes()
        (folder / "a.data.old").mkdir()
        (folder / "a.data.old" / "x").mkdir()
        done = record_to(folder / "a.data")
        expect_code(done, 1)
        expect_one_line(done.err)
        expect((folder / "a.data").read_bytes() == before, "it was overwritten")


def test_nobody_reads_the_recording():
    done = subprocess.run(["bash", "-c", f"{PERFEV} record -e cpu-clock -o - -- {BURN} 20 | head -c 100 >/dev/null; "
                           "echo ${PIPESTATUS[0]}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV, timeout=60)
    expect(done.stdout == b"0\n" and not done.stderr, f"{done.stdout} {done.stderr}")


def test_closed_descriptors():
    """Messages must not get into a recording that took the number of standard error."""
    with Folder() as folder:
        for closed in ("<&-", "2>&-", "<&- >&- 2>&-"):
            line = f"{PERFEV} record -o {folder / 'a.data'} -- true {closed}"
            expect(subprocess.run(["bash", "-c", line], env=ENV, stderr=subprocess.DEVNULL).returncode == 0, line)
            expect(b"perfev: " not in (folder / "a.data").read_bytes(), line)
            expect(stats(folder / "a.data")["TOTAL"] > 0, line)
        line = f"{PERFEV} stat --json -o {folder / 'a.json'} -- sh -c 'test ! -e /proc/self/fd/2' 2>&-"
        expect(subprocess.run(["bash", "-c", line], env=ENV).returncode == 0, "it is not closed in the command")


def test_names_are_one_line_and_steer_nothing():
    with Folder() as folder:
        mine = str(folder / STRANGE)
        for words in (["stat", "--", STRANGE], ["record", "-o", mine, "--", "true"], ["report", "-i", mine],
                      ["report", "-i", mine + "x"], ["list", STRANGE], ["stat", "-G", STRANGE, "--", "true"],
                      ["stat", "-e", f"cpu-clock/name={STRANGE}/", "--", "true"], ["stat", "-p", STRANGE],
                      ["stat", "--" + STRANGE], [STRANGE], ["stat", "-e", STRANGE, "--", "true"],
                      ["stat", "-o", STRANGE + "/x", "--", "true"], ["report", "-i", mine, "--html", STRANGE + "/x"],
                      ["stat", "--", "true", STRANGE]):
            done = perfev(*words, cwd=folder.path)
            for text in (done.out, done.err):
                expect("\x1b" not in text and "\u009b" not in text, f"{words}: {text!r}")
                expect("a\nb" not in text, f"{words}: {text!r}")


# ---- filesystems that are not mounted -----------------------------------------------------------------------------


def without(where, *words):
    need_root()
    if where == "/proc" and b"__asan_init" in pathlib.Path(PERFEV).read_bytes():
        raise Skip("a sanitizer needs /proc")
    done = cli.run("unshare", "-m", "sh", "-c", f'mount -t tmpfs none {where} || exit 99; exec "$@"', "sh", PERFEV, *words)
    if done.code == 99 or done.err.startswith("unshare"):
        raise Skip(f"{where} cannot be hidden here")
    return done


def test_without_proc():
    expect_code(without("/proc", "stat", "--", "true"), 0)
    done = without("/proc", "stat", "-p", str(os.getpid()), "--", "true")
    expect_code(done, 1)
    expect_in("there is no /proc; run mount -t proc proc /proc", done.err)
    done = without("/proc", "doctor")
    expect_in("there is no /proc", done.out)
    expect("-9" not in done.out, f"what is not known is shown as a number:\n{done.out}")
    started = time.monotonic()
    done = without("/proc", "stat", "-t", str(os.getpid()), "-e", "task-clock", "--", "sleep", "0.3")
    expect_code(done, 0)
    expect(time.monotonic() - started > 0.3, "a thread that runs was taken for one that has ended")


def test_without_sysfs():
    expect_code(without("/sys", "stat", "--", "true"), 0)
    expect("-9" not in without("/sys", "doctor").out, "what is not known is shown as a number")
    for words in (["stat", "-a"], ["stat", "-e", "cpu/event=1/"], ["record"]):
        done = without("/sys", *words, "--", "true")
        expect(done.code in (1, 2), f"{words}: {done.code}")
        expect_in("run mount -t sysfs sysfs /sys", done.err)


# ---- ends -------------------------------------------------------------------------------------------------------


def test_a_signal_to_us_alone_ends_the_command_too():
    for number in (signal.SIGTERM, signal.SIGINT):
        for words in (["stat"], ["record", "-e", "cpu-clock", "-o", "a.data"]):
            with Folder() as folder:
                run = subprocess.Popen([PERFEV, *words, "--", "sleep", "60"], cwd=folder.path, env=ENV,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
                time.sleep(0.7)
                run.send_signal(number)
                expect(run.wait(20) == 128 + number, f"{words}: {run.returncode}")


def test_nohup():
    done = cli.run("sh", "-c", f"trap '' HUP; exec {PERFEV} record -e cpu-clock -o /dev/null -- "
                   "sh -c 'kill -HUP $PPID; sleep 0.3; echo on'")
    expect_code(done, 0)
    expect_in("on", done.out)


def test_no_process_can_be_started():
    """Nothing of that user is killed: kill(-1) is what a failed fork's pid would mean."""
    need_root()
    with Folder() as folder:
        program = folder / "perfev"
        program.write_bytes(pathlib.Path(PERFEV).read_bytes())
        program.chmod(0o755)
        as_user = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"]
        other = subprocess.Popen([*as_user, "sleep", "60"])
        try:
            time.sleep(0.2)
            for words in (["stat", "-e", "cpu-clock:u"], ["record", "-e", "cpu-clock:u", "-o", "/dev/null"]):
                done = cli.run("prlimit", "--nproc=1:1", *as_user, program, *words, "--", "true",
                               env=dict(cli.ENV, ASAN_OPTIONS="detect_leaks=0"))  # which takes a process
                if "cannot start" not in done.err and done.code == 0:
                    raise Skip("ulimit -u does not hold here")
                expect_code(done, 1)
                expect_one_line(done.err)
                expect_in("raise ulimit -u", done.err)
                expect(other.poll() is None, "another process was killed")
        finally:
            other.kill()
            other.wait()
