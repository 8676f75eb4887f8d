# SPDX-License-Identifier: MIT
"""Refusals: one line, the true cause with what was measured, and a remedy; and the exit status."""
import os
import pathlib
import subprocess
import time

import cli
from cli import (BURN, ENV, PERFEV, Folder, Skip, as_nobody, expect, expect_code, expect_in, expect_same,
                 expect_one_line, need_root, paranoid, perfev)


def has_hardware():
    return any(pathlib.Path("/sys/bus/event_source/devices").glob("cpu*"))


def test_unknown_event():
    done = perfev("stat", "-e", "page-faults,cycels", "--", "true")
    expect_code(done, 2)
    expect_in("column 13", done.err)
    expect_in("did you mean cycles?", done.err)
    for text in ("", "cs,", "cs:Z", "{cs", "cs/period=x/", "mem:z", "uprobe:x"):  # each says what to do
        done = perfev("stat", "-e", text, "--", "true")
        expect_code(done, 2)
        expect_in("; ", done.err.splitlines()[0])


def test_no_hardware_counters():
    if has_hardware():
        raise Skip("this machine has hardware counters")
    done = perfev("stat", "-e", "cycles", "--", "touch", "/nonexistent/never")
    expect_code(done, 1)
    expect_one_line(done.err)
    expect_in("no hardware counters", done.err)
    expect_in("cpu-clock", done.err)


def test_the_command_is_not_run_when_no_event_opens():
    if has_hardware():
        raise Skip("this machine has hardware counters")
    with Folder() as folder:
        mark = folder / "ran"
        for command in ("stat", "record"):
            done = perfev(command, "-e", "cycles", "--", "touch", mark, cwd=folder.path)
            expect_code(done, 1)
            expect(not mark.exists(), "the command was run")


def test_no_such_process():
    for words in (["stat", "-p", "4194303"], ["record", "-o", "/dev/null", "-p", "4194303"],
                  ["stat", "-t", "4194303"]):
        done = perfev(*words)
        expect_code(done, 1)
        expect_in("no such process", done.err)


def test_no_such_cpu():
    done = perfev("stat", "-C", "99999", "-e", "cpu-clock", "--", "true")
    expect_code(done, 1)
    expect_in("CPU 99999", done.err)


def test_command_not_found():
    for command in ("stat", "record"):
        with Folder() as folder:
            done = perfev(command, "-e", "cpu-clock", "--", "no-such-command-at-all", cwd=folder.path)
            expect_code(done, 127)
            expect_in("no-such-command-at-all", done.err)
            for path in ("/etc/passwd", "/etc", "./passwd"):
                if path[0] == ".":
                    (folder / "passwd").write_text("no program")
                done = perfev(command, "-e", "cpu-clock", "--", path, cwd=folder.path)
                expect_code(done, 126)
            expect_code(perfev(command, "-e", "cpu-clock", "--", "", cwd=folder.path), 127)
            expect_same(sorted(path.name for path in folder.path.iterdir()), ["passwd"])  # no recording of nothing
            expect_code(perfev(command, "-e", "cpu-clock", "--", "true", env={**ENV, "PATH": "/nonexistent::/etc:/bin"}, cwd=folder.path), 0)


def test_not_a_recording():
    done = perfev("report", "-i", "/etc/passwd")
    expect_code(done, 1)
    expect_one_line(done.err)
    expect_in("no perf.data file", done.err)
    done = perfev("dump", "--stats", "-i", "/nonexistent.data")
    expect_code(done, 1)
    expect_one_line(done.err)
    expect_code(perfev("report", "-i", "/tmp"), 1)
    expect_code(perfev("report", "-i", "/dev/null"), 1)


def make_recording(folder, name="a.data"):
    done = perfev("record", "-e", "cpu-clock", "-o", folder / name, "--", BURN, "0.2")
    expect_code(done, 0)
    return folder / name


