# SPDX-License-Identifier: MIT
"""Recordings with registers and stacks: the stacks of programs that are known, whole; the text of perf script; cut stacks."""
import json
import platform
import re

from cli import Folder, Skip, expect, expect_code, expect_in, expect_same, expect_one_line, need_command, perfev, run, stats

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


def expect(found, wanted):
    assert found == wanted, f"{found}, not {wanted}"


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
            expect_same(len(stacks), 1)
            frames = list(stacks)[0]
            expect_same(frames[-depth - 2:], ("main",) + ("down",) * depth + ("spin",))
            assert sum(stacks.values()) > 5, stacks


def test_debug_frame_only():
    with Folder() as folder:
        path = program(folder, 16, "-g", "-fno-asynchronous-unwind-tables")
        stacks, _ = stacks_of(record(folder, path, "dwarf", 3))
        expect_same([frames[-5:] for frames in stacks], [("main", "down", "down", "down", "spin")])


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
        expect_same(sorted(stacks), sorted(whole))
        expect_same([frames[-22:] for frames in stacks], [("main",) + ("down",) * 20 + ("spin",)])
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
        expect_same([set(frames[1:-1]) for frames in stacks], [{"down"}])
        expect_same(done.err.count("go on beyond the bytes"), 1)
        stacks, done = stacks_of(record(folder, path, "dwarf,65528", 10))
        expect_same([frames[-12:] for frames in stacks], [("main",) + ("down",) * 10 + ("spin",)])
        assert "beyond" not in done.err, done.err


def test_deep():
    """U6: 5,000 calls do not fit; what was recorded is whole, and no frame is made up behind it."""
    with Folder() as folder:
        stacks, done = stacks_of(record(folder, program(folder), "dwarf,65528", 5000))
        for frames in stacks:
            expect_same(set(frames[1:-1]), {"down"})
            assert len(frames) > 500, len(frames)
        expect_same(done.err.count("go on beyond the bytes"), 1)


def test_frame_pointers_copy_no_stack():
    """U7, U17: the kernel follows them, and some bytes a frame are all that is recorded."""
    with Folder() as folder:
        path = program(folder, 16, "-fno-omit-frame-pointer")
        sizes = {}
        for how in ("fp", "dwarf"):
            data = record(folder, path, how, 3)
            assert stacks_of(data)[0], how
            sizes[how] = data.stat().st_size / max(1, stats(data)["SAMPLE"])
        assert sizes["fp"] < 1000 < 8000 < sizes["dwarf"], sizes
        for frames in stacks_of(data)[0]:
            expect_same([name for name in frames if name in ("main", "spin")], ["main", "spin"])


def test_calls_of_the_cpu_that_it_has_not():
    """U22: said in one line, where the machine has no such stack."""
    done = perfev("record", "-e", "cpu-clock", "--call-graph", "lbr", "-o", "/dev/null", "--", "true")
    if done.code:
        expect_one_line(done.err)


# Between functions that have call frame information: code that has none, with a frame pointer, and with another use of its register;
# and code made at run time, which has none either
WITHOUT = r"""
#include <string.h>
#include <sys/mman.h>
volatile unsigned long n;
typedef void function(void (*)(void));
function with_pointer, without_pointer, leaf_only;
__asm__(".text\n"
	".type with_pointer,@function\nwith_pointer: push %rbp\n mov %rsp,%rbp\n call *%rdi\n pop %rbp\n ret\n.size with_pointer,.-with_pointer\n"
	".type without_pointer,@function\nwithout_pointer: push %rbp\n xor %ebp,%ebp\n call *%rdi\n pop %rbp\n ret\n"
	".size without_pointer,.-without_pointer\n"
	".type leaf_only,@function\nleaf_only: mov $100000000,%eax\n1: dec %eax\n jnz 1b\n ret\n.size leaf_only,.-leaf_only\n");
static const unsigned char made[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
__attribute__((noinline)) void spin(void) { for (int i = 0; i < 100000000; i++) n += i; }
__attribute__((noinline)) int outer(function *f) { f(spin); return n == 1; }
int main(int argc, char **argv)
{
	void *page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	function *f = with_pointer;
	if (argc > 1 && argv[1][0] == 'n') f = without_pointer;
	if (argc > 1 && argv[1][0] == 'l') f = leaf_only;
	if (argc > 1 && argv[1][0] == 'm') { memcpy(page, made, sizeof(made)); memcpy(&f, &page, sizeof(f)); }
	return outer(f);
}
"""


