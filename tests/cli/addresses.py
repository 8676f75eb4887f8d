# SPDX-License-Identifier: MIT
"""Where code is, and what it is called then: layouts of linkers, the same program twice, files and processes that are gone, code
that was moved or made at run time, in threads and containers. The programs are in addresses.c."""
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import time

from cli import ENV, PERFEV, Folder, Skip, expect, expect_code, expect_in, need_command, need_root, perfev, run

SOURCE = pathlib.Path(__file__).parent / "addresses.c"
LIBRARY = """
volatile unsigned long sum;
__attribute__((noinline)) void NAME_spin(long rounds) { for (long i = 0; i < rounds; i++) sum += i; }
int NAME(long rounds) { NAME_spin(rounds); return sum == 1; }
"""


def compiled(folder, name="program", *options, compiler="gcc"):
    need_command(compiler)
    done = run(compiler, "-O2", "-fno-optimize-sibling-calls", *options, SOURCE, "-o", folder / name)
    if done.code:
        raise Skip(f"{' '.join((compiler, *options))}: {done.err.splitlines()[-1] if done.err else done.code}")
    return folder / name


def x86_64_only():
    if platform.machine() != "x86_64":
        raise Skip("the code is x86-64's")


def recorded(folder, *command, how=("-g",), **more):
    done = perfev("record", "-e", "cpu-clock:u", "-F", "2000", *how, "-o", folder / "a.data", "--", *command, **more)
    expect_code(done, 0)
    return folder / "a.data"


def functions(path, **more):
    """{name: self samples} of a recording, and its report, which is the same for any number of threads."""
    one, report = (perfev("report", "--json", "--jobs", jobs, "-i", path, **more).json() for jobs in (1, 4))
    expect(one == report, "threads make a difference")
    return {f["symbol"]: f["self"] for f in report["functions"] if f["self"]}, report


def share(found, *names):
    return sum(found.get(name, 0) for name in names) / max(1, sum(found.values()))


def expect_mostly(path, *names, **more):
    found, report = functions(path, **more)
    expect(share(found, *names) > 0.9, f"{names}: {found} {report['unresolved']}")
    return report


def stacks(path):
    done = perfev("report", "--folded", "-i", path)
    expect_code(done, 0)
    return {tuple(line.rsplit(" ", 1)[0].split(";")[1:]): int(line.rsplit(" ", 1)[1]) for line in done.out.splitlines()}


# ---- files that are mapped ------------------------------------------------------------------------------------------


def test_layouts():
    """S1, S1b, S6, U31: wherever a linker puts code and call frame information, names and stacks are right."""
    tried = []
    with Folder() as folder:
        for options in ([], ["-no-pie"], ["-static"], ["-static-pie"], ["-Wl,-z,noseparate-code"], ["-Wl,-z,separate-code"],
                        ["-fuse-ld=lld"], ["-fuse-ld=lld", "-no-pie"], ["-fuse-ld=lld", "-Wl,--no-rosegment"], ["-fuse-ld=gold"],
                        ["-fuse-ld=gold", "-Wl,--rosegment"], ["-fuse-ld=mold"], ["-Wl,-Ttext-segment=0x20000000", "-no-pie"], ["-s"]):
            try:
                program = compiled(folder, "program", *options)
            except Skip:
                continue
            tried.append(options)
            path = recorded(folder, program, how=("--call-graph", "dwarf"))
            if options == ["-s"]:  # no names; stacks there are
                expect(max(len(stack) for stack in stacks(path)) > 3, f"{stacks(path)}")
                continue
            expect_mostly(path, "spin")
            best = max(stacks(path).items(), key=lambda item: item[1])[0]
            expect(best[-3:] == ("main", "work", "spin"), f"{options}: {best}")
            offsets = re.findall(r" spin\+0x([0-9a-f]+)$", perfev("script", "-i", path, "-F", "ip,sym,symoff").out, re.M)
            expect(offsets and all(int(offset, 16) < 0x100 for offset in offsets), f"{options}: {set(offsets)}")
    expect(len(tried) >= 6, f"{tried}")


def test_run_by_the_loader():
    """S2: the program is mapped as if it were a library."""
    with Folder() as folder:
        program = compiled(folder)
        loader = re.search(r"interpreter: (\S+?)\]", run("readelf", "-l", program).out)
        if not loader:
            raise Skip("no loader is named")
        expect_mostly(recorded(folder, loader[1], program), "spin")


