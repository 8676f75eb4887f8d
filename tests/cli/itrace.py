# SPDX-License-Identifier: MIT
"""perfev script --itrace: the branches of a program that was stepped, against what it really did, and against perf."""
import json
import os
import pathlib
import re
import shutil

from cli import BUILD, ENV, PERFEV, Folder, Skip, expect, expect_code, expect_in, perfev, run

NAMES = {"jmp": "jump", "jcc": "conditional"}
LINE = re.compile(r" *branches +\d+ +(\d+\.\d+): +1 +branches:u: +((?:tr (?:strt|end) *)?[a-z ]*?) +([0-9a-f]+) (.*) => +([0-9a-f]+) (.*)$")
# perf calls stubs by the symbol before them
NAMED_OTHERWISE = re.compile(r"@plt|_init")


def made(folder, how="--write"):
    """A recording of Intel PT, and the branches that were taken: [[kind, from, to]]."""
    path, truth = folder / "pt.data", folder / "truth"
    done = run(BUILD / "tests/unit-flow", how, path, truth)
    if done.code == 77:
        raise Skip("programs can be stepped on x86-64 only, where ptrace(2) is allowed")
    expect_code(done, 0)
    return path, [line.split() for line in truth.read_text().splitlines()]


def follow(path, *options):
    done = perfev("script", "-i", path, *options)
    expect_code(done, 0)
    expect(not done.err, done.err)
    return done.out.splitlines()


def taken(lines):
    """[[kind, from, to]] of those that are instructions; where they went, when that was traced."""
    found = []
    for line in lines:
        match = LINE.match(line)
        expect(match, f"no branch: {line}")
        kind = re.sub(r"^tr (strt|end) *", "", match[2])
        if kind and kind != "async":
            found.append([NAMES.get(kind, kind), match[3], match[5]])
    return found


def test_what_a_program_did():
    with Folder() as folder:
        path, truth = made(folder)
        found = taken(follow(path, "--itrace=b", "-F", "+flags"))
        expect(len(truth) > 1000 and len(found) == len(truth), f"{len(found)} branches, not {len(truth)}")
        for number, (ours, real) in enumerate(zip(found, truth)):
            if real[0] == "syscall":
                real = [*real[:2], "0"]
            expect(ours == real, f"branch {number}: {ours}, and it was {real}")
        calls = [row for row in truth if row[0] in ("call", "syscall", "return")]
        expect(len(taken(follow(path, "--itrace=cr", "-F", "+flags"))) == len(calls), "calls and returns")
        names = [match[6].split("+")[0] for match in map(LINE.match, follow(path, "--itrace=c", "-F", "+flags")) if match]
        expect(names[0] == "work" and names.count("pick") == 12 and names.count("fib") == 490, "names of what was called")


def differences(path, *options):
    """Lines in which we and perf differ, but for names."""
    theirs = run("perf", "script", "-i", path, *options).out.splitlines()
    ours = perfev("script", "-i", path, *options).out.splitlines()
    expect(len(ours) == len(theirs), f"{len(ours)} lines, perf: {len(theirs)}")
    return len(ours), [(a, b) for a, b in zip(ours, theirs) if a != b and not (NAMED_OTHERWISE.search(a) and "_init" in b)]


def test_the_text_of_perf():
    """The same lines, times to the last digit: without times, with them and cycles, on two CPUs, with all other packets."""
    if not shutil.which("perf"):
        raise Skip("perf is not there")
    with Folder() as folder:
        for how in ("", "-times", "-cpus", "-events"):
            path, _ = made(folder, "--write" + how)
            for options in ([], ["--itrace"], ["--itrace=b", "--ns"], ["--itrace=be", "-F", "+flags"], ["--itrace=cr"], ["--itrace=xwp"],
                            ["-F", "+pid,-cpu"], ["-F", "ip,flags"], ["--itrace=bp", "-F", "+synth"], ["-F", "hw:-synth"],
                            ["--itrace=bp", "-F", "synth"], ["-F", "flags"], ["--itrace=b", "-F", "trace"], ["--no-itrace"]):
                if how == "-events" and options == ["-F", "ip,flags"]:
                    continue  # perf has flags of what is no branch: those of the last branch
                count, different = differences(path, *options)
                if how == "-events":  # of a PWRE that stands alone perf prints what the one before had
                    different = [(a, b) for a, b in different if " pwre: " not in a and not re.match(r" hw: \d cstate", a)]
                expect(not different, f"{how} {options}: {different[:1]}")
                if options[-1:] in (["flags"], ["trace"]):  # alone they are no line
                    expect(count == 0, f"{how} {options}: {count}")
                    continue
                expect(count > 500 or options == ["--no-itrace"] or (options == ["--itrace=xwp"] and how != "-events"), f"{how} {options}: {count}")