def test_file_cut_short():
    with Folder() as folder:
        path = make_recording(folder)
        whole = path.read_bytes()
        cut = folder / "cut.data"
        cut.write_bytes(whole[:len(whole) // 2])
        for words in (["report"], ["dump", "--stats"]):
            done = perfev(*words, "-i", cut)
            expect_code(done, 1)
            expect_one_line(done.err)
            expect_in("cut short", done.err)
        done = perfev("dump", "--stats", "--partial", "-i", cut)
        expect_code(done, 1)
        expect_in("TOTAL ", done.out)
        expect_in("cut short", done.err)


def test_file_cut_anywhere_is_never_a_crash():
    with Folder() as folder:
        whole = make_recording(folder).read_bytes()
        cut = folder / "cut.data"
        step = max(1, len(whole) // 60)
        for size in list(range(0, 200, 7)) + list(range(200, len(whole), step)):
            cut.write_bytes(whole[:size])
            for words in (["report", "--json"], ["dump", "--stats", "--partial"]):
                done = perfev(*words, "-i", cut)
                expect(done.code == 1, f"{words} of {size} bytes: {done.code} {done.err}")


def test_disk_full_while_recording():
    need_root()
    with Folder() as folder:
        mount = folder / "small"
        mount.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "none", mount],
                          stderr=subprocess.DEVNULL).returncode:
            raise Skip("a small tmpfs cannot be mounted here")
        try:
            done = perfev("record", "-e", "cpu-clock", "-F", "20000", "-o", mount / "a.data", "--", BURN, "2")
            expect_code(done, 1)
            expect_in("the disk is full", done.err)
            report = perfev("report", "-i", mount / "a.data", "--json")
            expect_code(report, 0)
            samples = report.json()["events"][0]["samples"]
            expect(samples > 100, f"{samples} samples are left")
        finally:
            subprocess.run(["umount", mount])


# ---- ordinary users: only where the level is the one that each needs --------------------------------


def copy_for_nobody(folder):
    """Nobody may not reach the build folder of root."""
    for name, path in (("perfev", PERFEV), ("burn", BURN)):
        target = folder / name
        target.write_bytes(pathlib.Path(path).read_bytes())
        target.chmod(0o755)
    return str(folder / "perfev"), str(folder / "burn")


def at_level(level):
    """Sets perf_event_paranoid for a test, and puts it back."""
    class Level:
        def __enter__(self):
            need_root()
            self.before = paranoid()
            self.set(level)

        def __exit__(self, *_):
            self.set(self.before)

        @staticmethod
        def set(value):
            try:
                pathlib.Path("/proc/sys/kernel/perf_event_paranoid").write_text(str(value))
            except OSError:
                raise Skip("perf_event_paranoid cannot be written here") from None
    return Level()


def test_ordinary_user_at_level_2():
    with Folder() as folder, at_level(2):
        program, burn = copy_for_nobody(folder)
        done = as_nobody(program, "stat", "--json", "-e", "page-faults,context-switches", "--", burn, "0.1")
        expect_code(done, 0)
        faults, switches = done.json()["events"]
        expect(faults["status"] == "counted" and faults["count"] > 0, f"{faults}")
        expect(switches["status"] == "not-counted" and switches["count"] is None, f"{switches}")
        expect_in("kernel", switches["why"])
        done = as_nobody(program, "record", "-e", "cpu-clock", "-o", folder / "n.data", "--", burn, "0.3")
        expect_code(done, 0)
        expect_in("user code only", done.err)
        report = as_nobody(program, "report", "-i", folder / "n.data", "--json").json()
        expect(all("[kernel" not in f["module"] for f in report["functions"]), "kernel samples")
        expect(report["functions"][0]["symbol"].startswith("burn_"), str(report["functions"][0]))


def test_refusals_at_level_2():
    with Folder() as folder, at_level(2):
        program, _ = copy_for_nobody(folder)
        done = as_nobody(program, "stat", "-e", "cpu-clock:k", "--", "true")
        expect_code(done, 1)
        expect_one_line(done.err)
        expect_in("perf_event_paranoid <= 1 and it is 2", done.err)
        done = as_nobody(program, "stat", "-a", "-e", "cpu-clock", "--", "true")
        expect_code(done, 1)
        expect_one_line(done.err)
        expect_in("perf_event_paranoid <= 0 and it is 2", done.err)
        done = as_nobody(program, "stat", "-p", str(os.getpid()))
        expect_code(done, 1)
        expect_one_line(done.err)
        expect_in("belongs to uid 0", done.err)
        expect_in("uid 65534", done.err)


def test_the_remedies_work():
    with Folder() as folder:
        program, _ = copy_for_nobody(folder)
        with at_level(1):
            expect_code(as_nobody(program, "stat", "-e", "cpu-clock:k", "--", "true"), 0)
        with at_level(0):
            expect_code(as_nobody(program, "stat", "-a", "-e", "cpu-clock", "--", "true"), 0)
        with at_level(2):
            expect_code(as_nobody(program, "stat", "-e", "cpu-clock:u", "--", "true"), 0)


def test_seccomp_is_recognized():
    need_root()
    helper = cli.BUILD / "tests" / "under-seccomp"
    if not helper.exists():
        raise Skip("the seccomp helper was not built")
    for errno_, word in (("1", "seccomp"), ("38", "seccomp")):
        done = cli.run(helper, errno_, PERFEV, "stat", "-e", "cpu-clock", "--", "true", env=ENV)
        expect_code(done, 1)
        expect_one_line(done.err)
        expect_in(word, done.err)


# ---- the same questions at every level, as an ordinary user ----------------------------------------------------

# what is asked; the first level at which it is refused; what the refusal says there; level that the remedy sets
QUESTIONS = [
    (["-e", "cpu-clock:u", "--", "true"], None, None, None),
    (["-e", "cpu-clock", "-C", "0", "--", "true"], 1, "counting every task on a CPU needs perf_event_paranoid <= 0 and "
     "it is {level}; run as root, grant CAP_PERFMON, or run sysctl kernel.perf_event_paranoid=0", 0),
    (["-a", "-e", "page-faults", "--", "true"], 1, "perf_event_paranoid <= 0 and it is {level}", 0),
    (["-e", "cpu-clock:k", "--", "true"], 2, "kernel counting needs perf_event_paranoid <= 1 and it is {level}; add "
     "':u', or run sysctl kernel.perf_event_paranoid=1", 1),
    (["-e", "cpu-clock:u", "-p", "1"], -1, "it belongs to uid 0, and this process is uid 65534 without CAP_PERFMON; run "
     "as that user or as root", None),
    (["-e", "uprobe:/bin/true:0x1000", "--", "true"], -1, "probes need CAP_PERFMON, whatever perf_event_paranoid is", None),
    (["-e", "mem:0xffffffff81000000:w", "--", "true"], -1, "", None),
]


def test_every_level():
    with Folder() as folder:
        program, _ = copy_for_nobody(folder)
        for level in (-1, 0, 1, 2):
            with at_level(level):
                for words, refused, says, _ in QUESTIONS:
                    done = as_nobody(program, "stat", *words, timeout=20)
                    if refused is None or level < refused:
                        expect(done.code == 0, f"{words} at {level}: {done.err}")
                        continue
                    expect(done.code == 1, f"{words} at {level}: exit status {done.code}: {done.err}")
                    expect_one_line(done.err)
                    expect_in(says.format(level=level), done.err)


def test_the_remedy_of_every_level():
    """The level that the sentence names lets it through, and what is said of root is true."""
    with Folder() as folder:
        program, _ = copy_for_nobody(folder)
        for words, refused, _, remedy in QUESTIONS:
            if remedy is not None:
                with at_level(remedy):
                    expect_code(as_nobody(program, "stat", *words), 0)
            if refused is not None and "-p" not in words and "mem:" not in words[1]:
                expect_code(perfev("stat", *words), 0)


def test_raw_data_of_tracepoints():
    """sched_switch shows what others do; the remedy is root, or -1."""
    with Folder() as folder:
        program, _ = copy_for_nobody(folder)
        names = "/sys/kernel/tracing/events/sched/sched_switch/id"
        if not os.path.exists(names):
            raise Skip("tracefs is not mounted")
        number = pathlib.Path(names).read_text().strip()
        with at_level(1):
            done = as_nobody(program, "record", "-e", f"2:{number}", "-o", folder / "a.data", "--", "true")
            expect_code(done, 1)
            expect_in("raw tracepoint data need perf_event_paranoid <= -1 or CAP_PERFMON, and the level is 1", done.err)
        with at_level(-1):
            done = as_nobody(program, "record", "-e", f"2:{number}", "-o", folder / "a.data", "--", "sleep", "0.1")
            expect_code(done, 0)


# ---- limits ---------------------------------------------------------------------------------------------------


def limited(shell, *words):
    return cli.run("sh", "-c", shell + '; exec "$@"', "sh", *words, env=ENV)


def test_few_open_files():
    """Soft and hard limit: the command raises the soft one by itself."""
    done = limited("ulimit -n 16", PERFEV, "stat", "-e", ",".join(["page-faults"] * 30), "--", "true")
    expect_code(done, 0)  # some of them can be counted
    expect(done.err.count("this process may have 16 open files, and 30 more are needed, and its hard limit is no more; "
                          "raise ulimit -n as root, or take fewer events, threads or CPUs") == 1,
           done.err)
    done = limited("ulimit -n 3", PERFEV, "stat", "-e", "page-faults", "--", "true")
    expect(done.code != 0, done.err)
    done = limited("ulimit -S -n 16", PERFEV, "stat", "-e", ",".join(["page-faults"] * 30), "--", "true")
    expect_code(done, 0)


def mlock_kb():
    return pathlib.Path("/proc/sys/kernel/perf_event_mlock_kb")


def test_little_locked_memory():
    need_root()
    with Folder() as folder, at_level(1):
        program, burn = copy_for_nobody(folder)
        before = mlock_kb().read_text()
        words = ["record", "-m", "2048", "-e", "cpu-clock:u", "-o", str(folder / "a.data"), "--", burn, "0.1"]
        try:
            mlock_kb().write_text("8")
            done = cli.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c",
                           'ulimit -l 64; exec "$@"', "sh", program, *words, env=ENV)
            expect_code(done, 0)  # with smaller rings, and it says so
            expect_in("more than that is over the limit of locked memory", done.err)
        finally:
            mlock_kb().write_text(before)


def test_seccomp_while_recording():
    need_root()
    helper = cli.BUILD / "tests" / "under-seccomp"
    for number in ("1", "38"):
        done = cli.run(helper, number, PERFEV, "record", "-e", "cpu-clock", "-o", "/dev/null", "--", "true", env=ENV)
        expect_code(done, 1)
        expect_one_line(done.err)
        expect_in("a seccomp filter refuses perf_event_open", done.err)


def test_a_sample_rate_that_is_lowered_meanwhile():
    """As the kernel does when samples take too long; here by hand."""
    need_root()
    rate = pathlib.Path("/proc/sys/kernel/perf_event_max_sample_rate")
    before = rate.read_text()
    with Folder() as folder:
        run = subprocess.Popen([PERFEV, "record", "-e", "cpu-clock", "-o", str(folder / "a.data"), "--", BURN, "1"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENV)
        try:
            time.sleep(0.5)
            rate.write_text("50000")
            _, err = run.communicate(timeout=30)
        finally:
            rate.write_text(before)
        expect_in(f"from {before.strip()} to 50000 meanwhile", err.decode())
