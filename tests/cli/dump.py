# SPDX-License-Identifier: MIT
"""perfev dump: each record decoded and raw, the header; of our files, of streams, and of others' recordings."""
import json
import os
import pathlib
import re
import shutil
import struct
import sys

import made
from cli import BURN, PERFEV, Folder, Skip, expect, expect_code, expect_in, expect_same, perfev, run, stats

LINE = re.compile(r"0x[0-9a-f]{8,} +(\d+)  ([A-Z0-9_]+|\d+) misc=0x[0-9a-f]+(.*)")


def record(folder, *more):
    path = folder / "a.data"
    expect_code(perfev("record", "-e", "cpu-clock,page-faults", *more, "-o", path, "--", BURN, "0.1"), 0)
    return path


def lines_of(text):
    """(size, type, rest) of each record, and its raw bytes."""
    found = []
    for line in text.splitlines():
        if line.startswith("0x"):
            match = LINE.fullmatch(line)
            expect(match, line[:200])
            found.append([int(match[1]), match[2], match[3], bytearray()])
        else:
            raw = re.fullmatch(r" {8}[0-9a-f]{4}:((?: {1,2}[0-9a-f]{2})+)", line)
            expect(raw and found, line[:200])
            found[-1][3].extend(bytes.fromhex(raw[1].replace(" ", "")))
    return found


def test_each_record():
    with Folder() as folder:
        path = record(folder)
        done = perfev("dump", "-i", path)
        expect_code(done, 0)
        records = lines_of(done.out)
        counts = stats(path)
        expect(len(records) == counts["TOTAL"], f"{len(records)} records, and {counts['TOTAL']} counted")
        data = path.read_bytes()
        for size, name, rest, raw in records:
            expect(len(raw) == size, f"{name}: {size} bytes, and {len(raw)} shown")
            expect(bytes(raw) in data, f"{name}: {raw.hex()} is not in the file")
            if name == "SAMPLE":
                expect_in("callchain=[", rest)
        expect(sum(name == "SAMPLE" for _, name, _, _ in records) == counts["SAMPLE"], f"{counts}")
        expect_in('comm="burn"', done.out)


def test_json():
    with Folder() as folder:
        path = record(folder)
        records = perfev("dump", "--json", "-i", path).json()["records"]
        expect(len(records) == stats(path)["TOTAL"], f"{len(records)}")
        text = lines_of(perfev("dump", "-i", path).out)
        for ours, shown in zip(records, text):
            expect(ours["size"] == shown[0] and ours["name"] == shown[1] and bytes.fromhex(ours["raw"]) == shown[3],
                   f"{ours} {shown}")
            expect(ours["text"] == f"{shown[1]} misc=0x{ours['misc']:x}{shown[2]}", f"{ours['text']}")
            check_object(ours)


def check_object(ours):
    """Python's reader and ours see the same: what the bytes say, and what the text says."""
    record, raw = ours["record"], bytes.fromhex(ours["raw"])
    if ours["name"] == "ID_INDEX":
        expect([entry["id"] for entry in record["entries"]] == list(struct.unpack(f"={len(raw) // 8}Q", raw)[2::4]), f"{ours}")
    expect(record["type"] == ours["name"] and record["misc"] == ours["misc"], f"{ours}")
    if ours["name"] == "COMM":
        pid, tid = struct.unpack_from("=II", raw, 8)
        name = raw[16:raw.index(b"\0", 16)].decode()
        expect((record["pid"], record["tid"], record["comm"]) == (pid, tid, name), f"{ours}")
    if ours["name"] == "SAMPLE":
        chain = re.search(r"callchain=\[(.*?)\]", ours["text"])[1]
        expect(",".join(record["callchain"]) == chain, f"{ours}")
        expect(f"ip={record['ip']} " in ours["text"], f"{ours}")


def test_json_of_names_that_are_no_text():
    """A file whose name is no UTF-8: the document is UTF-8, and the name's bytes are in it."""
    with Folder() as folder:
        program = os.fsencode(folder / "b") + b"\xff\xfern"
        shutil.copy(BURN, program)
        path = folder / "a.data"
        expect_code(perfev("record", "-e", "cpu-clock", "-o", path, "--", "sh", "-c", 'exec "$0"*rn 0.1', folder / "b"), 0)
        done = perfev("dump", "--json", "-i", path)
        records = json.loads(done.raw.decode())["records"]
        names = [record["record"]["filename"] for record in records if record["name"] in ("MMAP", "MMAP2")]
        expect({"hex": program.hex()} in names, f"{names}")


