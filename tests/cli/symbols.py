# SPDX-License-Identifier: MIT
"""Where the files of a recording are found: perf's cache, other mount namespaces, split debug information."""
import ctypes
import os
import shutil
import subprocess
import time

from cli import BURN, ENV, Folder, Skip, expect, expect_code, expect_in, need_command, need_root, perfev, run

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
        expect("burn_50" not in names(folder / "a.data"), "a file that is gone")
        expect_in("No such file", perfev("report", "-i", folder / "a.data").out)


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
