# SPDX-License-Identifier: MIT
"""Files of recordings: compressed ones, streams, one after the other; recorders that are killed, and perfev fix."""
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import time

from cli import (BURN, ENV, PERFEV, Folder, Skip, expect, expect_code, expect_in, expect_one_line, expect_same,
                 need_command, need_kernel_samples, need_root, perfev, run, stats)

KILLS = int(os.environ.get("PERFEV_KILLS", "20"))


def perf_counts(path, how="--stats"):
    """Records by type, as perf counts them; skips where there is no perf."""
    if not shutil.which("perf"):
        raise Skip("perf is not installed")
    done = run("perf", "report", how, "-f", "-i", path)
    expect(done.code == 0, done.err)
    part = "Aggregated" + done.out.split("\nAggregated")[-1]
    part = re.split(r"^(?!Aggregated).* stats:$", part, flags=re.M)[0]
    names = {"ATTR": "HEADER_ATTR", "FEATURE": "HEADER_FEATURE"}
    found = {}
    for name, count in re.findall(r"^ +(\w+) events: +(\d+)", part, re.M):
        found.setdefault(names.get(name, name), int(count))
    return found


def test_compressed():
    with Folder() as folder:
        path = folder / "z.data"
        expect_code(perfev("record", "-z", "-e", "cpu-clock", "-F", "5000", "-o", path, "--", BURN, "0.5"), 0)
        counts = stats(path)
        expect(counts["COMPRESSED"] > 0 and counts["SAMPLE"] > 500, f"{counts}")
        header = perfev("dump", "--header", "-i", path).out
        expect_in("COMPRESSED: version=0 type=1 level=1", header)
        expect(path.stat().st_size < counts["SAMPLE"] * 40, f"{path.stat().st_size} bytes for {counts}")
        report = perfev("report", "--json", "-i", path).json()
        expect(report["events"][0]["samples"] == counts["SAMPLE"], f"{report['events']}")
        expect(perf_counts(path) == counts, f"perf: {perf_counts(path)}, ours: {counts}")


def test_compressed_by_perf():
    if not shutil.which("perf"):
        raise Skip("perf is not installed")
    with Folder() as folder:
        path = folder / "z.data"
        run("perf", "record", "-q", "-z", "-e", "cpu-clock", "-F", "5000", "-o", path, "--", BURN, "0.5")
        expect(stats(path)["COMPRESSED"] > 0, f"{stats(path)}")
        expect(perf_counts(path) == stats(path), f"perf: {perf_counts(path)}, ours: {stats(path)}")