def test_header():
    with Folder() as folder:
        path = record(folder, "-c", "12345")
        done = perfev("dump", "--header", "-i", path)
        expect_code(done, 0)
        for part in ("event cpu-clock: type=1", "event page-faults: type=1", "sample_period=12345", "HOSTNAME: ",
                     f"CMDLINE: {PERFEV} record -e cpu-clock,page-faults -c 12345", " [kernel.kallsyms]"):
            expect_in(part, done.out)
        ids = re.findall(r"^  ids((?: \d+)+)$", done.out, re.M)
        expect(len(ids) == 2 and all(len(line.split()) == os.cpu_count() for line in ids), done.out)


def test_a_stream():
    with Folder() as folder:
        path = folder / "stream"
        expect_code(perfev("record", "-e", "cpu-clock", "-o", "-", "--", BURN, "0.1", stdout=path.open("wb")), 0)
        records = lines_of(perfev("dump", "-i", "-", stdin=path.open("rb")).out)
        expect(records[0][1] == "HEADER_ATTR", f"{records[0]}")
        expect(any(name == "SAMPLE" for _, name, _, _ in records), "no sample")
        expect_in("event cpu-clock: type=1", perfev("dump", "--header", "-i", path).out)


def test_options_exclude_each_other():
    expect_code(perfev("dump", "--json", "--stats"), 2)
    expect_code(perfev("dump", "--header", "--json"), 2)


def test_recordings_of_others():
    """Whatever is in them is shown, as many records as are counted."""
    folder = os.environ.get("PERFEV_TEST_DATA")
    if not folder:
        raise Skip("PERFEV_TEST_DATA names no folder of recordings")
    seen = 0
    for path in sorted(path for path in pathlib.Path(folder).rglob("*") if path.is_file() and path.suffix == ".data"):
        counted = perfev("dump", "--stats", "--partial", "-i", path, timeout=120)
        if not counted.out:
            continue
        done = perfev("dump", "--partial", "-i", path, timeout=120)
        expect(done.code == counted.code, f"{path.name}: {done.err}")
        total = int(re.search(r"^TOTAL (\d+)$", counted.out, re.M)[1])
        shown = sum(line.startswith("0x") for line in done.out.splitlines())
        expect(shown == total, f"{path.name}: {shown} shown, {total} counted")
        if total < 50000:
            records = perfev("dump", "--json", "--partial", "-i", path, timeout=120).json()["records"]
            expect(len(records) == total, f"{path.name}: {len(records)} as JSON, {total} counted")
            expect(all(record["record"] or ": cannot decode" in record["text"] for record in records if record["type"] < 64),
                   f"{path.name}: a record without fields")
        done = perfev("dump", "--header", "--partial", "-i", path, timeout=120)
        expect(done.code in (0, counted.code), f"{path.name}: {done.err}")  # it does not look at the records
        seen += 1
    expect(seen > 0, "no recording could be read")


def number(field, value):
    """A field of a message of protocol buffers; values up to 2^14 here."""
    return bytes([field << 3]) + (bytes([value]) if value < 128 else bytes([value & 127 | 128, value >> 7]))


def message(field, data):
    return bytes([field << 3 | 2, len(data)]) + data


def debug_files(*files):
    return b"".join(message(1, message(1, path) + number(2, size)) for path, size in files)


def branches():
    branch = message(1, b"\x0d") + number(2, 4) + number(3, 300)
    module = message(1, b"/m.ko") + message(3, number(1, 0x40) + message(2, branch) + message(2, branch)) + number(4, 2)
    kernel = number(4, 1) + message(1, b"[kernel.kallsyms]") + message(5, number(1, 0x1000)) + message(2, b"a1b2")
    return message(1, b"simpleperf:EtmBranchList") + message(2, module) + message(2, kernel)


