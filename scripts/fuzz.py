#!/usr/bin/env python3
"""Fuzzes every reader and parser, each for its share of the time, and prints a table.

  scripts/fuzz.py [--minutes M] [--build FOLDER] [--out FOLDER] [--jobs N] [TARGET…]

`make fuzz MINUTES=10` builds first. Inputs that led to new places in the code are kept in the out folder for the next
time, and so is a record of all runs, record.json: `--minutes 0` prints it. The exit code is 1 when something was found:
the input is then kept in the out folder, as a file that tests/fuzz/findings can take.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

SECONDS_OF_AN_INPUT = 5  # longer is a hang
MOST_BYTES = 4096  # of an input
MEMORY_MB = 600  # of a process, most of it the sanitizer's
ONE_BLOCK_MB = 64
# What the address sanitizer can do without here: long histories of blocks, and frames of functions that have returned.
FAST_SANITIZER = "quarantine_size_mb=4:malloc_context_size=1:detect_stack_use_after_return=0"
# A target has run long enough when it has had so many executions, and so many minutes without new coverage, in all runs.
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
        self.file = folder / "record.json"
        self.targets = json.loads(self.file.read_text()) if self.file.exists() else {}

    def row(self, target):
        return self.targets.setdefault(target, {"executions": 0, "coverage": 0, "quiet_seconds": 0.0, "findings": 0})

    def add(self, result):
        row = self.row(result.target)
        row["executions"] += result.executions
        row["coverage"] = result.coverage or row["coverage"]
        row["quiet_seconds"] = result.quiet_seconds + (0 if result.found_new else row["quiet_seconds"])
        row["findings"] += 1 if result.finding else 0
        self.file.write_text(json.dumps(self.targets, indent=1))


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
    environment = dict(os.environ, ISOCHRON_FUZZ_TARGET=target)
    environment.setdefault("ASAN_OPTIONS", FAST_SANITIZER)
    environment.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    last_news = time.monotonic()
    log = []
    process = subprocess.Popen(command, env=environment, text=True, errors="replace", stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    for line in process.stderr:
        log.append(line)
        if (coverage := re.search(r"\bcov: (\d+)", line)) is not None and int(coverage[1]) > result.coverage:
            result.coverage = int(coverage[1])
            result.found_new = result.started
            last_news = time.monotonic()
        if re.match(r"#\d+\s+INITED", line) is not None:
            result.started = True
            last_news = time.monotonic()
        if (executions := re.match(r"#(\d+)\s", line)) is not None:
            result.executions = max(result.executions, int(executions[1]))
        if (total := re.match(r"stat::(number_of_executed_units|peak_rss_mb):\s*(\d+)", line)) is not None:
            if total[1] == "peak_rss_mb":
                result.memory = int(total[2])
            else:
                result.executions = int(total[2])
    result.quiet_seconds = time.monotonic() - last_news
    (folder / "log").write_text("".join(log))
    if process.wait() != 0:
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
    restless = [name for name, row in rows.items() if row["quiet_seconds"] < 60 * ENOUGH_QUIET_MINUTES]
    print(f"{len(rows)} targets, {sum(result.executions for result in results):,} executions, "
          f"{sum(row['executions'] for row in rows.values()):,} in all runs, "
          f"findings: {sum(1 for result in results if result.finding)}")
    print(f"fewer than {ENOUGH_EXECUTIONS:,} executions in all runs: {' '.join(few) or 'none'}")
    print(f"new coverage in the last {ENOUGH_QUIET_MINUTES} minutes: {' '.join(restless) or 'none'}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--build", type=Path, default=root / "build" / "fuzz")
    parser.add_argument("--out", type=Path, default=root / "out" / "fuzz")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    options = parser.parse_args()
    program = options.build / "bin" / "isochron_fuzz"
    options.out.mkdir(parents=True, exist_ok=True)
    names = subprocess.run([program, "--prepare", options.out], check=True, capture_output=True, text=True).stdout.split()
    if unknown := set(options.targets) - set(names):
        parser.error(f"no such target: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    names = options.targets or names
    record = Record(options.out)
    results = []
    if options.minutes > 0:
        seconds = 60 * options.minutes * min(options.jobs, len(names)) / len(names)
        print(f"fuzz: {len(names)} targets, {seconds:.0f} s each, {options.jobs} at once; "
              f"inputs and findings are kept in {options.out}", flush=True)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for result in pool.map(lambda name: run(program, name, options.out / name, seconds), names):
                record.add(result)
                results.append(result)
    print_table(names, results, record)
    return 1 if any(result.finding for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
