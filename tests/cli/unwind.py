# SPDX-License-Identifier: MIT
"""Recordings with registers and stacks: the stacks of programs that are known, whole; the text of perf script; cut stacks."""
import re

from cli import Folder, Skip, expect, expect_code, expect_in, need_command, perfev, run

# main calls down(depth), which calls itself, and spins at the end; no frame pointers
PROGRAM = r"""
#include <stdlib.h>
volatile unsigned long n;
__attribute__((noinline)) void spin(void) { for (int i = 0; i < 20000000; i++) n += i; }
__attribute__((noinline)) int down(int depth)
{
	volatile char room[ROOM];
	room[depth % ROOM] = 1;
	if (depth == 1) { spin(); return room[1]; }
	return down(depth - 1) + room[depth % ROOM];
}
int main(int argc, char **argv) { return down(atoi(argv[argc - 1])) == 7; }
"""


def program(folder, room=16, *options):
    need_command("cc")
    path = folder.path / "program"
    (folder.path / "program.c").write_text(PROGRAM.replace("ROOM", str(room)))
    expect_code(run("cc", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", *options, "-o", path,
                    folder.path / "program.c"), 0)
    return path


def record(folder, path, how, *words):
    done = perfev("record", "-e", "cpu-clock:u", "-F", "2000", "--call-graph", how, "-o", folder.path / "f.data", "--", path,
                  *words)
    expect_code(done, 0)
    return folder.path / "f.data"


def stacks_of(path):
    """Of folded stacks: the samples in spin() by what was above it."""
    done = perfev("report", "-i", path, "--folded")
    expect_code(done, 0)
    stacks = {}
    for line in done.out.splitlines():
        frames, count = line.rsplit(" ", 1)
        frames = frames.split(";")
        if frames[-1] == "spin":
            stacks[tuple(frames)] = int(count)
    return stacks, done


def test_recursion():
    with Folder() as folder:
        path = program(folder)
        for depth in (1, 2, 17, 200):
            stacks, _ = stacks_of(record(folder, path, "dwarf,16384", depth))
            expect(len(stacks), 1)
            frames = list(stacks)[0]
            expect(frames[-depth - 2:], ("main",) + ("down",) * depth + ("spin",))
            assert sum(stacks.values()) > 5, stacks


def test_debug_frame_only():
    with Folder() as folder:
        path = program(folder, 16, "-g", "-fno-asynchronous-unwind-tables")
        stacks, _ = stacks_of(record(folder, path, "dwarf", 3))
        expect([frames[-5:] for frames in stacks], [("main", "down", "down", "down", "spin")])


def test_sframe_only():
    """Programs with .sframe and nothing else have the stacks that they have with .eh_frame."""
    need_command("objcopy")
    with Folder() as folder:
        if run("cc", "-Wa,--gsframe", "-c", "-x", "c", "/dev/null", "-o", folder.path / "empty.o").code:
            raise Skip("an assembler that makes SFrame sections")
        path = program(folder, 16, "-Wa,--gsframe")
        whole, _ = stacks_of(record(folder, path, "dwarf,16384", 20))
        expect_code(run("objcopy", "--remove-section", ".eh_frame", "--remove-section", ".eh_frame_hdr", path), 0)
        stacks, _ = stacks_of(record(folder, path, "dwarf,16384", 20))
        expect(sorted(stacks), sorted(whole))
        expect([frames[-22:] for frames in stacks], [("main",) + ("down",) * 20 + ("spin",)])
        image = bytearray(path.read_bytes())  # without sections it is found by its segment
        image[0x28:0x30] = bytes(8)
        image[0x3c:0x40] = bytes(4)
        path.write_bytes(image)
        done = perfev("report", "-i", record(folder, path, "dwarf,16384", 30), "--folded")
        longest = max(done.out.splitlines(), key=len)
        assert longest.count(";") >= 33, longest


def test_frame_pointers_where_there_is_nothing_else():
    with Folder() as folder:
        path = program(folder, 16, "-fno-asynchronous-unwind-tables", "-fno-omit-frame-pointer")
        stacks, _ = stacks_of(record(folder, path, "dwarf", 3))
        assert stacks and all(frames[-4:-1] == ("down",) * 3 or frames[-3:-1] == ("down",) * 2 for frames in stacks), stacks


def test_stripped():
    with Folder() as folder:
        path = program(folder, 16, "-s")
        done = perfev("report", "-i", record(folder, path, "dwarf", 30), "--folded")
        longest = max(done.out.splitlines(), key=len)
        assert longest.count(";") >= 33, longest


def test_cut():
    """The stack is longer than what was recorded: that is said once, and what there is is right."""
    with Folder() as folder:
        path = program(folder, 4000)
        stacks, done = stacks_of(record(folder, path, "dwarf", 20))
        expect([set(frames[1:-1]) for frames in stacks], [{"down"}])
        expect(done.err.count("go on beyond the bytes"), 1)
        stacks, done = stacks_of(record(folder, path, "dwarf,65528", 10))
        expect([frames[-12:] for frames in stacks], [("main",) + ("down",) * 10 + ("spin",)])
        assert "beyond" not in done.err, done.err


def test_json():
    with Folder() as folder:
        data = record(folder, program(folder), "dwarf", 5)
        done = perfev("script", "--json", "-i", data)
        expect_in('"callchain":[{"ip":', done.out)
        expect_in('"stack_end":"complete"', done.out)
        line = next(line for line in done.out.splitlines() if '"symbol":"spin"' in line)
        expect(re.findall(r'"symbol":"(\w+)"', line.split('"callchain"')[1])[:7], ["spin"] + ["down"] * 5 + ["main"])


def blocks(text):
    return [block.split("\n") for block in text.rstrip().split("\n\n")]


def test_text_of_perf():
    """Frame by frame as perf prints them, as far as it gets: libunwind does not always reach the end."""
    need_command("perf")
    with Folder() as folder:
        path = program(folder)
        recorded = run("perf", "record", "-q", "-e", "cpu-clock:u", "-F", "2000", "--call-graph", "dwarf", "-o",
                       folder.path / "p.data", path, "40", timeout=60)
        expect_code(recorded, 0)
        for data in (folder.path / "p.data", record(folder, path, "dwarf", 40)):
            theirs = blocks(run("perf", "script", "--no-inline", "-i", data).out)
            ours = blocks(perfev("script", "-i", data).out)
            expect(len(ours), len(theirs))
            deep = 0
            for a, b in zip(ours, theirs):
                b = [line for line in b if "ffffffffffffffff" not in line]
                expect(a[:len(b)], b)
                deep += len(b) > 40
            assert deep, [len(b) for b in theirs]


def test_what_is_refused():
    for how in ("dwarf,0", "dwarf,70000", "dwarf,", "dwarf,1x", "dwarves", "lbr,3"):
        done = perfev("record", "--call-graph", how, "--", "true")
        expect_code(done, 2)
        expect_in("--call-graph", done.err)
