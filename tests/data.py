#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads recordings of other tools with the command.

    tests/data.py BUILD     the files are those below $PERFEV_TEST_DATA

Each file is dumped in every form, in order and as far as it is readable: there is an answer, and it is
no crash. Each record of the kernel is the same after JSON. Where the folder has a truth.json (by file: "counts" of records by type, "damage" met by an
independent reader, "inner" counts of compressed records), the counts must be those.
"""
import base64
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

TIMEOUT = 120
FORMS = ([], ["--stats"], ["--header"], ["--json"])


def dump(command, path, arguments):
    """(status, output, messages); a status of None is no answer in time."""
    try:
        done = subprocess.run([command, "dump", "-i", str(path), *arguments], capture_output=True,
                              timeout=TIMEOUT, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return None, "", f"no answer in {TIMEOUT} s"
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def counts_of(output):
    pairs = (line.rsplit(" ", 1) for line in output.splitlines() if " " in line)
    return {name: int(count) for name, count in pairs}


def answers(command, path):
    """Every form gives an answer: a status of the command itself, and a reason when it is not 0."""
    for form in FORMS:
        for partial in ([], ["--partial"]):
            status, _, messages = dump(command, path, form + partial)
            if status is None or status < 0 or status > 100 or "Sanitizer" in messages:
                return f"{' '.join(form + partial)}: status {status}: {messages[-2000:]}"
            if status and not messages.strip():
                return f"{' '.join(form + partial)}: status {status} without a word"
    return None


def json_again(program, path):
    """No record is another one after JSON. A file that cannot be opened has none."""
    try:
        done = subprocess.run([program, str(path)], capture_output=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return f"no answer in {TIMEOUT} s"
    return None if done.returncode in (0, 2) else (done.stdout + done.stderr).decode(errors="replace")[:2000]


def sums(*parts):
    total = {}
    for part in parts:
        for name, count in part.items():
            name = "SIMPLEPERF_" + name[3:] if name.startswith("SP_") else name
            total[name] = total.get(name, 0) + count
    total["TOTAL"] = sum(total.values())
    return total


def counts(command, path, truth):
    """None when the counts are as they should be; of a damaged file up to the damage, and it is refused."""
    wanted = sums(truth["counts"], truth.get("inner", {}))
    status, output, messages = dump(command, path, ["--stats"])
    if truth["damage"]:
        if status != 1 or "cannot read" not in messages:
            return f"damaged, and the status is {status}: {messages}"
        partial, output, again = dump(command, path, ["--stats", "--partial"])
        if partial != 1 or again != messages:
            return f"--partial has status {partial} and says: {again}, not: {messages}"
        place = re.search(r" at (\d+)( |$)", truth["damage"][0])
        if place and place[1] not in messages:
            return f"the place is {place[1]}: {messages}"
    elif status:
        return messages.strip()
    got = counts_of(output)
    wrong = {name: (got.get(name, 0), wanted.get(name, 0)) for name in {*got, *wanted}
             if got.get(name, 0) != wanted.get(name, 0)}
    return f"counts (read, true): {wrong}" if wrong else None


def parts(path):
    """Of a file its attrs, records and sections; of a stream all of it."""
    data = path.read_bytes()
    order = "<" if data[:8] == b"PERFILE2" else ">"
    if struct.unpack_from(order + "Q", data, 8)[0] == 16:
        return data
    attr_size, attrs, attrs_size, offset, records = struct.unpack_from(order + "5Q", data, 16)
    bits = [bit for bit in range(256) if struct.unpack_from(order + "Q", data, 72 + bit // 64 * 8)[0] >> bit % 64 & 1]
    table = [struct.unpack_from(order + "QQ", data, offset + records + 16 * i) for i in range(len(bits))]
    entries = [data[at:at + attr_size - 16] for at in range(attrs, attrs + attrs_size, attr_size)]
    # 18 has places in the file
    return entries, data[offset:offset + records], {bit: data[at:at + n] if bit != 18 else n
                                                    for bit, (at, n) in zip(bits, table)}


def copies(command, path):
    """perfev fix of a whole file is the same again."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "copy"
        done = subprocess.run([command, "fix", path, "-o", copy], capture_output=True, timeout=TIMEOUT)
        if done.returncode:
            return done.stderr.decode()
        return None if parts(copy) == parts(path) else "the copy differs"


