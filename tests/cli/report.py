# SPDX-License-Identifier: MIT
"""perfev report: shares, sums, forms, filters."""
import re
import struct

import cli
from cli import BURN, Folder, expect, expect_code, expect_in, need_command, perfev, run, stats

made = {}


def recording():
    """One recording for all tests here: about 10,000 samples."""
    if "path" not in made:
        made["folder"] = Folder().__enter__()
        made["path"] = made["folder"] / "burn.data"
        done = perfev("record", "-e", "cpu-clock", "-F", "10000", "-o", made["path"], "--", BURN, "1.3")
        expect_code(done, 0)
    return made["path"]


def test_shares_of_known_functions():
    """50, 30 and 20 percent, within 2 points."""
    report = perfev("report", "-i", recording(), "--json").json()
    shares = {f["symbol"]: f["self"] for f in report["functions"] if f["symbol"].startswith("burn_")}
    total = sum(shares.values())
    expect(report["events"][0]["samples"] > 7000, f"{report['events']}")
    for name, share in (("burn_50", 50), ("burn_30", 30), ("burn_20", 20)):
        got = 100 * shares[name] / total
        expect(abs(got - share) <= 2, f"{name}: {got:.1f} %")


INLINED = """
static inline __attribute__((always_inline)) double work(double x)
{
	for (int i = 0; i < 1000; i++)
		x = x * 1.0000001 + i;
	return x;
}
static inline __attribute__((always_inline)) double middle(double x) { return work(x) + 1; }
__attribute__((noinline)) double outer(double x) { return middle(x) * 2; }
int main(void)
{
	volatile double x = 1;
	for (int i = 0; i < 300000; i++)
		x = outer(x);
}
"""


def test_inlined_functions():
    need_command("cc")
    with Folder() as folder:
        program, path = folder / "inlined", folder / "a.data"
        built = run("cc", "-O2", "-g", "-fno-omit-frame-pointer", "-x", "c", "-", "-o", program, stdin=None, input=INLINED.encode())
        expect_code(built, 0)
        expect_code(perfev("record", "-e", "cpu-clock:u", "-F", "2000", "-o", path, "--", program), 0)
        rows = {f["symbol"]: f for f in perfev("report", "-i", path, "--json").json()["functions"]}
        expect(rows["work"]["self"] > 0.9 * rows["outer"]["total"] > 20, f"{rows}")
        expect(rows["middle"]["total"] >= rows["work"]["total"], f"{rows}")
        expect_in("outer;middle;work", perfev("report", "-i", path, "--folded").out)
        plain = {f["symbol"]: f for f in perfev("report", "-i", path, "--json", "--no-inline").json()["functions"]}
        expect("work" not in plain and plain["outer"]["self"] == rows["outer"]["total"], f"{plain}")
        lines = perfev("script", "-i", path, "-F", "ip,sym,srcline").out
        expect_in("<stdin>:", lines)


def test_sums_agree():
    path = recording()
    report = perfev("report", "-i", path, "--json").json()
    folded = perfev("report", "-i", path, "--folded").out
    samples = report["events"][0]["samples"]
    expect(sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()) == samples, "folded")
    expect(stats(path)["SAMPLE"] == samples, "dump --stats")
    expect(sum(f["self"] for f in report["functions"]) == samples, "self")


def test_folded_is_sorted_and_rooted_in_the_comm():
    lines = perfev("report", "-i", recording(), "--folded").out.splitlines()
    stacks = [line.rsplit(" ", 1)[0] for line in lines]
    expect(stacks == sorted(stacks), "sorted")
    expect(len(set(stacks)) == len(stacks), "a stack is there twice")
    expect(all(stack.split(";")[0] == "burn" for stack in stacks), f"{stacks[:3]}")
    expect(any(re.fullmatch(r"burn;.*;main(;burn)?;burn_50", stack) for stack in stacks), f"{stacks}")


def test_json_order_and_keys():
    report = perfev("report", "-i", recording(), "--json").json()
    expect(set(report) == {"events", "lost", "duration_ns", "functions", "unresolved"}, f"{set(report)}")
    keys = [(-f["self"], -f["total"], f["symbol"]) for f in report["functions"]]
    expect(keys == sorted(keys), "functions are not sorted")
    expect(1.0e9 < report["duration_ns"] < 60e9, f"{report['duration_ns']}")
    main = [f for f in report["functions"] if f["symbol"] == "main"]
    expect(main and main[0]["total"] > 0.8 * report["events"][0]["samples"], f"{main}")
    for item in report["unresolved"]:
        expect(item["samples"] > 0 and item["why"], f"{item}")


def test_text():
    done = perfev("report", "-i", recording())
    expect_code(done, 0)
    expect(re.search(r"^ +[45]\d\.\d\d% +[45]\d\.\d\d% +[\d,]+   burn_50", done.out, re.M), done.out)
    tree = perfev("report", "-i", recording(), "-g").out
    expect_in("call tree", tree)
    expect(re.search(r"^ +\d+\.\d\d% +main", tree, re.M), tree)
    few = perfev("report", "-i", recording(), "--limit", "2").out
    expect_in("more; --limit", few)


