# SPDX-License-Identifier: MIT
"""perfev script of samples that this machine cannot take: the text is perf's, where there is perf."""
import random
import shutil
import struct

import made
from cli import Folder, expect, expect_code, expect_in, expect_same, perfev, run

THREAD_MAP, CPU_MAP, STAT, STAT_ROUND = 73, 74, 76, 77


def text_of(folder, path, *options):
    """What perfev prints, which is what perf prints."""
    ours = perfev("script", "-i", path, "--symfs", folder.path, *options)
    expect_code(ours, 0)
    if shutil.which("perf"):
        theirs = run("perf", "script", "-i", path, "--symfs", folder.path, *options)
        for line, other in zip(ours.out.splitlines(), theirs.out.splitlines()):
            expect(line == other, f"perf has {other!r} and not {line!r}")
        expect(ours.out == theirs.out, f"{len(ours.out)} bytes, perf {len(theirs.out)}: {options}")
    return ours.out


def word(op=0, level=0, snoop=0, lock=0, tlb=0, number=0, remote=0, snoopx=0, blocked=0, hops=0):
    return (op | level << 5 | snoop << 19 | lock << 24 | tlb << 26 | number << 33 | remote << 37 | snoopx << 38 |
            blocked << 40 | hops << 43)


def rare(bits):
    return random.getrandbits(bits) & random.getrandbits(bits)


def test_memory_accesses():
    some = [(word(op=2, level=2 | 8, snoop=2, tlb=2 | 8 | 16), "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A"),
            (0, "|OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A"),
            (word(op=4, remote=1, hops=1, number=3, lock=2, blocked=6, snoopx=2),
             "|OP STORE|LVL Remote core, same node L3|SNP Peer|TLB N/A|LCK Yes|BLK  Data Addr"),
            (word(op=1, level=0x3fff, tlb=127), "|OP N/A|LVL N/A or L1 or LFB/MAB or L2 or L3 or Local RAM or Remote RAM (1 hop) or ")]
    more = [word(op=1 << random.randrange(5), level=random.choice((0, 1 << random.randrange(14), rare(14))), snoop=rare(5),
                 lock=random.getrandbits(2), tlb=rare(7), number=random.choice((0, random.getrandbits(4))),
                 remote=random.getrandbits(1), snoopx=random.getrandbits(2), blocked=random.getrandbits(3),
                 hops=random.choice((0, random.randrange(5)))) for _ in range(2000)]
    with Folder() as folder:
        path = folder / "a.data"
        made.write(path, [made.sample(i, made.words(w)) for i, w in enumerate([w for w, _ in some] + more)], made.DATA_SRC, kind=4)
        lines = text_of(folder, path, "-F", "data_src").splitlines()
        for line, (value, text) in zip(lines, some):
            expect_same(line.rstrip(), f"{value:16x} {text}"[:99].rstrip())
        made.write(path, [made.sample(i, made.words(50, w)) for i, w in enumerate(more[:50])], made.DATA_SRC | made.WEIGHT, kind=4)
        text_of(folder, path)


def test_raw_events():
    """What is printed of them when nothing is asked for, and sizes of pages."""
    with Folder() as folder:
        path = folder / "a.data"
        samples = [made.sample(i, made.words(0x1000 + i, 40 | 5 << 32 | 7 << 48, 0, size, 4096))
                   for i, size in enumerate((0, 512, 4096, 2**16, 2**20, 2**21, 2**30, 2**31))]
        made.write(path, samples, made.ADDR | made.WEIGHT_STRUCT | made.DATA_SRC | made.DATA_PAGE_SIZE | made.CODE_PAGE_SIZE, kind=4)
        lines = text_of(folder, path).splitlines()
        expect_in(" 40               5 ", lines[0])
        expect_in('"weight":40,"ins_lat":5,"retire_lat":7', perfev("script", "-i", path, "--json").out)
        expect_same([line.split()[-2] for line in lines], ["N/A", "512B", "4K", "64K", "1024K", "2M", "1024M", "2G"])


def test_threads_that_no_record_names():
    with Folder() as folder:
        path = folder / "a.data"
        made.write(path, [made.sample(0, tid=10), made.sample(1, tid=11)])
        expect_same([line.split()[0] for line in text_of(folder, path).splitlines()], ["prog", ":11"])
        expect_same([line.split(";")[0] for line in perfev("report", "--folded", "-i", path).out.splitlines()], ["prog"])


def test_lines_of_files_that_are_not_there():
    with Folder() as folder:
        path = folder / "a.data"
        made.write(path, [made.sample(0), made.sample(1, ip=5)])
        done = perfev("script", "-i", path, "-F", "ip,sym,srcline")  # perf's is the same, but when its addr2line ends too early
        expect_same(done.out.splitlines(), ["           400010 [unknown]", "  a[10]", "                5 [unknown]"])


def test_guests():
    with Folder() as folder:
        path = folder / "a.data"
        modes = (made.GUEST_USER, made.GUEST_KERNEL, made.HYPERVISOR, made.KERNEL, made.USER, 0)
        made.write(path, [made.sample(i, misc=misc) for i, misc in enumerate(modes)])
        expect_same(len(text_of(folder, path).splitlines()), 4)  # what guests ran is not known here