def test_code_without_information():
    """U3, U11, U14, U15: the frame pointer leads through it, and the frames behind it are marked; without, the stack ends there, and says so."""
    need_command("gcc")
    if platform.machine() != "x86_64":
        raise Skip("the code is x86-64's")
    with Folder() as folder:
        (folder / "w.c").write_text(WITHOUT)
        for option in ("-fomit-frame-pointer", "-fno-omit-frame-pointer"):
            expect_code(run("gcc", "-O2", option, "-fno-optimize-sibling-calls", folder / "w.c", "-o", folder / "w"), 0)
            for how, wanted, end in (("pointer", ("main", "outer", "with_pointer", "spin"), "complete"),
                                     ("none", ("without_pointer", "spin"), "no-rule"),
                                     ("made", ("main", "outer", None, "spin"), "complete")):
                data = record(folder, folder / "w", "dwarf", how)
                stacks, _ = stacks_of(data)
                frames = max(stacks.items(), key=lambda item: item[1])[0][-len(wanted):]
                expect_same([a if b else None for a, b in zip(frames, wanted)], list(wanted))
                ends = re.findall(r'"stack_end":"([\w-]+)"', perfev("script", "--json", "-i", data).out)
                expect_same(max(set(ends), key=ends.count), end)
        # a function without a frame is left out with its caller's place; who called that is known
        data = record(folder, folder / "w", "dwarf", "leaf")
        frames = [line.rsplit(" ", 1)[0].split(";") for line in perfev("report", "-i", data, "--folded").out.splitlines()]
        leaf = [stack for stack in frames if stack[-1] == "leaf_only"]
        assert leaf and leaf[0][-2] == "main", leaf


def test_many_functions():
    """U18: 50,000 functions, and no index of them; the one that runs is in the middle."""
    need_command("gcc")
    if platform.machine() != "x86_64":
        raise Skip("the code is x86-64's")
    with Folder() as folder:
        (folder / "f.s").write_text(".text\n" + "".join(
            f".globl f{i}\n.type f{i},@function\nf{i}: .cfi_startproc\n sub ${i % 50 * 16 + 8},%rsp\n .cfi_adjust_cfa_offset {i % 50 * 16 + 8}\n"
            f" call *%rdi\n add ${i % 50 * 16 + 8},%rsp\n .cfi_adjust_cfa_offset -{i % 50 * 16 + 8}\n ret\n.cfi_endproc\n.size f{i},.-f{i}\n"
            for i in range(50000)) + ".section .note.GNU-stack\n")
        (folder / "m.c").write_text("volatile unsigned long n;\nvoid f25049(void (*)(void));\n"
                                    "__attribute__((noinline)) void spin(void) { for (int i = 0; i < 100000000; i++) n += i; }\n"
                                    "int main(void) { f25049(spin); return n == 1; }\n")
        expect_code(run("gcc", "-O2", "-Wl,--no-eh-frame-hdr", folder / "m.c", folder / "f.s", "-o", folder / "m"), 0)
        stacks, _ = stacks_of(record(folder, folder / "m", "dwarf"))
        frames = max(stacks.items(), key=lambda item: item[1])[0]
        expect_same(frames[-3:], ("main", "f25049", "spin"))