def simpleperf_file(path):
    """A mapping in a section, a sample in it, names in another section, and a record in pieces."""
    attr = struct.pack("<IIQQQ", 1, 64, 0, 1, 7).ljust(64, b"\0") + bytes(16)  # IP, TID, TIME
    sample = struct.pack("<IHHQIIQ", 9, 2, 32, 0x7010, 5, 5, 100)
    whole = struct.pack("<IHHI", 32778, 0, 32, 0)[:8] + struct.pack("<Q", 7) + b"why it was so\0\0\0"
    pieces = b"".join(struct.pack("<IHH", 32772, 0, 8 + len(part)) + part for part in (whole[:20], whole[20:]))
    data = sample + pieces + struct.pack("<IHH", 32773, 0, 8)
    name = b"/system/lib64/libx.so\0\0\0"
    maps = struct.pack("<IHHIIQQQ", 1, 2, 40 + len(name), 5, 5, 0x7000, 0x1000, 0) + name
    file = name.rstrip(b"\0") + b"\0" + struct.pack("<IQI", 2, 0, 1) + struct.pack("<QI", 0x10, 8) + b"named\0" + bytes(8)
    sections = [struct.pack("<I", len(file)) + file, debug_files((b"/a", 4), (b"/b", 70), (b"/c", 9)), b"\x7fELF" + bytes(70),
                branches(), maps]  # FILE is 128, DEBUG_UNWIND 130, DEBUG_UNWIND_FILE, ETM_BRANCH_LIST 133, INIT_MAP
    at = 184 + len(data) + 16 * len(sections)
    table = b""
    for section in sections:
        table += struct.pack("<QQ", at, len(section))
        at += len(section)
    header = b"PERFILE2" + struct.pack("<8Q4Q", 104, 80, 104, 80, 184, len(data), 0, 0, 0, 0, 1 << 0 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6, 0)
    path.write_bytes(header + attr + data + table + b"".join(sections))


def test_simpleperf():
    """Names by what is in the recording; sections and pieces as they are, and what they mean."""
    with Folder() as folder:
        path = folder / "perf.data"
        simpleperf_file(path)
        functions = perfev("report", "--json", "-i", path).json()["functions"]
        expect_same([(f["symbol"], f["module"]) for f in functions], [("named", "/system/lib64/libx.so")])
        header = perfev("dump", "--header", "-i", path).out
        expect_in("/system/lib64/libx.so type=2 min_vaddr=0x0", header)
        expect_in("    address=0x10 size=8 named", header)
        expect_in("MMAP misc=0x2 pid=5 tid=5 addr=0x7000", header)
        expect_in("SIMPLEPERF_DEBUG_UNWIND: \n  /a size=4\n  /b size=70\n  /c size=9\n", header)
        expect_in("SIMPLEPERF_DEBUG_UNWIND_FILE: \n  /a offset=0x0 size=4 bytes=7f454c46\n  /b offset=0x4 size=70 bytes=00", header)
        expect_in("  /c offset=0x4a size=9 (the section ends at 0x4a)\n", header)
        branch = "      branch=0d branch_size=4 count=300\n"
        expect_in("SIMPLEPERF_ETM_BRANCH_LIST: simpleperf:EtmBranchList\n  /m.ko  binary_type=2\n    address=0x40\n" + branch * 2 +
                  "  [kernel.kallsyms] a1b2 binary_type=1 kernel_start_address=0x1000\n", header)
        expect_same([line.split()[1] for line in perfev("dump", "--stats", "-i", path).out.splitlines()], ["1", "2", "1", "4"])
        lines = perfev("dump", "-i", path).out.splitlines()
        expect_same(sum(line.startswith("0x") for line in lines), 4)
        expect([line for line in lines if line.startswith("+ ")][0].endswith('time=7 text="why it was so"'), f"{lines}")
        records = perfev("dump", "--json", "-i", path).json()["records"]
        expect_same([record["name"] for record in records if record.get("joined")], ["SIMPLEPERF_DEBUG"])


def chain_of(text, name):
    match = re.search(rf" {name}=\[([^]]*)\]", text)
    return [int(word, 16) for word in match[1].split(",")] if match and match[1] else []


