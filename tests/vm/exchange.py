# SPDX-License-Identifier: MIT
"""Recordings that are made in a guest and read here, and the other way: the same counts, the same text."""
import base64
import collections
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import guest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# what is recorded: in guests with PMUs of ours, and here
IN_GUEST = {
    "samples": "-e cycles -e page-faults -F 2000",
    "trace": "-e aux_fake/kb=4/ -m 64",
    "packets": "-e intel_pt/pt,tsc/u",
}
HERE = {"here": ["-e", "cpu-clock", "-e", "page-faults", "-F", "2000"]}
kept = {}  # traces that guests before made: machines without a PMU that traces read them too
WAYS = {"stats": ["--stats"], "text": [], "json": ["--json"]}  # of dump

SCRIPT = """\
cd /tmp
send() {{
	echo "@@@ $1"
	busybox gzip -c "$1" | busybox base64
	echo "@@@"
}}
show() {{
	/t/perfev dump -i "$1" --stats >"$1.stats" || echo "FAILED dump --stats $1"
	/t/perfev dump -i "$1" >"$1.text" || echo "FAILED dump $1"
	/t/perfev dump -i "$1" --json >"$1.json" || echo "FAILED dump --json $1"
	for way in stats text json; do send "$1.$way"; done
}}
{commands}
echo "exchange: done"
"""


class Wrong(Exception):
    pass


def script(names):
    lines = []
    for name, options in IN_GUEST.items():
        lines.append(f"/t/perfev record {options} -o {name} -- /t/burn 0.3 || echo FAILED record {name}")
        lines += [f"send {name}", f"show {name}"]
    for name in names:
        lines += [f"busybox cp /t/{name} {name}", f"show {name}"]
    return SCRIPT.format(commands="\n".join(lines))


def sent(output):
    """The files that a guest printed."""
    found = {}
    for name, text in re.findall(r"^@@@ (\S+)\n(.*?)^@@@$", output, re.M | re.S):
        try:
            found[name] = gzip.decompress(base64.b64decode(text))
        except (ValueError, OSError, EOFError) as reason:
            raise Wrong(f"{name} came out damaged: {reason}") from reason
    return found


def run(words, **more):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                          env={**os.environ, "LC_ALL": "C"}, **more)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def counts(text):
    """{record: number} of dump --stats."""
    return {name: int(number) for name, number in re.findall(r"^(\S+) (\d+)$", text.decode(), re.M)}


def difference(theirs, ours):
    theirs, ours = theirs.decode(errors="replace").splitlines(), ours.decode(errors="replace").splitlines()
    for number, (a, b) in enumerate(zip(theirs, ours), 1):
        if a != b:
            return f"line {number}: '{a}' there, '{b}' here"
    return f"{len(theirs)} lines there, {len(ours)} here"


def same_dump(perfev, folder, name, files):
    """What the guest's dump printed of a file is what ours prints."""
    for way, options in WAYS.items():
        code, ours, err = run([perfev, "dump", "-i", folder / name, *options])
        if code:
            raise Wrong(f"{name}: dump {' '.join(options)} here: {err.strip()}")
        theirs = files.get(f"{name}.{way}")
        if theirs is None:
            raise Wrong(f"{name}.{way} did not come out")
        if theirs != ours:
            raise Wrong(f"{name}: dump {' '.join(options)}: {difference(theirs, ours)}")


def needs(numbers, *names):
    for name in names:
        if not numbers.get(name):
            raise Wrong(f"there is no {name}: {numbers}")


def perf_counts(path):
    """{record: number} as the perf tool counts them; None where there is none."""
    if not shutil.which("perf"):
        return None
    code, out, err = run(["perf", "report", "-i", path, "--stats", "--stdio"])
    if code:
        raise Wrong(f"perf report --stats {path.name}: status {code}: {err.strip()[-300:]}")
    every = re.split(r"^(?!Aggregated)\S.* stats:$", out.decode(errors="replace"), flags=re.M)[0]
    return {name: int(number) for name, number in re.findall(r"^ *(\S+) events: +(\d+)", every, re.M)}


def same_as_perf(path, numbers):
    theirs = perf_counts(path)
    if theirs is None:
        return
    if theirs != numbers:
        raise Wrong(f"{path.name}: {numbers}, perf: {theirs}")
    # of a PMU that perf does not know it refuses the trace, unless it is told to leave it alone
    code, out, err = run(["perf", "script", "-i", path, "--no-itrace", "-F", "tid,time,event"])
    lines = out.decode(errors="replace").splitlines()
    if code or len(lines) != numbers.get("SAMPLE", 0):
        raise Wrong(f"{path.name}: {numbers.get('SAMPLE', 0)} samples, perf script: {len(lines)} lines, status {code}: {err[-300:]}")