def test_other_packets():
    """Transactions, PTWRITE and power: what was written comes out, where it was written."""
    with Folder() as folder:
        path, _ = made(folder, "--write-events")
        rows = [json.loads(line) for line in follow(path, "--itrace=xwp", "--json")]
        kinds = {kind: [row for row in rows if row["branch"] == kind] for kind in ("transaction", "ptwrite", "mwait", "pwre", "pwrx", "exstop", "cbr", "psb")}
        expect(all(len(found) > 15 for found in kinds.values()), f"{ {kind: len(found) for kind, found in kinds.items()} }")
        expect([row["in_tx"] for row in kinds["transaction"][:4]] == [True, False, True, False], "transactions begin and end")
        expect({row["value"] for row in kinds["mwait"]} == {"0x100000021"}, "hints and extensions")
        expect({row["value"] for row in kinds["pwre"]} == {"0x103", "0x10002"}, "C-states that were entered")
        expect({row["value"] for row in kinds["pwrx"]} == {"0x10403"}, "C-states that were left")
        expect({row["value"] for row in kinds["cbr"]} == {"0x14", "0x1d"}, "ratios")
        writes = kinds["ptwrite"]
        pairs = [(int(row["value"], 16), int(row["from"]["ip"], 16)) for row in writes]
        exact = [value == (ip * 0x10001 & (1 << 64) - 1) for value, ip in pairs if value > 0xffffffff]
        expect(len(exact) > 15 and all(exact) and len(exact) < len(pairs), f"{writes[:2]}")
        expect("payload: 0x64726f77 word " in perfev("script", "-i", path).out, "what a program wrote as text")


def test_streams():
    """A recording that can be read once is kept, and read twice."""
    with Folder() as folder:
        path, _ = made(folder)
        whole = perfev("script", "-i", path).out
        with open(path, "rb") as stream:
            done = run("sh", "-c", 'cat | "$0" script -i - --itrace', PERFEV, stdin=stream)
        expect(done.out == whole and len(whole) > 1000, done.err)


def test_two_cpus():
    with Folder() as folder:
        path, truth = made(folder, "--write-cpus")
        found = [json.loads(line) for line in follow(path, "--itrace=b", "--json")]
        rows = [[row["branch"], row["from"]["ip"][2:]] for row in found if row["branch"] != "none"]
        expect(rows == [row[:2] for row in truth], "other branches")
        cpus = [row["cpu"] for row in found]
        expect(cpus == sorted(cpus) and set(cpus) == {0, 1}, "one CPU after the other")
        expect(all(row["comm"] == "branches" for row in found if row["from"]), "who ran")
        first = follow(path, "--itrace=b", "--cpu", "0")
        expect(len(first) == cpus.count(0) and "[000]" in first[5], "CPU 0")
        if shutil.which("perf"):
            theirs = run("perf", "script", "-i", path, "--itrace=b").out.splitlines()
            expect(len(theirs) == len(found), f"{len(found)} branches, perf: {len(theirs)}")


def packets(text):
    """[(offset, text)] of the packets below each record."""
    found = []
    for line in text.splitlines():
        match = re.match(r"^ {10}0x([0-9a-f]+) (?: [0-9a-f]{2})+(?: \.\.\.)? +([A-Z].*)$", line)
        if match:
            found[-1].append((int(match[1], 16), match[2]))
        elif re.match(r"0x[0-9a-f]+ +\d+  (SAMPLE|AUXTRACE) ", line):
            found.append([])
    return found


def test_dump_shows_traces_in_samples():
    with Folder() as folder:
        samples, _ = made(folder, "--write-samples")
        found = packets(perfev("dump", "-i", samples, "--packets", "100000").out)
        rows = json.loads(perfev("dump", "-i", samples, "--json", "--packets", "100000").out)["records"]
        expect(len(found) > 3 and sum(map(len, found)) > 300, f"{len(found)} samples, {sum(map(len, found))} packets")
        for packet in found:
            expect(not packet or packet[0][1] == "PSB", f"a piece out of the middle begins with a PSB: {packet[:1]}")
        said = [[line["text"] for line in row.get("trace", []) if "text" in line] for row in rows if row["name"] == "SAMPLE"]
        expect(said == [[text for _, text in packet] for packet in found], "JSON and text differ")
        # the kinds of packets in each are those of the whole trace, in its order
        whole, _ = made(folder)
        text = " ".join(t.split()[0] for record in packets(perfev("dump", "-i", whole, "--packets", "100000").out)
                        for _, t in record if not t.startswith("PAD"))
        for packet in found:
            # the last one may be cut
            kinds = " ".join(t.split()[0] for _, t in packet[:-1] if not t.startswith("PAD"))
            expect(kinds in text, f"other packets: {kinds[:200]}")


