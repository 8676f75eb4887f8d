# SPDX-License-Identifier: MIT
"""Where the files of a recording are found: perf's cache, other mount namespaces, split debug information."""
import ctypes
import os
import shutil
import subprocess
import time

from cli import BURN, ENV, Folder, Skip, expect, expect_code, expect_in, expect_same, need_command, need_root, perfev, run

SOURCE = """
#include <time.h>
static volatile unsigned n = 1000;
static inline __attribute__((always_inline)) unsigned inner(unsigned x)
{
	unsigned i;
	for (i = 0; i < n; i++)
		x = x * 1664525 + i;
	return x;
}
__attribute__((noinline)) unsigned outer(unsigned x) { return inner(x) + 1; }
int main(void)
{
	unsigned x = 1;
	while (clock() < CLOCKS_PER_SEC / 4)
		x = outer(x);
	return x == 3;
}
"""


def record(path, *words):
    expect_code(perfev("record", "-e", "cpu-clock", "-F", "2000", "-o", path, *words), 0)


def names(path, **more):
    report = perfev("report", "--json", "-i", path, **more).json()
    return {function["symbol"] for function in report["functions"]}


def test_split_debug_information():
    """S38: with the .dwo file inlined functions; without it, that it is missing, and which one."""
    need_command("gcc")
    with Folder() as folder:
        (folder / "p.c").write_text(SOURCE)
        if run("gcc", "-O1", "-g", "-gsplit-dwarf", "p.c", "-o", "p", cwd=folder.path).code:
            raise Skip("gcc does not split debug information")
        record(folder / "a.data", "-g", "--", folder / "p")
        expect({"inner", "outer"} <= names(folder / "a.data"), f"{names(folder / 'a.data')}")
        for file in folder.path.glob("*.dwo"):
            file.unlink()
        text = perfev("report", "-i", folder / "a.data").out
        expect_in("debug information is not complete", text)
        expect_in(".dwo is missing", text)
        expect_in("outer", text)
        expect("inner" not in names(folder / "a.data"), text)


def test_cache_of_perf():
    """S28: the program is gone, and its copy, by build-id, in the folder .debug of the user's."""
    with Folder() as folder:
        program = folder / "burn"
        shutil.copy(BURN, program)
        record(folder / "a.data", "--", program, "0.2")
        build_id = perfev("dump", "--header", "-i", folder / "a.data").out
        found = [word for line in build_id.splitlines() if str(program) in line for word in line.replace("=", " ").split()
                 if len(word) == 40 and set(word) <= set("0123456789abcdef")]
        expect(len(found) == 1, build_id)
        copy = folder.path / "home/.debug/.build-id" / found[0][:2] / found[0][2:] / "elf"
        copy.parent.mkdir(parents=True)
        shutil.move(program, copy)
        expect("burn_50" in names(folder / "a.data", env=dict(ENV, HOME=str(folder / "home"))), "not found in the cache")
        expect("burn_50" not in names(folder / "a.data", env=dict(ENV, HOME="/nowhere")), "found without the cache")
        # another program of that name is not taken
        shutil.copy("/bin/true", program)
        text = perfev("report", "-i", folder / "a.data", env=dict(ENV, HOME="/nowhere")).out
        expect_in("another build-id", text)


def test_other_mount_namespace():
    """S13: a program that only its own namespace has, while it lives, and afterwards."""
    need_root()
    need_command("unshare")
    with Folder() as folder:
        place = folder / "place"
        place.mkdir()
        script = f"mount -t tmpfs none {place} && cp {BURN} {place}/burn && exec {place}/burn 30"
        child = subprocess.Popen(["unshare", "-m", "sh", "-c", script], env=ENV, stderr=subprocess.DEVNULL)
        try:
            for _ in range(100):
                if child.poll() is not None or os.readlink(f"/proc/{child.pid}/exe").endswith("/burn"):
                    break
                time.sleep(0.05)
            if child.poll() is not None:
                raise Skip("mounting is not allowed here")
            record(folder / "a.data", "-p", child.pid, "--", "sleep", "0.3")
            expect("burn_50" in names(folder / "a.data"), f"{names(folder / 'a.data')}")
        finally:
            child.kill()
            child.wait()
        no_cache = dict(ENV, HOME="/nowhere")  # perf's may have the file, by its build-id
        expect("burn_50" not in names(folder / "a.data", env=no_cache), "a file that is gone")
        expect_in("No such file", perfev("report", "-i", folder / "a.data", env=no_cache).out)


