# SPDX-License-Identifier: MIT
"""perfev dump: each record decoded and raw, the header; of our files, of streams, and of others' recordings."""
import json
import os
import pathlib
import re
import shutil
import struct

from cli import BURN, PERFEV, Folder, Skip, expect, expect_code, expect_in, perfev, stats

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
    if ours["type"] >= 64:
        expect(record is None, f"{ours}")
        return
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