def test_compressed_stream():
    """From one to the other; and both tools see the same in what was sent."""
    with Folder() as folder:
        path = folder / "stream"
        done = subprocess.run(["bash", "-c", f"{PERFEV} record -z -e cpu-clock -o - -- {BURN} 0.4 | tee {path} | "
                                             f"{PERFEV} dump --stats -i -"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=ENV, timeout=60)
        piped = dict((name, int(count)) for name, count in (line.split() for line in done.stdout.decode().splitlines()))
        expect(piped["COMPRESSED"] > 0 and piped["SAMPLE"] > 100, f"{piped}")
        expect(piped == stats(path), f"{piped} {stats(path)}")
        # report --stats of perf 6.1 does not look at the section COMPRESSED of a stream, also of its own
        expect(perf_counts(path, "-D") == piped, f"perf: {perf_counts(path, '-D')}, ours: {piped}")


def test_switch_by_size():
    """Each file is a whole recording; together they have all samples."""
    with Folder() as folder:
        done = perfev("record", "--switch-output", "100K", "-e", "cpu-clock", "-F", "9000", "-o", folder / "s.data", "--",
                      BURN, "0.7")
        expect_code(done, 0)
        files = sorted(path for path in folder.path.iterdir())
        expect(len(files) > 2, f"{files}")
        samples = 0
        for path in files:
            expect(re.fullmatch(r"s\.data\.\d{16}", path.name), path.name)
            counts = stats(path)
            expect(counts["FINISHED_INIT"] == 1, f"{counts}")
            expect(path == files[-1] or path.stat().st_size >= 100 << 10, f"{path.stat()}")
            samples += counts.get("SAMPLE", 0)
            expect(perf_counts(path) == counts, f"{perf_counts(path)} {counts}")
            if path == files[-1]:
                continue  # the command may have ended before it
            functions = perfev("report", "--json", "-i", path).json()["functions"]
            expect(functions[0]["symbol"].startswith("burn_"), f"{functions[:2]}")
        told = int(re.search(r"([\d,]+) samples", done.err)[1].replace(",", ""))
        expect(samples == told, f"{samples} in the files, {told} told")


def test_switch_by_time():
    with Folder() as folder:
        expect_code(perfev("record", "--switch-output", "1s", "-e", "cpu-clock", "-o", folder / "s.data", "--", BURN, "2.6"), 0)
        expect(len(list(folder.path.iterdir())) >= 2, f"{list(folder.path.iterdir())}")


def test_switch_is_refused():
    for words in (["100"], ["K"], ["-5M"], ["5x"], ["5MM"], ["0s"]):
        done = perfev("record", "--switch-output", *words, "--", "true")
        expect_code(done, 2)
        expect_in("--switch-output takes", done.err)
    expect_code(perfev("record", "--switch-output", "1M", "-o", "-", "--", "true"), 2)
    expect_code(perfev("record", "--switch-output", "1M", "--html", "x", "--", "true"), 2)
    expect_code(perfev("record", "--sync", "often", "--", "true"), 2)


def test_sync():
    with Folder() as folder:
        for when in ("never", "end", "round"):
            expect_code(perfev("record", "--sync", when, "-e", "cpu-clock", "-o", folder / "s.data", "--", BURN, "0.1"), 0)
            expect(stats(folder / "s.data")["SAMPLE"] > 0, when)


def last_round(path):
    """Where the last FINISHED_ROUND of a file ends whose recorder was killed, by walking; 0: there is none."""
    data = path.read_bytes()
    at, found = struct.unpack_from("=Q", data, 40)[0], 0
    while at + 8 <= len(data):
        kind, _, size = struct.unpack_from("=IHH", data, at)
        if size < 8 or at + size > len(data):
            break
        at += size
        if kind == 68:
            found = at
    return found


def kill_one(folder, options, seconds):
    """A recorder that is killed then: what it wrote is read, fixed, and read by perf."""
    path, fixed = folder / "k.data", folder / "fixed"
    with subprocess.Popen([PERFEV, "record", "-F", "4000", "-e", "cpu-clock", *options, "-a", "-o", path], env=ENV,
                          stderr=subprocess.DEVNULL) as recorder:
        time.sleep(seconds)
        recorder.send_signal(signal.SIGKILL)
    if not path.exists() or path.stat().st_size == 0:
        return 0
    partial = perfev("dump", "--stats", "--partial", "-i", path)
    expect(partial.code in (0, 1), partial.err)
    place = re.search(r"at offset (\d+)", partial.err)
    end = int(place[1]) if place else path.stat().st_size
    expect(end >= last_round(path), f"a round up to {last_round(path)} is lost: {partial.err}")
    header = perfev("dump", "--header", "-i", path, "--partial").out
    expect("event cpu-clock:" in header and "HOSTNAME: " in header, header)
    expect_code(perfev("fix", path, "-o", fixed), 0)
    counts = dict((name, int(count)) for name, count in (line.split() for line in partial.out.splitlines()))
    expect_code(perfev("dump", "--stats", "-i", fixed), 0)
    ours = stats(fixed)
    counts = counts if counts["TOTAL"] else {"FINISHED_ROUND": 1, "TOTAL": 1}
    expect(ours == counts, f"fixed: {ours}, before: {counts}")
    if shutil.which("perf"):
        expect(perf_counts(fixed) == ours, f"perf: {perf_counts(fixed)}, ours: {ours}")
    return ours.get("FINISHED_ROUND", 0)


def test_killed_recorders():
    """PERFEV_KILLS of them, at random moments; no round is lost that was written."""
    generator, rounds = random.Random(1), 0
    if perfev("record", "-e", "cpu-clock", "-a", "-o", "/dev/null", "--", "true").code:
        raise Skip("this user may not record the whole machine")
    with Folder() as folder:
        for number in range(KILLS):
            rounds += kill_one(folder, ["-z"] if number % 2 else [], 0.03 + generator.random() * 0.5)
    expect(rounds > 0, "none of them came to the end of a round")


def test_fix_of_a_whole_one():
    with Folder() as folder:
        path, fixed = folder / "a.data", folder / "fixed"
        expect_code(perfev("record", "-e", "cpu-clock", "-o", path, "--", BURN, "0.2"), 0)
        done = perfev("fix", path, "-o", fixed)
        expect_code(done, 0)
        expect(done.err.count("\n") == 1, done.err)
        expect_in("0 sections made anew", done.err)
        expect(stats(path) == stats(fixed), f"{stats(path)} {stats(fixed)}")
        expect(perfev("dump", "--header", "-i", path).out.splitlines()[2:] ==
               perfev("dump", "--header", "-i", fixed).out.splitlines()[2:], "other sections")
        expect_code(perfev("fix", path, "-o", fixed), 0)
        expect((folder / "fixed.old").exists(), "the old one is gone")


def test_fix_of_a_cut_one():
    """Cut anywhere: each record before the cut is in the copy."""
    with Folder() as folder:
        path, cut, fixed = folder / "a.data", folder / "cut", folder / "fixed"
        expect_code(perfev("record", "-e", "cpu-clock", "-z", "-o", path, "--", BURN, "0.3"), 0)
        data = path.read_bytes()
        begin, size = struct.unpack_from("=QQ", data, 40)
        for at in range(begin + 1, begin + size, size // 23):
            cut.write_bytes(data[:at])
            expect_code(perfev("dump", "--stats", "-i", cut), 1)
            done = perfev("fix", cut, "-o", fixed)
            expect_code(done, 0)
            partial = perfev("dump", "--stats", "--partial", "-i", cut)
            if "TOTAL 0" not in partial.out:
                expect(perfev("dump", "--stats", "-i", fixed).out == partial.out, f"at {at}")
            if shutil.which("perf"):
                expect(perf_counts(fixed) == stats(fixed), f"at {at}: perf {perf_counts(fixed)}, ours {stats(fixed)}")


def test_fix_of_a_cut_one_of_perf():
    """Whose compressed records end in the middle of what is in them."""
    if not shutil.which("perf"):
        raise Skip("perf is not installed")
    with Folder() as folder:
        path, cut, fixed = folder / "a.data", folder / "cut", folder / "fixed"
        run("perf", "record", "-q", "-e", "cpu-clock", "--call-graph", "dwarf,8192", "-F", "4000", "-z", "-o", path, "--", BURN, "0.5")
        data = path.read_bytes()
        begin, size = struct.unpack_from("=QQ", data, 40)
        for at in range(begin + size // 3, begin + size, size // 17):
            cut.write_bytes(data[:at])
            expect_code(perfev("fix", cut, "-o", fixed), 0)
            partial = perfev("dump", "--stats", "--partial", "-i", cut).out
            left, right = ({name: count for name, count in (line.split() for line in text.splitlines())
                            if name not in ("COMPRESSED", "TOTAL")} for text in
                           (partial, perfev("dump", "--stats", "-i", fixed).out))
            expect(left == right, f"at {at}: {left} {right}")
            expect(perf_counts(fixed) == stats(fixed), f"at {at}: perf {perf_counts(fixed)}, ours {stats(fixed)}")


def test_fix_of_a_stream():
    with Folder() as folder:
        path, fixed = folder / "s", folder / "fixed"
        expect_code(perfev("record", "-e", "cpu-clock", "-o", "-", "--", BURN, "0.2", stdout=path.open("wb")), 0)
        path.write_bytes(path.read_bytes()[:-3])
        expect_code(perfev("dump", "--stats", "-i", path), 1)
        expect_code(perfev("fix", path, "-o", fixed), 0)
        expect_code(perfev("dump", "--stats", "-i", fixed), 0)
        expect(perfev("dump", "--stats", "-i", fixed).out == perfev("dump", "--stats", "--partial", "-i", path).out, "other counts")


def test_fix_is_refused():
    with Folder() as folder:
        (folder / "x").write_bytes(b"this is no recording")
        done = perfev("fix", folder / "x", "-o", folder / "y")
        expect_code(done, 1)
        expect_one_line(done.err)
        expect(not (folder / "y").exists(), "something was written")
        expect_code(perfev("fix", folder / "x", "-o", folder / "x"), 2)
        expect_code(perfev("fix", folder / "x"), 2)
        expect_code(perfev("fix", "-o", folder / "y"), 2)
        expect_code(perfev("fix", folder / "x", folder / "z", "-o", folder / "y"), 2)


def test_folder_of_perf():
    """perf record --threads: several files, each a stream of its own."""
    if not shutil.which("perf"):
        raise Skip("perf is not installed")
    with Folder() as folder:
        for options in ([], ["-z"]):
            path, fixed = folder / "d.data", folder / "fixed"
            done = run("perf", "record", "-q", "--threads", *options, "-e", "cpu-clock", "-F", "2000", "-a", "-o", path, "--", BURN, "0.3")
            if done.code or not path.is_dir():
                raise Skip("perf does not record with threads here")
            expect(perf_counts(path) == stats(path), f"perf: {perf_counts(path)}, ours: {stats(path)}")
            expect(perfev("report", "--json", "-i", path).json()["events"][0]["samples"] == stats(path)["SAMPLE"], "samples")
            expect_code(perfev("fix", path, "-o", fixed), 0)
            whole = {name: count for name, count in stats(path).items() if name not in ("COMPRESSED", "TOTAL")}
            single = {name: count for name, count in stats(fixed).items() if name != "TOTAL"}
            expect(whole == single, f"{whole} {single}")
            expect(perf_counts(fixed) == stats(fixed), f"perf: {perf_counts(fixed)}, ours: {stats(fixed)}")
            shutil.rmtree(path)


def test_kernel_beside_a_recording():
    """perf record --kcore puts the kernel's symbols into the folder: they are taken, not those of this kernel."""
    if not shutil.which("perf"):
        raise Skip("perf is not installed")
    need_kernel_samples()
    with Folder() as folder:
        path = folder / "d.data"
        done = run("perf", "record", "-q", "--threads", "-e", "cpu-clock", "-F", "5000", "-a", "-o", path, "--", "dd", "if=/dev/zero",
                   "of=/dev/null", "bs=1M", "count=2000")
        if done.code or not path.is_dir():
            raise Skip("perf does not record with threads here")
        (path / "kcore_dir").mkdir()
        with open("/proc/kallsyms", encoding="utf-8") as real, open(path / "kcore_dir/kallsyms", "w", encoding="utf-8") as other:
            for line in real:
                address, kind, name = line.split()[:3]
                if "[" not in line:
                    other.write(f"{address} {kind} {name if name in ('_text', '_stext', '_etext') else 'beside_' + name}\n")
        functions = perfev("report", "--json", "-i", path).json()["functions"]
        kernel = [f["symbol"] for f in functions if f["module"] == "[kernel.kallsyms]"]
        if not kernel:
            raise Skip("no sample is of the kernel")
        expect(all(name.startswith(("beside_", "[", "0x", "_")) for name in kernel), f"{kernel[:5]}")


def test_full_disk():
    """What was written is a recording with its sections; as many samples as are told are in it."""
    need_root()
    need_command("unshare")
    with Folder() as folder:
        for options in ("", "-z"):
            (folder / "disk").mkdir(exist_ok=True)
            script = (f"mount -t tmpfs -o size=400k tmpfs {folder.path}/disk || exit 77; "
                      f"{PERFEV} record {options} -e cpu-clock -F 15000 -a -o {folder.path}/disk/a.data -- {BURN} 8; code=$?; "
                      f"cp {folder.path}/disk/a.data {folder.path}/a.data; exit $code")
            done = run("unshare", "-m", "sh", "-c", script)
            if done.code == 77:
                raise Skip("no disk can be mounted here")
            expect(done.code == 1, f"{done.code}: {done.err}")
            expect_in("the disk is full", done.err)
            told = int(re.search(r"([\d,]+) samples", done.err)[1].replace(",", ""))
            expect(stats(folder / "a.data")["SAMPLE"] == told, f"{stats(folder / 'a.data')} {done.err}")
            expect_in("HOSTNAME: ", perfev("dump", "--header", "-i", folder / "a.data").out)
            expect_code(perfev("fix", folder / "a.data", "-o", folder / "fixed"), 0)
            expect(perf_counts(folder / "fixed") == stats(folder / "a.data"), "other counts")


def test_disk_that_is_full_at_once():
    """A recording, or a copy, of which nothing could be written is not there, and an earlier one is where it was."""
    need_root()
    need_command("unshare")
    with Folder() as folder:
        (folder / "disk").mkdir()
        expect_code(perfev("record", "-e", "cpu-clock", "-o", folder / "a.data", "--", BURN, "0.1"), 0)
        script = (f"mount -t tmpfs -o size=64k tmpfs {folder.path}/disk && cd {folder.path}/disk || exit 77; "
                  f"head -c 5000 ../a.data >b.data; head -c 100000 /dev/zero >rest 2>/dev/null; "
                  f"for name in a b; do {PERFEV} record -e cpu-clock -o $name.data -- true && exit 1; done; "
                  f"{PERFEV} fix ../a.data -o c.data && exit 1; ls; wc -c <b.data")
        done = run("unshare", "-m", "sh", "-c", script)
        if done.code == 77:
            raise Skip("no disk can be mounted here")
        expect_same(done.out.split(), ["b.data", "rest", "5000"])
        expect_same(done.err.count("the disk is full, and nothing of it was written; make room, or take another place"), 2)
        expect_in("cannot write c.data: No space left on device", done.err)
