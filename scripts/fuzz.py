#!/usr/bin/env python3
"""Fuzzes every reader and parser, each for its share of the time, and prints a table.

  scripts/fuzz.py [--minutes M] [--build FOLDER] [--out FOLDER] [--jobs N] [--restless] [--pack] [TARGET…]

`make fuzz MINUTES=10` builds first. Inputs that led to new places in the code are kept in the out folder for the next
time, and so is a record of all runs, record.json: `--minutes 0` prints it. --restless leaves out the targets that the
record calls quiet. The exit code is 1 when something was found: the input is then kept in the out folder, as a file that
tests/fuzz/findings can take.

--pack writes the record and, of each target, the fewest inputs that lead to all places known into tests/fuzz/corpus.tar.xz.
From there the next checkout takes them, and test_fuzz replays them.
"""

import argparse
import concurrent.futures
import hashlib
import io
import json
import os
import re
import subprocess
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACK = ROOT / "tests" / "fuzz" / "corpus.tar.xz"
RECORD = "record.json"
SECONDS_OF_AN_INPUT = 5  # longer is a hang
MOST_BYTES = 4096  # of an input
MEMORY_MB = 600  # of a process, most of it the sanitizer's
ONE_BLOCK_MB = 64
INTERRUPTED = 72  # the exit code then
# What the address sanitizer can do without here: long histories of blocks, and frames of functions that have returned.
FAST_SANITIZER = "quarantine_size_mb=4:malloc_context_size=1:detect_stack_use_after_return=0"
# A target has run long enough when it has had so many executions, and so many minutes without new coverage (edges), in
# all runs. Minutes are of the processor, since a process that waits for others finds nothing.
ENOUGH_EXECUTIONS = 100_000
ENOUGH_QUIET_MINUTES = 10


class Result:
    def __init__(self, target):
        self.target = target
        self.executions = self.coverage = self.memory = 0
        self.started = False  # the inputs that were kept have all been run
        self.found_new = False  # coverage beyond theirs
        self.quiet_seconds = 0.0  # since the last new coverage
        self.finding = ""


class Record:
    """What all runs together did, by target: executions, coverage, and seconds without new coverage at the end."""

    def __init__(self, folder):
        self.file = folder / RECORD
        self.targets = json.loads(self.file.read_text()) if self.file.exists() else {}

    def row(self, target):
        return self.targets.setdefault(target, {"executions": 0, "coverage": 0, "quiet_seconds": 0.0, "findings": 0})

    def add(self, result):
        row = self.row(result.target)
        row["executions"] += result.executions
        row["coverage"] = result.coverage or row["coverage"]
        row["quiet_seconds"] = result.quiet_seconds + (0 if result.found_new else row["quiet_seconds"])
        row["findings"] += 1 if result.finding else 0
        self.write()

    def write(self):
        self.file.write_text(json.dumps(self.targets, indent=1))

    def take(self, targets):
        """Rows of another record, where they tell of more than ours."""
        for name, row in targets.items():
            if row["executions"] > self.row(name)["executions"]:
                self.targets[name] = row
        self.write()

    def is_restless(self, target):
        return self.row(target)["quiet_seconds"] < 60 * ENOUGH_QUIET_MINUTES


# The pack has the record and a file of each target: inputs, each after a line with its number of bytes, as
# tests/fuzz/replay_test.cpp reads it.


def unpack(out, record):
    """Adds what the pack knows to the out folder."""
    if not PACK.exists():
        return
    with tarfile.open(PACK) as archive:
        for member in archive.getmembers():
            data = archive.extractfile(member).read()
            if member.name == RECORD:
                record.take(json.loads(data))
                continue
            corpus = out / member.name / "corpus"
            corpus.mkdir(parents=True, exist_ok=True)
            at = 0
            while at < len(data):
                begin = data.index(b"\n", at) + 1
                at = begin + int(data[at:begin])
                text = data[begin:at]
                (corpus / hashlib.sha1(text).hexdigest()).write_bytes(text)  # libFuzzer's name for it


def fewest(program, target, folder):
    """Of the kept inputs the fewest that lead to all places, beside the seeds."""
    with tempfile.TemporaryDirectory() as kept:
        for seed in (folder / "seeds").iterdir():
            shutil.copy(seed, Path(kept) / f"seed-{seed.name}")
        command = [program, "-merge=1", "-use_counters=0", f"-max_len={MOST_BYTES}", kept, folder / "corpus"]
        subprocess.run(command, env=environment_of(target), check=True, stderr=subprocess.DEVNULL)
        texts = [file.read_bytes() for file in Path(kept).iterdir() if not file.name.startswith("seed-")]
    return sorted(texts, key=lambda text: (len(text), text))


def pack(program, names, out, record):
    """Writes the same bytes for the same inputs and record."""

    def add(archive, name, data):
        member = tarfile.TarInfo(name)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))

    count = 0
    with tarfile.open(PACK, "w:xz", preset=9) as archive:
        add(archive, RECORD, json.dumps({name: record.row(name) for name in names}, indent=1).encode())
        for name in names:
            texts = fewest(program, name, out / name)
            count += len(texts)
            add(archive, name, b"".join(f"{len(text)}\n".encode() + text for text in texts))
    print(f"fuzz: {count:,} inputs in {PACK}: {PACK.stat().st_size:,} bytes")


def escaped(data):
    """As tests/fuzz/replay_test.cpp reads it."""
    text = ""
    for byte in data:
        character = chr(byte)
        if character == "\n":
            text += "\\n\n"
        elif character == "\\":
            text += "\\\\"
        else:
            text += character if " " <= character <= "~" else f"\\x{byte:02x}"
    return text