def test_the_same_program_again():
    """S7, S8: each time it is at another address, and gone when it is asked for."""
    with Folder() as folder:
        program = compiled(folder)
        expect_mostly(recorded(folder, "sh", "-c", f"for i in 1 2 3; do {program} work 1; done; {program} work 1 & {program} work 1; wait"), "spin")


def test_forks():
    """U23: children without exec have their parent's mappings; their stacks too."""
    with Folder() as folder:
        path = recorded(folder, compiled(folder), "fork", how=("--call-graph", "dwarf"))
        expect_mostly(path, "spin")
        pids = set(perfev("script", "-G", "-i", path, "-F", "pid").out.split())
        expect(len(pids) >= 4, f"{pids}")
        right = sum(n for stack, n in stacks(path).items() if stack[-2:] == ("work", "spin") and "main" in stack)
        expect(right > 0.9 * sum(stacks(path).values()), f"{stacks(path)}")


def test_libraries_that_come_and_go():
    """S47: two libraries, one after the other at the same place, have the names of the time."""
    with Folder() as folder:
        for name in ("first", "second"):
            (folder / "l.c").write_text(LIBRARY.replace("NAME", name))
            expect_code(run("gcc", "-O2", "-fno-optimize-sibling-calls", "-shared", "-fPIC", folder / "l.c", "-o", folder / name), 0)
        path = recorded(folder, compiled(folder), "load", folder / "first", folder / "second")
        found, _ = functions(path)
        expect(found.get("first_spin", 0) > 20 and found.get("second_spin", 0) > 20, f"{found}")
        expect(share(found, "first_spin", "second_spin") > 0.9, f"{found}")


def test_deleted():
    """S9, S10: a file that is gone keeps its name, and its places theirs; another file of its name is not taken for it."""
    with Folder() as folder:
        program = compiled(folder)
        child = subprocess.Popen([program, "work", "20"], env=ENV)
        try:
            program.unlink()
            expect_code(perfev("record", "-e", "cpu-clock:u", "-F", "2000", "-o", folder / "a.data", "-p", child.pid, "--", "sleep", "0.3"), 0)
        finally:
            child.kill()
            child.wait()
        found, report = functions(folder / "a.data")
        expect("spin" not in found, f"{found}")
        lacks = [row for row in report["unresolved"] if row["module"].startswith(str(program))]
        expect(lacks and "deleted" in lacks[0]["why"], f"{report['unresolved']}")
        text = perfev("script", "-G", "-i", folder / "a.data", "-F", "ip,sym,dso").out
        expect(f"[unknown] ({program}" in text, text[:300])
        shutil.copy("/bin/true", program)
        found, _ = functions(folder / "a.data")
        names = {name for name in found if not name.startswith("0x")}
        expect(len(names) < len(found) and not names & {"spin", "work", "main"}, f"another program was taken for it: {found}")


def test_replaced():
    """S9, S10: deleted while it ran; where the mapping had a build-id, the same file is believed again, and no other."""
    with Folder() as folder:
        program = compiled(folder, "program", "-Wl,--build-id")
        shutil.copy(program, folder / "copy")
        path = recorded(folder, "sh", "-c", f"{program} work 3 & sleep 0.1; rm {program}; wait")
        _, report = functions(path)
        lacks = [row for row in report["unresolved"] if row["module"] == str(program)]
        expect(lacks and "No such file" in lacks[0]["why"], f"{report['unresolved']}")
        if "build_id=" not in perfev("dump", "-i", path).out:
            raise Skip("this kernel gives no build-ids")
        shutil.copy("/bin/true", program)
        _, report = functions(path)
        lacks = [row for row in report["unresolved"] if row["module"] == str(program)]
        expect(lacks and "another build-id" in lacks[0]["why"], f"{report['unresolved']}")
        shutil.copy(folder / "copy", program)
        expect_mostly(path, "spin")


def test_overlay():
    """U13: a program in a filesystem that is made of others, which containers have."""
    need_root()
    need_command("unshare")
    with Folder() as folder:
        compiled(folder)
        (folder / "all").mkdir()
        script = (f"cd {folder.path} && mount -t tmpfs none all && mkdir all/lower all/upper all/work all/over && cp program all/lower && "
                  "mount -t overlay overlay -o lowerdir=all/lower,upperdir=all/upper,workdir=all/work all/over || exit 99; "
                  f'"$@" record -e cpu-clock:u -F 2000 --call-graph dwarf -o all/a.data -- all/over/program >&2; "$@" report --folded -i all/a.data')
        done = run("unshare", "-m", "sh", "-c", script, "sh", PERFEV)
        if done.code == 99 or done.err.startswith("unshare"):
            raise Skip("there are no overlays here")
        expect_code(done, 0)
        expect("main;work;spin " in done.out, done.out)