def test_what_is_written_down_of_traces():
    with Folder() as folder:
        path, _ = made(folder, "--write-cpus")
        line = next(line for line in perfev("dump", "-i", path).out.splitlines() if "intel_pt:" in line)
        for word in ("pmu_type=0x8", "time_shift=0x1", "time_mult=0x2", "tsc_bits=0x400", "switches=0x2", "per_cpu=0x1"):
            expect_in(f" {word} ", line)
        rows = perfev("dump", "-i", path, "--json").json()["records"]
        info = [row["auxtrace_info"] for row in rows if "auxtrace_info" in row]
        expect(len(info) == 1 and info[0]["type"] == "intel_pt" and info[0]["words"]["mtc_period_bits"] == "0x3c000", f"{info}")


def test_coresight():
    data = os.environ.get("PERFEV_TEST_DATA")
    if not data:
        raise Skip("PERFEV_TEST_DATA is not set")
    path = pathlib.Path(data) / "simpleperf/perf_etm.data"
    out = perfev("dump", "-i", path).out
    expect_in("cs_etm: version=0x1 pmu_type=0x8 cpus=0x8 snapshot=0x0\n", out)
    expect(len(re.findall(r"^ +cpu \d: etmv4 configr=0x40 traceidr=0x1[0-9a-e] idr0=0x28000ea1 ", out, re.M)) == 8, "CPUs")
    # OpenCSD does not free all that it has
    done = perfev("script", "-i", path, "--itrace=e", env=dict(ENV, ASAN_OPTIONS="detect_leaks=0"))
    if "OpenCSD is not installed" in done.err:
        raise Skip("OpenCSD is not installed (Debian: libopencsd1)")
    expect_code(done, 0)
    gaps = re.findall(r"^ instruction trace error .* cpu 7 pid 17235 tid 17235 ip 0x582b2b1[0-9a-f]{3} code 5: Failed to get instruction$",
                      done.out, re.M)
    expect(len(gaps) == 3 and len(done.out.splitlines()) == 3, done.out)


def test_json():
    with Folder() as folder:
        path, truth = made(folder)
        found = [json.loads(line) for line in follow(path, "--itrace=b", "--json")]
        rows = [[row["branch"], row["from"]["ip"][2:]] for row in found if row["branch"] != "none"]
        expect(rows == [row[:2] for row in truth], "other branches")
        expect(sum(row["instructions"] for row in found) > 10000, "instructions")
        expect(found[0]["begins"] and found[0]["from"] is None and found[0]["to"]["symbol"] == "main", f"{found[0]}")
        expect(all(row["cpu"] is None and row["comm"] == "branches" and row["why"] is None for row in found), "who ran")


def test_filters_and_refusals():
    with Folder() as folder:
        path, truth = made(folder)
        for options, says in ((["--time", "0,0.001"], "before it began"), (["--comm", "other"], "of another program"),
                              (["--event", "cycles"], "of another event")):
            done = perfev("script", "-i", path, "--itrace=b", *options)
            expect(done.out == "" and "has no sample that is asked for" in done.err, says)
        expect(len(follow(path, "--itrace=bp", "--event", "psb")) > 15, "only those")
        expect(len(follow(path, "--itrace=b", "--comm", "branches", "--ns")) > len(truth), "of this program")
        for field in ("uregs", "data_page_size", "code_page_size", "ins_lat"):  # perf refuses those too
            done = perfev("script", "-i", path, "-F", "+" + field)
            expect_code(done, 1)
            expect_in(f"cannot print {field} of intel_pt//u: its samples were recorded without it", done.err)
        for options, says in ((["--itrace=i"], "not 'i'"), (["--itrace", "--no-itrace"], "give one")):
            done = perfev("script", "-i", path, *options)
            expect_code(done, 2)
            expect_in(says, done.err)
        perfev("record", "-e", "cpu-clock", "-o", folder / "a", "--", "true")
        done = perfev("script", "-i", folder / "a", "--itrace")
        expect_code(done, 1)
        expect_in("the recording has none", done.err)