KNOWN = r"""
#include <alloca.h>
#include <signal.h>
#include <string.h>
#include <time.h>
volatile unsigned long n;
void through(void (*)(void));
int tiny(int);
__attribute__((noinline)) void spin(void) { for (int i = 0; i < 3000000; i++) n += i; }
__attribute__((noinline)) int down(int depth) { volatile int r; if (depth == 1) { spin(); return 1; } r = down(depth - 1); return r + 1; }
__attribute__((noinline)) int with_alloca(int size) { char *room = alloca(size); memset(room, 1, size); spin(); return room[size / 2]; }
__attribute__((noinline)) int aligned(int k) { volatile char room[64] __attribute__((aligned(128))); room[k % 64] = 1; spin(); return room[k % 64]; }
__attribute__((noinline)) int behind(int k) { spin(); n += k; return 2; }
__attribute__((noinline, optimize("optimize-sibling-calls"))) int tail(int k) { n++; return behind(k + 1); }
__attribute__((noinline)) int stubs(void) { int r = 0; for (int i = 0; i < 1000000; i++) r += tiny(i); return r; }
static void handler(int s) { (void)s; spin(); n++; }
__attribute__((noinline)) int interrupted(void) { raise(SIGUSR1); return n == 1; }
int main(void)
{
	signal(SIGUSR1, handler);
	for (int i = 1; i <= 200; i++) n += down(i);
	for (int i = 0; i < 30; i++) {
		n += with_alloca(i * 77 + 1) + aligned(i) + tail(i) + stubs() + interrupted();
		through(spin);
	}
	return 0;
}
"""
KNOWN_LIBRARY = "void through(void (*f)(void)) { f(); __asm__ volatile(\"\"); } int tiny(int k) { return k + 1; }"


INLINED = r"""
volatile unsigned long n;
static inline __attribute__((always_inline)) void leaf(void) { for (int i = 0; i < 100000000; i++) n += i; }
static inline __attribute__((always_inline)) void middle(void) { leaf(); }
__attribute__((noinline)) void outer(void) { middle(); }
int main(void) { outer(); return n == 7; }
"""


def test_script_inlined():
    need_command("cc")
    with Folder() as folder:
        path = folder.path / "program"
        (folder.path / "program.c").write_text(INLINED)
        expect_code(run("cc", "-O2", "-g", "-o", path, folder.path / "program.c"), 0)
        data = record(folder, path, "dwarf")
        done = perfev("script", "-i", data, "-F", "ip,sym,symoff,dso")
        expect_code(done, 0)
        tops = [block.strip("\n").splitlines()[:3] for block in done.out.split("\n\n") if " outer+0x" in block]
        assert len(tops) > 3, f"{len(tops)} stacks in outer: {done.out[:300]}"
        whole = [top for top in tops if " leaf+0x" in top[0]]
        assert len(whole) * 2 > len(tops), tops
        for top in whole:
            found = [re.fullmatch(r"\t +([0-9a-f]+) (\w+)\+0x([0-9a-f]+) \((.*)\)", line).groups() for line in top]
            expect([(name, file) for _, name, _, file in found],
                   [("leaf", "inlined"), ("middle", "inlined"), ("outer", str(path))])
            expect(len({(ip, offset) for ip, _, offset, _ in found}), 1)
        bare = perfev("script", "-i", data, "-F", "ip,sym,symoff")
        expect(bare.out.count(" (inlined)"), done.out.count(" (inlined)"))
        without = perfev("script", "-i", data, "-F", "ip,sym,symoff,dso", "--no-inline")
        expect(without.out, "".join(line for line in done.out.splitlines(True) if not line.endswith(" (inlined)\n")))
        same_as_json(data, done.out)


