# SPDX-License-Identifier: MIT
"""Recordings that nobody recorded: one event of sample_type TYPE | more, a process 10 with a file /bin/a, and the samples wanted."""
import struct

IP, TID, TIME, ADDR, CALLCHAIN, CPU, BRANCH_STACK = 1, 2, 4, 8, 0x20, 0x80, 0x800
REGS_USER, STACK_USER, DATA_SRC, REGS_INTR, WEIGHT = 1 << 12, 1 << 13, 1 << 15, 1 << 18, 1 << 14
DATA_PAGE_SIZE, CODE_PAGE_SIZE, WEIGHT_STRUCT = 1 << 22, 1 << 23, 1 << 24
TYPE = IP | TID | TIME | CPU
USER, KERNEL, HYPERVISOR, GUEST_KERNEL, GUEST_USER = 2, 1, 3, 4, 5  # of misc
MMAP, COMM, SAMPLE = 1, 3, 9
BASE = 0x400000  # where /bin/a is


def words(*values):
    return struct.pack(f"<{len(values)}Q", *(value & 2**64 - 1 for value in values))


def name(text):
    data = text.encode() + b"\0"
    return data + bytes(-len(data) % 8)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def sample(number, body=b"", misc=USER, ip=BASE + 16, tid=10):
    """With what stands behind its CPU; number microseconds after the first second."""
    return record(SAMPLE, misc, words(ip) + struct.pack("<II", 10, tid) + words(10**9 + 1000 * number) + struct.pack("<II", 1, 0) + body)


def write(path, samples, more=0, kind=1, arch=None, **members):
    """members: branch_sample_type, sample_regs_user, sample_regs_intr of the event, whose type is kind."""
    tail = struct.pack("<IIQII", 10, 10, 10**9, 1, 0)
    data = record(COMM, 0, struct.pack("<II", 10, 10) + name("prog") + tail)
    data += record(MMAP, USER, struct.pack("<IIQQQ", 10, 10, BASE, 0x1000, 0) + name("/bin/a") + tail) + b"".join(samples)
    attr = struct.pack("<IIQQQQQ", kind, 112, 0, 1, TYPE | more, 0, 1 << 18 | 1 << 8 | 1 << 9) + bytes(24)
    attr += words(members.get("branch_sample_type", 0), members.get("sample_regs_user", 0), members.get("sample_stack_user", 0),
                  members.get("sample_regs_intr", 0), 0)
    at = 104 + 8 + 128
    header = b"PERFILE2" + struct.pack("<8Q4Q", 104, 128, 112, 128, at, len(data), 0, 0, 1 << 6 if arch else 0, 0, 0, 0)
    section = struct.pack("<I64s", 64, arch.encode()) if arch else b""
    table = words(at + len(data) + 16, len(section)) if arch else b""
    path.write_bytes(header + words(1) + attr + words(104, 8) + data + table + section)