def test_joined_chains_of_simpleperf():
    """A chain that was joined with others is in the sample behind it, so that nobody has to put it there."""
    folder = os.environ.get("PERFEV_TEST_DATA")
    if not folder:
        raise Skip("PERFEV_TEST_DATA names no folder of recordings")
    joined, seen = {}, 0
    for _, name, text, _ in lines_of(perfev("dump", "-i", f"{folder}/simpleperf/perf_with_callchain_record.data").out):
        time = re.search(r" time=(\d+)", text)
        if name == "SIMPLEPERF_CALLCHAIN" and " chain_type=2 " in text:
            joined[time[1]] = chain_of(text, "ips")
        elif name == "SAMPLE" and time[1] in joined:
            user = chain_of(text, "callchain")
            user = user[user.index(2**64 - 512) + 1:]  # PERF_CONTEXT_USER
            expect(len(user) == len(joined[time[1]]) and all(ip - at in (0, 2) for at, ip in zip(user, joined[time[1]])), text)
            seen += 1
    expect_same((len(joined), seen), (20, 20))


def aux_file(path, kind, pieces, words=()):
    """A stream with a trace: pieces are (idx, cpu, offset, bytes)."""
    info = struct.pack(f"<IHHII{len(words)}Q", 70, 0, 16 + 8 * len(words), kind, 0, *words)
    records = [struct.pack("<IHHQQQIIII", 71, 0, 48, len(data), offset, 0, idx, 0xffffffff, cpu, 0) + data
               for idx, cpu, offset, data in pieces]
    path.write_bytes(b"PERFILE2" + struct.pack("<Q", 16) + info + b"".join(records))


def packets_of(path, *options):
    """The lines below each AUXTRACE record: (offset, bytes, text)."""
    done = perfev("dump", *options, "-i", path)
    expect_code(done, 0)
    found = []
    for line in done.out.splitlines():
        if " AUXTRACE misc" in line:
            found.append([])
        match = re.fullmatch(r" {10}0x([0-9a-f]{8,}) ((?: [0-9a-f]{2})*)(?: \.\.\.)? +(\S.*)", line)
        if match:
            found[-1].append((int(match[1], 16), match[2].replace(" ", ""), match[3]))
        elif found and line.startswith(" " * 10):
            found[-1].append(line.strip())
    return found


PSB = bytes.fromhex("0282" * 8)


def test_packets_go_on_from_record_to_record():
    """Of two CPUs in turns; a packet that is cut, and a last address from the record before."""
    with Folder() as folder:
        path = folder / "pt"
        one = PSB + bytes.fromhex("7d361140000000 2d0020 0000 06")
        two = PSB + bytes.fromhex("0223 2d3412")
        aux_file(path, 1, [(0, 0, 0, one[:20]), (1, 1, 0x1000, two), (0, 0, 20, one[20:])])
        first, second, third = packets_of(path)
        expect(first == [(0, PSB.hex(), "PSB")], f"{first}")
        expect(second[1:] == [(0x1010, "0223", "PSBEND"), (0x1012, "2d3412", "TIP ip=0x1234 ip_bytes=1")], f"{second}")
        expect(third == [(16, "000000", "FUP ip=0x401136 ip_bytes=3"), (23, "2d0020", "TIP ip=0x402000 ip_bytes=1"),
                         (26, "0000", "PAD x2"), (28, "06", "TNT T")], f"{third}")
        limited = packets_of(path, "--packets", "2")
        expect(limited[2][2] == "and 2 more", f"{limited[2]}")
        trace = [record for record in perfev("dump", "--json", "-i", path).json()["records"] if "trace" in record]
        expect([len(record["trace"]) for record in trace] == [1, 3, 4], f"{trace}")
        expect(trace[2]["trace"][0] == {"offset": 16, "size": 7, "text": "FUP ip=0x401136 ip_bytes=3"}, f"{trace[2]}")