def same_packets(perfev, path):
    """The packets of a trace, as perf shows them: how many there are of each."""
    if not shutil.which("perf"):
        return
    code, out, err = run(["perf", "report", "-i", path, "-D"])
    theirs = collections.Counter(re.findall(rb"^\.  [0-9a-f]{8}:  (?:[0-9a-f]{2} )+ *([A-Z][\w.]*)", out, re.M))
    _, text, _ = run([perfev, "dump", "-i", path, "--packets", "1000000"])
    ours = collections.Counter(re.findall(rb"^ +0x[0-9a-f]{8,} (?: [0-9a-f]{2})+(?: \.\.\.)? +([A-Z][\w.]*)", text, re.M))
    ours[b"PAD"] = sum(int(n or 1) for n in re.findall(rb" PAD(?: x(\d+))?$", text, re.M))
    # perf leaves out most of a row of PADs
    theirs.pop(b"PAD", None)
    pads = ours.pop(b"PAD", 0)
    if code or theirs != ours or not ours[b"PSB"] or not pads:
        raise Wrong(f"{path.name}: packets {dict(ours)} and {pads} PAD, perf: {dict(theirs)}, status {code}: {err[-300:]}")
    code, out, err = run(["perf", "script", "-i", path, "--itrace=be"])
    if code or b"error" in out:
        raise Wrong(f"{path.name}: perf script --itrace: status {code}: {out[:200]} {err[-200:]}")


def record_here(perfev, burn, folder):
    for name, options in HERE.items():
        code, _, err = run([perfev, "record", *options, "-o", folder / name, "--", burn, "0.3"])
        if code:
            raise Wrong(f"record here: {err.strip()}")


def checks(perfev, folder, files, names):
    """(what, a function that raises Wrong) for each."""
    for name in IN_GUEST:
        if name in files:
            (folder / name).write_bytes(files[name])
        numbers = counts(files.get(f"{name}.stats", b""))
        yield f"{name}: what was to be recorded", lambda n=numbers, k=name: needs(
            n, "MMAP2", "COMM", *(["SAMPLE"] if k == "samples" else ["AUX", "AUXTRACE"]))
        yield f"{name}: written there, read here", lambda k=name: same_dump(perfev, folder, k, files)
        yield f"{name}: written there, read by perf", lambda n=numbers, k=name: same_as_perf(folder / k, n)
    yield "packets: those that perf shows", lambda: same_packets(perfev, folder / "packets")
    for name in names:
        yield f"{name}: written here, read there", lambda k=name: same_dump(perfev, folder, k, files)


def exchange(which, programs, ours, limit):
    """A guest, its perfev and burn ({name: path}), and those of this machine: the run, and [(what, None or what is wrong)]."""
    with tempfile.TemporaryDirectory(prefix="perfev-exchange-") as folder:
        folder = pathlib.Path(folder)
        record_here(ours["perfev"], ours["burn"], folder)
        for name, data in kept.items():
            (folder / name).write_bytes(data)
        brought = [*HERE, *kept]
        (folder / "exchange.sh").write_text(script(brought))
        files = {f"t/{name}": path for name, path in programs.items()}
        files.update({f"t/{name}": folder / name for name in [*brought, "exchange.sh"]})
        files["t/pmus.ko"] = guest.module(ROOT / "tests/vm/pmus", which.suite, which.arch)
        run_ = guest.boot(which.arch, which.suite, files, ["/bin/sh /t/exchange.sh"], ["/t/pmus.ko"], which.kernel, which.cpus,
                          limit)
        results = [("the guest's commands", None if "exchange: done" in run_.output and "FAILED" not in run_.output
                    else (re.findall(r"FAILED.*|perfev: .*", run_.output) or run_.output.splitlines()[-5:]))]
        came = {}
        try:
            came = sent(run_.output)
            for what, check in checks(ours["perfev"], folder, came, brought):
                try:
                    check()
                    results.append((what, None))
                except Wrong as wrong:
                    results.append((what, str(wrong)))
        except Wrong as wrong:
            results.append(("what was sent", str(wrong)))
        if which.arch == "amd64" and not kept:
            kept.update({f"amd64-{name}": came[name] for name in ("trace", "packets") if name in came})
        if os.environ.get("PERFEV_VM_LOGS"):
            shutil.copytree(folder, pathlib.Path(os.environ["PERFEV_VM_LOGS"], which.name), dirs_exist_ok=True)
        return run_, results