PLACED = """
#include <time.h>
static volatile unsigned n;
%s
__attribute__((noinline)) void %s(void) { for (unsigned i = 0; i < 1000; i++) n += i; }
int main(void) { for (;;) { %s(); if (clock() > CLOCKS_PER_SEC * %s) return 0; } }
"""


def two_programs(folder):
    """Of one name: what this machine has at place/prog, and inner, which a container has there; places of functions differ."""
    need_command("gcc")
    (folder / "place").mkdir()
    for path, more, name in (("place/prog", "", "spin_here"),
                             ("inner", "int more(int x) { return x * n + 7; }", "spin_in_container")):
        (folder / "p.c").write_text(PLACED % (more, name, name, "0.4"))
        expect_code(run("gcc", "-O1", "-Wl,--build-id", "-o", folder / path, folder / "p.c"), 0)
    if run("unshare", "-m", "mount", "--bind", folder / "inner", folder / "place/prog").code:
        raise Skip("mounting is not allowed here")
    return folder / "place/prog", folder / "inner"


def kinds_of_mappings(data, path):
    lines = [line for line in perfev("dump", "-i", data).out.splitlines() if "MMAP2" in line and f'"{path}"' in line]
    assert lines, data
    return sorted(("build_id=" in line for line in lines), reverse=True)


def test_same_path_in_a_container():
    """Each mapping has the build-id of its own file, from the kernel or by synthesis; the other file of that path is not used."""
    need_root()
    need_command("unshare")
    with Folder() as folder:
        path, inner = two_programs(folder)
        inside = f"mount --bind {inner} {path} && exec {path}"
        both = f"{path}; unshare -m sh -c '{inside}'"
        record(folder / "off.data", "--no-buildid-mmap", "--", "sh", "-c", both)
        expect_same(kinds_of_mappings(folder / "off.data", path), [False, False])
        record(folder / "a.data", "--", "sh", "-c", both)
        if kinds_of_mappings(folder / "a.data", path) == [False, False]:
            raise Skip("this kernel does not tell build-ids")
        expect_same(kinds_of_mappings(folder / "a.data", path), [True, True])
        text = perfev("report", "-i", folder / "a.data").out
        expect("spin_here" in names(folder / "a.data") and "spin_in_container" not in names(folder / "a.data"), text)
        expect_in("another build-id", text)
        header = [line.split()[1] for line in perfev("dump", "--header", "-i", folder / "a.data").out.splitlines()
                  if line.endswith(str(path)) and "pid=" in line]
        expect_same(len(set(header)), 2)
        # a copy of it by build-id, as in perf's cache
        ours = run("readelf", "-n", inner).out.split("Build ID: ")[1].split()[0]
        copy = folder.path / "home/.debug/.build-id" / ours[:2] / ours[2:] / "elf"
        copy.parent.mkdir(parents=True)
        shutil.copy(inner, copy)
        found = names(folder / "a.data", env=dict(ENV, HOME=str(folder / "home")))
        expect({"spin_here", "spin_in_container"} <= found, f"{found}")
        # a file without a build-id: that of the other is not taken for it
        expect_code(run("objcopy", "--remove-section=.note.gnu.build-id", inner), 0)
        record(folder / "b.data", "--", "sh", "-c", both)
        expect_same(kinds_of_mappings(folder / "b.data", path), [True, False])
        text = perfev("report", "-i", folder / "b.data").out
        functions = {f["symbol"]: f["self"] for f in perfev("report", "--json", "-i", folder / "b.data").json()["functions"]
                     if f["module"] == str(path)}
        total = sum(functions.values())  # of both programs; the kernel has its share of a busy machine
        expect(total * 0.2 < functions["spin_here"] < total * 0.8, f"{functions}")
        expect_in("not the one that was mapped", text)
        if shutil.which("perf"):
            theirs = run("perf", "script", "--show-mmap-events", "-F", "comm,ip", "-i", folder / "a.data").out
            mapped = [line for line in theirs.splitlines() if str(path) in line and "MMAP2" in line]
            expect_same([any(f"<{one}>" in line for line in mapped) for one in sorted(set(header))], [True, True])