def test_packets_behind_damage():
    """What is no packet is passed over up to the next PSB; a piece that does not follow begins at one."""
    with Folder() as folder:
        path = folder / "pt"
        damaged = PSB + bytes.fromhex("06 0200 060606") + PSB + b"\x08"
        aux_file(path, 1, [(0, 0, 0, damaged), (0, 0, 4096, b"\x06\x06" + PSB), (0, 0, 9000, b"\x06")])
        first, second, third = packets_of(path)
        texts = [text for _, _, text in first]
        expect(texts[:2] == ["PSB", "TNT T"] and texts[4:] == ["PSB", "TNT NN"], f"{texts}")
        expect("cannot decode Intel PT at 0x11: no packet begins with 02 00" in texts[2], f"{texts}")
        expect(texts[3] == "5 bytes in front of a PSB are passed over", f"{texts}")
        expect([text for _, _, text in second] == ["2 bytes in front of a PSB are passed over", "PSB"], f"{second}")
        expect([text for _, _, text in third] == ["1 bytes in front of a PSB are passed over"], f"{third}")
        trace = perfev("dump", "--json", "-i", path).json()["records"][1]["trace"]
        expect("error" in trace[2] and "text" not in trace[2], f"{trace}")


def test_packets_of_other_traces():
    with Folder() as folder:
        path = folder / "trace"
        record = bytes.fromhex("b0 3611400000000080 4901 430e 4216 01 0000")
        cpus = [2, 4, 9, 2, 0x1010101010101010, 0, 4, 0x413fd0c1, 9, 1, 2, 0x1010101010101010, 1, 4, 0xc00fac40, 9, 1, 2]
        aux_file(path, 4, [(0, 0, 0, record), (1, 1, 0, record[11:13] + b"\xff\x01")], cpus)
        first, second = packets_of(path)
        expect([text for _, _, text in first] ==
               ["Address pc=0x401136 el=0 ns=1 nse=0", "Operation Type 0x1 store, general purpose", "Data Source 0xe dram",
                "Events 0x16 retired l1d-access tlb-access", "End", "Padding x2"], f"{first}")
        expect(second[0][2] == "Data Source 0xe" and "no packet begins with ff 01" in second[1][2] and second[2][2] == "End",
               f"{second}")
        branch = struct.pack("<QQQ", 0x401136, 0x4010f0, 16)
        aux_file(path, 2, [(0, 0, 0, branch[:10]), (0, 0, 10, branch[10:] + branch)])
        expect([text for _, _, text in packets_of(path)[1]] == ["from=0x401136 to=0x4010f0 predicted=1"] * 2, "branches")
        aux_file(path, 3, [(0, 0, 0, b"abc")])
        expect(packets_of(path)[0][0][2] == "3 bytes of cs_etm, whose packets are not shown", f"{packets_of(path)}")
        aux_file(path, 99, [(0, 0, 0, b"abc")])
        expect("an unknown kind" in packets_of(path)[0][0][2], f"{packets_of(path)}")


def test_packets_of_a_recording():
    """Every byte of the traces of a program is in a packet."""
    path = pathlib.Path(os.environ.get("PERFEV_TEST_DATA", ".")) / "quipper/perf.data.intel_pt-4.14"
    if not path.exists():
        raise Skip("PERFEV_TEST_DATA has no recording of Intel PT")
    records = perfev("dump", "--json", "-i", path, timeout=120).json()["records"]
    traces = [record["trace"] for record in records if "trace" in record]
    expect([sum(packet["size"] for packet in trace) for trace in traces] == [12240, 137728], f"{len(traces)}")
    expect(all("text" in packet for trace in traces for packet in trace), "errors")


# A process of its own: what its parent has counts as a child's.
MEASURE = """import os, subprocess, sys
_, status, used = os.wait4(subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL).pid, 0)
print(status, used.ru_maxrss)"""


def test_memory_of_long_records():
    """Pages that were walked leave memory, however few the records are that fill them."""
    if b"__asan_init" in pathlib.Path(PERFEV).read_bytes():
        raise Skip("the memory of a sanitizer is its own")
    with Folder() as folder:
        path = folder / "long.data"
        chain = made.words(7000, *range(0x400000, 0x400000 + 7000))
        made.write(path, [made.sample(i, chain) for i in range(1000)], more=made.CALLCHAIN)
        for words in (["dump", "--stats"], ["dump"]):
            done = run(sys.executable, "-c", MEASURE, PERFEV, *words, "-i", path)
            status, size = map(int, done.out.split())
            expect(status == 0 and size < 32 * 1024, f"{words}: ended with {status}, {size} KB of a file of 56 MB")
