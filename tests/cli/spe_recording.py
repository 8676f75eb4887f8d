# SPDX-License-Identifier: MIT
"""Recordings of Arm SPE, made up, as perf writes them: a record consists of packets (Arm Architecture Reference Manual, "Statistical
Profiling Extension"), what is mapped and who runs is in other records."""
import random
import struct

SAMPLE_TYPE = 0x1 | 0x2 | 0x4 | 0x80 | 0x10000  # IP TID TIME CPU IDENTIFIER
PMU = 9

def rec(kind, body, misc=0):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body

def text(s):
    b = s.encode() + b"\0"
    return b + bytes(-len(b) % 8)

def pkt(header, payload, size):
    return bytes([header]) + payload.to_bytes(size, "little")

def spe_records(rng, count, start, step, context, kernel):
    out = b""
    ends = []
    t = start
    for i in range(count):
        ip = (0x400000 + rng.randrange(0x1000) * 4) if not kernel or rng.random() < .6 else 0xffff800008000000 + rng.randrange(0x1000) * 4
        el = 0 if ip < 1 << 48 else rng.choice([1, 2])
        out += pkt(0xb0, (ip & ((1 << 56) - 1)) | el << 61 | 1 << 63, 8)
        cls = rng.randrange(4)
        if cls < 2:
            out += pkt(0x49, rng.choice([0, 1, 4, 8, 0x10]), 1)
            va = rng.choice([0x7fff12345678, 0xffff000012345678, 0x0b00aaaabbbb0008]) + rng.randrange(4096)
            out += pkt(0xb2, va, 8)
            if rng.random() < .5:
                out += pkt(0xb3, (0x80001000 + rng.randrange(1 << 20)) | 1 << 63, 8)
        elif cls == 2:
            out += pkt(0x4a, 1, 1)
            out += pkt(0xb1, (0x400000 + rng.randrange(0x1000) * 4) | 1 << 63, 8)
        else:
            out += pkt(0x48, 0, 1)
        out += pkt(0x98, rng.randrange(500), 2)
        out += pkt(0x52, rng.randrange(1 << 16), 2)
        if rng.random() < .7:
            out += pkt(0x43, rng.choice([0, 8, 9, 10, 11, 12, 13, 14]), 1)
        if context:
            out += pkt(0x64, rng.choice(context), 4)
        if rng.random() < .1:
            out += bytes(rng.randrange(1, 9))
        if step:
            t += rng.randrange(step)
            out += pkt(0x71, t, 8)
        else:
            out += b"\x01"
        ends.append(len(out))
    return out, ends[count // 2]

def recording(path, seed, cpus=2, context=(), timed=True, kernel=True, midr="0x00000000410fd0c0", per_thread=False, switches=False, conv=True, phys=True):
    rng = random.Random(seed)
    st = SAMPLE_TYPE | (1 << 19 if phys else 0)
    if not timed:
        st &= ~4
    attr = struct.pack("<IIQQQQQ", PMU, 128, 0x100000001, 1024, st, 4, 1 << 18 | (1 << 26 if switches else 0)).ljust(128, b"\0")
    def tr(pid, tid, time, cpu):
        return struct.pack("<II", pid, tid) + (struct.pack("<Q", time) if timed else b"") + struct.pack("<IIQ", cpu, 0, 50)
    recs = []
    if conv:
        recs.append(rec(79, struct.pack("<QQQQQBB6x", 10, 1024 * 20, 5000000, 0, 0, 1, 0)))   # 20 ns each
    recs.append(rec(70, struct.pack("<IIQQ", 4, 0, PMU, 0 if per_thread else 1)))
    recs.append(rec(3, struct.pack("<II", 300, 300) + text("worker") + tr(300, 300, 5000010, 0)))
    recs.append(rec(10, struct.pack("<IIQQQIIQQII", 300, 300, 0x400000, 0x4000, 0, 8, 1, 77, 0, 5, 2) + text("/bin/nowhere") + tr(300, 300, 5000020, 0), 2))
    recs.append(rec(3, struct.pack("<II", 300, 301) + text("other") + tr(300, 301, 5000030, 0)))
    recs.append(rec(7, struct.pack("<IIIIQ", 300, 300, 302, 301, 5000040) + tr(300, 301, 5000040, 0)))
    for c in range(cpus):
        recs.append(rec(12, struct.pack("<II", 300, 300) + tr(300, 300, 5000100, c)))
    aux = []
    for c in range(cpus):
        data, cut = spe_records(rng, 60, 1000 + 7 * c, 300 if timed else 0, context, kernel)
        for part, off in ((data[:cut], 0), (data[cut:], cut)):
            recs.append(rec(11, struct.pack("<QQQ", off, len(part), 0) + tr(300, 300, 5000000 + 200 + 40 * off, c)))
            pad = bytes(-len(part) % 8)
            aux.append((len(recs), len(part) + len(pad)))
            recs.append(struct.pack("<IHHQQQIIII", 71, 0, 48, len(part) + len(pad), off, 1, c, 300 if per_thread else 0xffffffff, 0xffffffff if per_thread else c, 0) + part + pad)
    if switches:
        for k in range(1, 40):
            recs.append(rec(15, struct.pack("<II", 300, rng.choice([300, 301, 302])) + tr(300, 300, 5000000 + 20 * (1000 + 230 * k), k % cpus), 0x2000))
    recs.append(rec(4, struct.pack("<IIIIQ", 300, 1, 300, 1, 6500000) + tr(300, 300, 6500000, 0)))
    base = 104 + 16 + 144
    data = b""
    offsets = []
    for r in recs:
        offsets.append(base + len(data))
        data += r
    def string(s):
        b = s.encode() + b"\0"
        b += bytes(-len(b) % 4)
        return struct.pack("<I", len(b)) + b
    feats = {6: string("aarch64"), 9: string(midr), 18: struct.pack("<Q", len(aux)) + b"".join(struct.pack("<QQ", offsets[i], 48) for i, n in aux)}
    ids = struct.pack("<QQ", 50, 51)
    head = struct.pack("<QQQQQQQQQ", 0x32454c4946524550, 104, 144, 104 + 16, 144, base, len(data), 0, 0)
    bits = sum(1 << f for f in feats)
    head += struct.pack("<QQQQ", bits, 0, 0, 0)
    at = base + len(data) + 16 * len(feats)
    table, body = b"", b""
    for f in sorted(feats):
        table += struct.pack("<QQ", at, len(feats[f]))
        body += feats[f]
        at += len(feats[f])
    path.write_bytes(head + ids + attr + struct.pack("<QQ", 104, 16) + data + table + body)