def test_chains_of_several_contexts():
    chains = ([], [-512], [made.BASE + 1], [-128, 2**64 - 2**31 + 1, -512, made.BASE + 32], [-512, made.BASE + 1, made.BASE + 2],
              [-2048, 5, -2176, 6, -2560, 7, -512, made.BASE + 1])
    with Folder() as folder:
        path = folder / "a.data"
        made.write(path, [made.sample(i, made.words(len(chain), *chain)) for i, chain in enumerate(chains)], made.CALLCHAIN)
        text_of(folder, path)


def test_stacks_without_chains():
    """Events that were recorded with a stack, and without chains: perf has none, JSON has what can be made of it."""
    with Folder() as folder:
        path = folder / "a.data"
        stack = made.words(2, *range(0x1000, 0x1000 + 20), 16) + bytes(16) + made.words(16)
        made.write(path, [made.sample(0, stack)], made.REGS_USER | made.STACK_USER, arch="x86_64", sample_regs_user=0xff0fff,
                   sample_stack_user=16)
        expect_same(text_of(folder, path).split()[-3:], ["400010", "[unknown]", "(/bin/a)"])
        expect_in('"stack_end"', perfev("script", "-i", path, "--json").out)


def test_branch_stacks():
    stacks = ([(1, 2, 0)], [(made.BASE + 16, made.BASE + 32, 1), (made.BASE + 48, made.BASE + 64, 2 | 4)],
              [(made.BASE + 16, made.BASE + 32, 1 | 5 << 4 | 3 << 20 | 1 << 24)], [])
    with Folder() as folder:
        path = folder / "a.data"
        for kinds, index in ((1, ()), (1 | 1 << 17, (7,))):
            made.write(path, [made.sample(i, made.words(len(stack), *index, *(n for branch in stack for n in branch)))
                              for i, stack in enumerate(stacks)], made.BRANCH_STACK, branch_sample_type=kinds)
            for fields in ("brstack,ip", "brstacksym,ip", "brstackoff,ip"):
                text_of(folder, path, "-F", fields)


def test_branches_between_user_and_kernel():
    """The sample is of the one, and an end of a branch of the other; where the kernel is mapped, and where it is not said to be."""
    kernel = 2**64 - 2**31 + 2**24
    mapped = made.record(made.MMAP, made.KERNEL, struct.pack("<IIQQQ", 2**32 - 1, 0, kernel, 0x1000000, kernel) +
                         made.name("[kernel.kallsyms]_text") + struct.pack("<IIQII", 10, 10, 10**9, 1, 0))
    with Folder() as folder:
        path = folder / "a.data"
        for before in ([], [mapped]):
            samples = [made.sample(i, made.words(1, made.BASE + 16, kernel + 32, 1), misc=misc, ip=ip)
                       for i, (misc, ip) in enumerate(((made.USER, made.BASE + 16), (made.KERNEL, kernel + 32)))]
            made.write(path, before + samples, made.BRANCH_STACK, branch_sample_type=1)
            for fields in ("brstack,dso", "brstacksym,dso", "brstackoff,dso", "brstack,ip,sym,dso"):
                text_of(folder, path, "-F", fields)


def test_registers():
    with Folder() as folder:
        path = folder / "a.data"
        for arch, mask in (("armv7l", 0xffff), ("aarch64", 2**33 - 1), ("ppc64le", 2**32 - 1), ("s390x", 2**32 - 1), ("i686", 0x1ff),
                           ("x86_64", 0xff0fff)):
            count = mask.bit_count()
            samples = [made.sample(abi, made.words(abi, *range(100, 100 + count), abi, *range(200, 200 + count))) for abi in (1, 2)]
            samples.append(made.sample(3, made.words(0, 0)))
            made.write(path, samples, made.REGS_USER | made.REGS_INTR, arch=arch, sample_regs_user=mask, sample_regs_intr=mask)
            text_of(folder, path, "-F", "ip,uregs,iregs")


def test_too_many_counts():
    """Of 2,500 threads on each of 2,000 CPUs, and of one less than are kept at once."""
    with Folder() as folder:
        path = folder / "a.data"
        for cpus, code in ((2000, 1), (1677, 0)):
            threads = made.record(THREAD_MAP, 0, made.words(2500) + b"".join(struct.pack("<q16s", tid, b"t") for tid in range(2500)))
            on = made.record(CPU_MAP, 0, struct.pack("<HBBHH", 2, 0, 0, 0, cpus - 1))
            made.write(path, [threads, on, made.record(STAT, 0, struct.pack("<QIIQQQ", 1, 5, 7, 99, 100, 100)),
                              made.record(STAT_ROUND, 0, made.words(1, 1000))])
            done = perfev("script", "-i", path)
            expect_code(done, code)
            if code:
                expect_in(f"1 events of 2500 threads on {cpus} CPUs are more than the 4194304 counts", done.err)
            else:
                expect_same([line.split()[:3] for line in done.out.splitlines() if line.split()[2] == "99"], [["5", "7", "99"]])