def keep_finding(result, folder, log):
    """Writes what was found as a file that can be kept as a test."""
    inputs = sorted(folder.glob("found-*"), key=lambda path: path.stat().st_mtime)
    reasons = re.findall(r"^(?:FINDING: .*|.*runtime error: .*|==\d+==\s*ERROR: .*)$", log, re.MULTILINE)
    why = reasons[0] if reasons else "it ended without a word"
    result.finding = why
    if inputs:
        kept = folder.parent / f"{result.target}-{inputs[-1].name[-8:]}.txt"
        kept.write_text(f"{why}\n{result.target}\n{escaped(inputs[-1].read_bytes())}\n")
        result.finding = f"{kept}: {why}"


def environment_of(target):
    environment = dict(os.environ, ISOCHRON_FUZZ_TARGET=target)
    environment.setdefault("ASAN_OPTIONS", FAST_SANITIZER)
    environment.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    return environment


def processor_seconds(process):
    """Of a process that nobody has waited for yet."""
    times = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


def run(program, target, folder, seconds):
    result = Result(target)
    corpus = folder / "corpus"
    corpus.mkdir(exist_ok=True)
    for old in folder.glob("found-*"):
        old.unlink()
    command = [
        program,
        corpus,
        folder / "seeds",
        f"-max_total_time={max(1, round(seconds))}",
        f"-artifact_prefix={folder}/found-",
        f"-max_len={MOST_BYTES}",
        f"-timeout={SECONDS_OF_AN_INPUT}",
        f"-rss_limit_mb={MEMORY_MB}",
        f"-malloc_limit_mb={ONE_BLOCK_MB}",
        "-print_final_stats=1",
        "-reload=0",
        "-entropic=0",  # a tenth faster
    ]
    words = folder / "words.dict"
    if words.stat().st_size > 0:  # libFuzzer refuses an empty one
        command.append(f"-dict={words}")
    last_news = 0.0
    log = []
    process = subprocess.Popen(command, env=environment_of(target), text=True, errors="replace", stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    for line in process.stderr:
        log.append(line)
        if (coverage := re.search(r"\bcov: (\d+)", line)) is not None and int(coverage[1]) > result.coverage:
            result.coverage = int(coverage[1])
            result.found_new = result.started
            last_news = processor_seconds(process)
        if re.match(r"#\d+\s+INITED", line) is not None:
            result.started = True
            last_news = processor_seconds(process)
        if (executions := re.match(r"#(\d+)\s", line)) is not None:
            result.executions = max(result.executions, int(executions[1]))
        if (total := re.match(r"stat::(number_of_executed_units|peak_rss_mb):\s*(\d+)", line)) is not None:
            if total[1] == "peak_rss_mb":
                result.memory = int(total[2])
            else:
                result.executions = int(total[2])
    if result.started:
        result.quiet_seconds = processor_seconds(process) - last_news
    (folder / "log").write_text("".join(log))
    if process.wait() not in (0, INTERRUPTED):
        keep_finding(result, folder, "".join(log))
    return result


def print_table(names, results, record):
    """A row of each target, of this run and of all, and which targets want more time."""
    rows = {name: record.row(name) for name in names}
    of_this_run = {result.target: result for result in results}
    print(f"{'target':16} {'executions':>11} {'in all runs':>12} {'coverage':>9} {'quiet minutes':>14} {'memory MB':>10}"
          "  finding")
    for name, row in rows.items():
        result = of_this_run.get(name, Result(name))
        print(f"{name:16} {result.executions:11,} {row['executions']:12,} {row['coverage']:9,} "
              f"{row['quiet_seconds'] / 60:14.1f} {result.memory:10,}  {result.finding or 'none'}")
    few = [name for name, row in rows.items() if row["executions"] < ENOUGH_EXECUTIONS]
    restless = [name for name in names if record.is_restless(name)]
    print(f"{len(rows)} targets, {sum(result.executions for result in results):,} executions, "
          f"{sum(row['executions'] for row in rows.values()):,} in all runs, "
          f"findings: {sum(1 for result in results if result.finding)}")
    print(f"fewer than {ENOUGH_EXECUTIONS:,} executions in all runs: {' '.join(few) or 'none'}")
    print(f"new coverage in the last {ENOUGH_QUIET_MINUTES} minutes: {' '.join(restless) or 'none'}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "fuzz")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "fuzz")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--restless", action="store_true", help="only targets with new coverage of late")
    parser.add_argument("--pack", action="store_true", help="then write tests/fuzz/corpus.tar.xz")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    options = parser.parse_args()
    program = options.build / "bin" / "isochron_fuzz"
    options.out.mkdir(parents=True, exist_ok=True)
    names = subprocess.run([program, "--prepare", options.out], check=True, capture_output=True, text=True).stdout.split()
    if unknown := set(options.targets) - set(names):
        parser.error(f"no such target: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    record = Record(options.out)
    unpack(options.out, record)
    all_names = names
    names = [name for name in options.targets or names if not options.restless or record.is_restless(name)]
    results = []
    if options.minutes > 0 and names:
        seconds = 60 * options.minutes * min(options.jobs, len(names)) / len(names)
        print(f"fuzz: {len(names)} targets, {seconds:.0f} s each, {options.jobs} at once; "
              f"inputs and findings are kept in {options.out}", flush=True)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for result in pool.map(lambda name: run(program, name, options.out / name, seconds), names):
                record.add(result)
                results.append(result)
    print_table(all_names if options.restless else names, results, record)
    if options.pack:
        pack(program, all_names, options.out, record)
    return 1 if any(result.finding for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