def test_container_that_runs_already():
    need_root()
    need_command("unshare")
    with Folder() as folder:
        path, inner = two_programs(folder)
        script = f"mount --bind {inner} {path} && while {path}; do :; done"
        child = subprocess.Popen(["unshare", "-m", "sh", "-c", script], env=ENV, stderr=subprocess.DEVNULL)
        try:
            time.sleep(0.2)
            record(folder / "a.data", "-a", "--", "sleep", "0.3")
        finally:
            child.kill()
            child.wait()
        kinds = kinds_of_mappings(folder / "a.data", path)
        if not all(kinds):
            raise Skip("this kernel does not tell build-ids")
        found = names(folder / "a.data")
        expect("spin_here" not in found, f"{found}")


CLOCK = """
#include <time.h>
int main(void)
{
	struct timespec t;
	for (int i = 0; i < 3000000; i++)
		clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_nsec == 1;
}
"""


def test_vdso_of_a_32_bit_program():
    """Its vdso is another one than that of this process; perf calls it [vdso32] too."""
    with Folder() as folder:
        (folder / "p.c").write_text(CLOCK)
        for compiler in (["i686-linux-gnu-gcc"], ["gcc", "-m32"]):
            if shutil.which(compiler[0]) and run(*compiler, "-static", "-O1", "-o", folder / "p", folder / "p.c").code == 0:
                break
        else:
            raise Skip("a compiler of 32-bit programs")
        if run(folder / "p").code:
            raise Skip("this kernel does not run them")
        record(folder / "a.data", "--", folder / "p")
        mapped = [line for line in perfev("dump", "-i", folder / "a.data").out.splitlines()
                  if '"[vdso]"' in line and int(line.split("addr=")[1].split()[0], 16) < 1 << 32]
        if not mapped:
            raise Skip("a 32-bit program has no vdso here")
        functions = perfev("report", "--json", "-i", folder / "a.data").json()["functions"]
        here = {f["symbol"]: f["self"] for f in functions if f["module"] == "[vdso32]"}
        expect(not [f for f in functions if f["module"] == "[vdso]" and f["self"]], f"{functions}")
        assert sum(here.values()) > 5, here
        if all(symbol.startswith("0x") for symbol in here):
            raise Skip("this kernel does not give the vdso of 32-bit tasks")
        assert any("gettime" in symbol for symbol in here), here


def test_servers_of_debug_files():
    """Only when asked; a folder stands for the server."""
    need_command("gcc")
    need_command("strip")
    try:
        ctypes.CDLL("libdebuginfod.so.1")
    except OSError:
        raise Skip("libdebuginfod is not there") from None
    with Folder() as folder:
        (folder / "p.c").write_text(SOURCE)
        expect(run("gcc", "-O1", "-g", "-Wl,--build-id=0x" + "ab" * 20, "p.c", "-o", "p", cwd=folder.path).code == 0, "gcc")
        file = folder.path / "server/buildid" / ("ab" * 20) / "debuginfo"
        file.parent.mkdir(parents=True)
        expect(run("objcopy", "--only-keep-debug", folder / "p", file).code == 0, "objcopy")
        expect(run("strip", folder / "p").code == 0, "strip")
        record(folder / "a.data", "-g", "--", folder / "p")
        environment = dict(ENV, DEBUGINFOD_URLS=f"file://{folder.path}/server/", DEBUGINFOD_CACHE_PATH=str(folder / "cache"))
        expect("outer" not in names(folder / "a.data", env=environment), "fetched without being asked")
        expect(not (folder / "cache").exists(), "a cache without being asked")
        report = perfev("report", "--debuginfod", "--json", "-i", folder / "a.data", env=environment).json()
        found = {function["symbol"] for function in report["functions"]}
        expect({"inner", "outer"} <= found, f"{found}")