def test_filters():
    path = recording()
    all_samples = perfev("report", "-i", path, "--json").json()["events"][0]["samples"]
    same = perfev("report", "-i", path, "--json", "--comm", "burn").json()["events"][0]["samples"]
    none = perfev("report", "-i", path, "--json", "--comm", "nobody").json()["events"][0]["samples"]
    expect(same == all_samples and none == 0, f"{all_samples} {same} {none}")
    expect(perfev("report", "-i", path, "--json", "--pid", "1").json()["events"][0]["samples"] == 0, "pid")
    expect(perfev("report", "-i", path, "--json", "--event", "cycles").json()["events"] == [], "event")


def test_a_changed_file_is_not_used():
    """The program is replaced after the recording: its build-id tells, and nothing is named wrongly."""
    with Folder() as folder:
        home = dict(cli.ENV, HOME=str(folder.path))  # without a cache of perf, which may have the file
        program = folder / "prog"
        program.write_bytes(cli.pathlib.Path(BURN).read_bytes())
        program.chmod(0o755)
        path = folder / "a.data"
        expect_code(perfev("record", "-e", "cpu-clock:u", "-o", path, "--", program, "0.3"), 0)
        report = perfev("report", "-i", path, "--json", env=home).json()
        expect(report["functions"][0]["symbol"].startswith("burn_"), f"{report['functions'][0]}")
        program.write_bytes(cli.pathlib.Path(cli.PERFEV).read_bytes())
        report = perfev("report", "-i", path, "--json", env=home).json()
        missing = [u for u in report["unresolved"] if u["module"] == str(program)]
        expect(missing and "build-id" in missing[0]["why"], f"{report['unresolved']}")
        program.unlink()
        report = perfev("report", "-i", path, "--json", env=home).json()
        missing = [u for u in report["unresolved"] if u["module"] == str(program)]
        expect(missing and "cannot be read" in missing[0]["why"], f"{report['unresolved']}")


def test_html():
    with Folder() as folder:
        done = perfev("report", "-i", recording(), "--html", "-", cwd=folder.path)
        expect(done.code == 0 and done.out.startswith("<!DOCTYPE html>") and not done.err, done.err)
        expect(not list(folder.path.iterdir()), "a file was written")
        done = perfev("report", "-i", recording(), "--html", folder / "r.html")
        expect_code(done, 0)
        expect(done.out == "", done.out)
        cli.need_command("node")
        page = cli.run("node", cli.pathlib.Path(__file__).parent.parent / "viewer" / "run.mjs", "--page",
                       folder / "r.html", timeout=120)
        closing = page.out.strip().splitlines()[-1]
        if " 0 failed, 0 skipped" not in closing and "0 failed" in closing:
            raise cli.Skip("the page cannot be opened here: " + page.out.splitlines()[0])
        expect_in(" 0 failed", closing)


def deferred_recording(path):
    """As a kernel of 6.19 writes it: two samples in the kernel, and the user part of one of them, which comes later."""
    sample_type = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5  # IP, TID, TIME, CALLCHAIN
    flags = 1 << 18 | 1 << 38 | 1 << 39  # sample_id_all, defer_callchain, defer_output
    attr = struct.pack("<IIQQQQQ", 1, 144, 0, 1000, sample_type, 0, flags).ljust(144, b"\0")

    def record(kind, misc, body):
        return struct.pack("<IHH", kind, misc, 8 + len(body)) + body

    def sample(tid, time, cookie):
        chain = [0xffffffffffffff80, 0xffffffff81000010, 0xfffffffffffffd80, cookie]
        return record(9, 1, struct.pack("<QIIQQ4Q", 0xffffffff81000010, 5, tid, time, len(chain), *chain))

    user = struct.pack("<QQ2Q", 7, 2, 0x401136, 0x4010f0) + struct.pack("<IIQ", 5, 6, 30)
    data = sample(6, 10, 7) + sample(8, 20, 9) + record(22, 2, user)
    header = struct.pack("<8sQQ8Q", b"PERFILE2", 104, 160, 104, 160, 264, len(data), 0, 0, 0, 0).ljust(104, b"\0")
    with open(path, "wb") as file:
        file.write(header + attr + struct.pack("<QQ", 0, 0) + data)


def test_user_stacks_that_come_later():
    with Folder() as folder:
        path = folder / "deferred.data"
        deferred_recording(path)
        folded = perfev("report", "-i", path, "--folded").out.splitlines()
        expect(len(folded) == 2 and all(line.endswith(" 1") for line in folded), f"{folded}")
        depths = sorted(line.count(";") for line in folded)
        expect(depths == [1, 3], f"{folded}")
        expect_in("# 1 samples are without the user part", perfev("report", "-i", path).out)