def jit_dump(command, path, expected):
    """What a JIT compiler wrote, as another reader sees it."""
    done = subprocess.run([command, "dump", "--json", "-i", path], capture_output=True, timeout=TIMEOUT)
    if done.returncode:
        return done.stderr.decode()
    ours, theirs = json.loads(done.stdout), json.loads(expected.read_text())
    header = theirs["Header"]
    if (ours["version"], ours["elf_machine"], ours["pid"], ours["time"], ours["flags"]) != tuple(
            header[key] for key in ("Version", "ElfMach", "Pid", "Timestamp", "Flags")):
        return "another header"
    loads = [(r["size"], r["time"], r["pid"], r["tid"], int(r["vma"], 16), int(r["code_addr"], 16), r["code_size"], r["index"],
              r["name"], bytes.fromhex(r["code"])) for r in ours["records"] if r["type"] == "LOAD"]
    wanted = [(r["Prefix"]["TotalSize"], r["Prefix"]["Timestamp"], r["PID"], r["TID"], r["VMA"], r["CodeAddr"], r["CodeSize"],
               r["CodeIndex"], r["Name"], base64.b64decode(r["Code"])) for r in theirs["CodeLoads"]]
    lines = [(r["time"], int(r["code_addr"], 16), [(int(e["addr"], 16), e["line"], e["discriminator"], e["file"])
                                                   for e in r["lines"]]) for r in ours["records"] if r["type"] == "DEBUG"]
    named = [(r["Prefix"]["Timestamp"], r["CodeAddr"], [(e["Addr"], e["Lineno"], e["Discrim"], e["Name"]) for e in r["Entries"]])
             for r in theirs["DebugInfo"]]
    return None if loads == wanted and lines == named else "other records"


def is_recording(path):
    with path.open("rb") as file:
        return file.read(8) in (b"PERFILE2", b"2ELIFREP", b"PERFFILE")


def main():
    folder = os.environ.get("PERFEV_TEST_DATA")
    if not folder:
        print("SKIPPED: PERFEV_TEST_DATA names no folder with recordings")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    folder = pathlib.Path(folder)
    command = str(pathlib.Path(sys.argv[1]).resolve() / "perfev")
    program = str(pathlib.Path(sys.argv[1]).resolve() / "tests/json-again")
    truth_file = folder / "truth.json"
    truth = json.loads(truth_file.read_text()) if truth_file.exists() else {}
    passed = failed = 0

    def judge(name, problem):
        nonlocal passed, failed
        if problem:
            failed += 1
            print(f"FAILED: {name}: {problem}")
        else:
            passed += 1

    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = str(path.relative_to(folder))
        if name not in truth and not is_recording(path):
            continue
        judge(f"{name}: answers", answers(command, path))
        judge(f"{name}: after JSON", json_again(program, path))
        if name not in truth:
            continue
        judge(f"{name}: counts", counts(command, path, truth[name]))
        if not truth[name]["damage"]:
            judge(f"{name}: copy", copies(command, path))
        twin = truth[name].get("twin_of")
        if twin:
            judge(f"{name}: as {twin}", None if dump(command, path, ["--stats"])[1] ==
                  dump(command, folder / twin, ["--stats"])[1] else "other counts")
    for path in sorted(folder.glob("jitdump/*.dump")):
        judge(f"jitdump/{path.name}", jit_dump(command, path, path.parent / "expected" / f"{path.stem}.json"))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