def test_known_stacks():
    """Each stack exactly: recursion of 1 to 200, alloca, aligned frames, a call that is the last thing, stubs of libraries, a signal."""
    need_command("gcc")
    with Folder() as folder:
        (folder / "k.c").write_text(KNOWN)
        (folder / "l.c").write_text(KNOWN_LIBRARY)
        expect_code(run("gcc", "-O2", "-shared", "-fPIC", folder / "l.c", "-o", folder / "libk.so"), 0)
        expect_code(run("gcc", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-Wl,-z,lazy", folder / "k.c", folder / "libk.so",
                        f"-Wl,-rpath,{folder.path}", "-o", folder / "k"), 0)
        data = record(folder, folder / "k", "dwarf,32768")
        done = perfev("report", "-i", data, "--folded")
        seen = {}
        for line in done.out.splitlines():
            frames = line.rsplit(" ", 1)[0].split(";")
            if "main" in frames:
                below = tuple(frames[frames.index("main") + 1:])
                seen[below] = seen.get(below, 0) + int(line.rsplit(" ", 1)[1])
        depths = {len(stack) - 1 for stack in seen if stack[-1:] == ("spin",) and set(stack[:-1]) == {"down"}}
        assert depths <= set(range(1, 201)) and len(depths) > 40, sorted(depths)
        spins = {tuple(name for name in stack if not re.match(r"_*(restore|kernel|raise|pthread_kill|.*signal)", name))
                 for stack in seen if stack[-1:] == ("spin",) and "down" not in stack}
        expect(spins, {("with_alloca", "spin"), ("aligned", "spin"), ("behind", "spin"), ("interrupted", "handler", "spin"), ("through", "spin")})
        stubs = {stack for stack in seen if stack[-1].startswith("tiny")}
        assert stubs and stubs <= {("stubs", "tiny"), ("stubs", "tiny@plt")}, stubs


def test_json():
    with Folder() as folder:
        data = record(folder, program(folder), "dwarf", 5)
        done = perfev("script", "--json", "-i", data)
        expect_in('"callchain":[{"ip":', done.out)
        expect_in('"stack_end":"complete"', done.out)
        line = next(line for line in done.out.splitlines() if '"symbol":"spin"' in line)
        expect_same(re.findall(r'"symbol":"(\w+)"', line.split('"callchain"')[1])[:7], ["spin"] + ["down"] * 5 + ["main"])


def blocks(text):
    return [block.split("\n") for block in text.rstrip().split("\n\n")]


def test_text_of_perf():
    """Frame by frame as perf prints them, as far as it gets: libunwind does not always reach the end, and leaves out callers
    while the loader binds functions; so in the program itself."""
    need_command("perf")
    with Folder() as folder:
        path = program(folder)
        recorded = run("perf", "record", "-q", "-e", "cpu-clock:u", "-F", "2000", "--call-graph", "dwarf", "-o",
                       folder.path / "p.data", path, "40", timeout=60)
        expect_code(recorded, 0)
        for data in (folder.path / "p.data", record(folder, path, "dwarf", 40)):
            theirs = blocks(run("perf", "script", "--no-inline", "-i", data).out)
            ours = blocks(perfev("script", "-i", data).out)
            expect_same(len(ours), len(theirs))
            deep = 0
            for a, b in zip(ours, theirs):
                b = [line for line in b if "ffffffffffffffff" not in line]
                if len(b) < 2 or str(path) not in b[1]:
                    continue
                expect_same(a[:len(b)], b)
                deep += len(b) > 40
            assert deep, [len(b) for b in theirs]


def test_what_is_refused():
    for how in ("dwarf,0", "dwarf,70000", "dwarf,", "dwarf,1x", "dwarves", "lbr,3"):
        done = perfev("record", "--call-graph", how, "--", "true")
        expect_code(done, 2)
        expect_in("--call-graph", done.err)


def same_as_json(data, text):
    """The chains of script --json have the frames of the text, with those that are inlined."""
    chains = [json.loads(line)["callchain"] for line in perfev("script", "-i", data, "--json").out.splitlines()]
    blocks = [block.strip("\n").splitlines() for block in text.rstrip("\n").split("\n\n")]
    expect(len(chains), len(blocks))
    for chain, lines in zip(chains, blocks):
        found = [re.fullmatch(r"\t +[0-9a-f]+ (\[unknown\]|\S+?)(?:\+0x([0-9a-f]+))? \((.*)\)", line).groups() for line in lines]
        expect([(f["symbol"] or "[unknown]", f.get("inlined", False)) for f in chain], [(name, file == "inlined") for name, _, file in found])
        expect([f["offset"] for f in chain if f["symbol"]], [int(offset, 16) for _, offset, _ in found if offset])
    assert any(f.get("inlined") for chain in chains for f in chain), "nothing is inlined"
    plain = perfev("script", "-i", data, "--json", "--no-inline").out
    assert "inlined" not in plain, plain[:300]