def test_the_vdso():
    """S24: it has no file."""
    with Folder() as folder:
        path = recorded(folder, compiled(folder), "clock", how=("--call-graph", "dwarf"))
        text = perfev("script", "-i", path, "-F", "ip,sym,dso").out
        inside = [line for line in text.splitlines() if "([vdso])" in line]
        expect(inside and all("gettime" in line or "time" in line for line in inside[:20]), text[:300])
        deep = [stack for stack in stacks(path) if any("vdso" in name for name in stack)]
        expect(any("main" in stack for stack in deep), f"{deep[:3]}")


# ---- code that was moved, or made at run time -----------------------------------------------------------------------------


def lists_of(path):
    return set(re.findall(r"/tmp/perf-\d+\.map", perfev("script", "-i", path, "-F", "ip,dso").out))


def with_list(path):
    """The list that a program has written, to be removed."""
    names = lists_of(path)
    expect(len(names) == 1, f"{names}")
    return pathlib.Path(names.pop())


def test_moved_code():
    """S11, S12: what a program has put in the place of its code is its code, or what its list says."""
    with Folder() as folder:
        program = compiled(folder)
        path = recorded(folder, program, "moved", how=("--call-graph", "dwarf"))
        expect_mostly(path, "spin")
        best = max(stacks(path).items(), key=lambda item: item[1])[0]
        expect(best[-3:] == ("move_code", "work", "spin") or best[-2:] == ("work", "spin"), f"{best}")
        path = recorded(folder, program, "moved-list")
        written = with_list(path)
        try:
            expect_mostly(path, "made_here")
        finally:
            written.unlink()


def test_lists():
    """S15, S16, S18: of a thread's code, of code in a file without symbols; the later of two lines counts, and a cut one does not."""
    x86_64_only()
    with Folder() as folder:
        program = compiled(folder, "program", "-pthread")
        for how in ("list", "thread", "image"):
            path = recorded(folder, program, how, folder / "image")
            written = with_list(path)
            try:
                expect_mostly(path, "made_here")
            finally:
                written.unlink()
            expect("made_here" not in functions(path)[0], "found without the list")


def test_no_list():
    """S17: one line, for however many processes."""
    x86_64_only()
    with Folder() as folder:
        program = compiled(folder, "program", "-pthread")
        path = recorded(folder, "sh", "-c", " & ".join([f"{program} unlisted"] * 6) + "; wait")
        done = perfev("report", "-i", path)
        expect_code(done, 0)
        expect(done.err == "", done.err)
        expect(done.out.count("list of functions is not there") == 1, done.out)
        expect(re.search(r"samples in /tmp/perf-\d+\.map and those of \d more processes: ", done.out), done.out)


def test_list_in_a_container():
    """S14: another /tmp, and another number of the process, as long as it lives."""
    x86_64_only()
    need_root()
    need_command("unshare")
    with Folder() as folder:
        program = compiled(folder, "program", "-pthread")
        # its own /tmp hides the program too: so that is on a descriptor
        script = f"exec 9< {program} && mount -t tmpfs none /tmp && cat <&9 > /tmp/program && chmod 755 /tmp/program && exec /tmp/program stay"
        child = subprocess.Popen(["unshare", "-m", "-p", "-f", "sh", "-c", script], env=ENV, stderr=subprocess.DEVNULL)
        inner = 0
        try:
            for _ in range(100):
                time.sleep(0.05)
                children = pathlib.Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split() if child.poll() is None else []
                if children and os.path.exists(f"/proc/{children[0]}/root/tmp/perf-1.map"):
                    inner = int(children[0])
                    break
            if not inner:
                raise Skip("no container can be made here")
            expect_code(perfev("record", "-e", "cpu-clock:u", "-F", "2000", "-o", folder / "a.data", "-p", inner, "--", "sleep", "0.3"), 0)
            expect_mostly(folder / "a.data", "made_here")
        finally:
            if inner:
                os.kill(inner, signal.SIGKILL)
            child.kill()
            child.wait()
        for _ in range(100):  # it is no child of ours that could be waited for
            if not os.path.exists(f"/proc/{inner}/root/tmp/perf-1.map"):
                break
            time.sleep(0.05)
        expect("made_here" not in functions(folder / "a.data")[0], "a list that is gone")
