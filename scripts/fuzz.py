#!/usr/bin/env python3
"""Fuzzes every reader and parser, each for its share of the time, and prints a table.

  scripts/fuzz.py [--minutes M] [--build FOLDER] [--out FOLDER] [--jobs N] [TARGET…]

`make fuzz MINUTES=10` builds first. Inputs that led to new places in the code are kept in the out folder for the next
time. The exit code is 1 when something was found: the input is then kept in the out folder, as a file that
tests/fuzz/findings can take.
"""

import argparse
import concurrent.futures
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
LAST_PART = 0.2  # of a run: new coverage in it says that the run was too short


class Result:
    def __init__(self, target):
        self.target = target
        self.executions = self.coverage = self.new_coverage = self.memory = 0
        self.finding = ""


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
    start = time.monotonic()
    before_last_part = 0
    log = []
    process = subprocess.Popen(command, env=environment, text=True, errors="replace", stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    for line in process.stderr:
        log.append(line)
        if (coverage := re.search(r"\bcov: (\d+)", line)) is not None:
            result.coverage = max(result.coverage, int(coverage[1]))
            if time.monotonic() - start < (1 - LAST_PART) * seconds:
                before_last_part = result.coverage
        if (executions := re.match(r"#(\d+)\s", line)) is not None:
            result.executions = max(result.executions, int(executions[1]))
        if (total := re.match(r"stat::(number_of_executed_units|peak_rss_mb):\s*(\d+)", line)) is not None:
            if total[1] == "peak_rss_mb":
                result.memory = int(total[2])
            else:
                result.executions = int(total[2])
    result.new_coverage = result.coverage - before_last_part
    (folder / "log").write_text("".join(log))
    if process.wait() != 0:
        keep_finding(result, folder, "".join(log))
    return result


def print_table(results):
    print(f"{'target':18} {'executions':>12} {'coverage':>9} {'new at the end':>15} {'memory MB':>10}  finding")
    for result in results:
        print(f"{result.target:18} {result.executions:12,} {result.coverage:9,} {result.new_coverage:15,} "
              f"{result.memory:10,}  {result.finding or 'none'}")
    total = sum(result.executions for result in results)
    findings = sum(1 for result in results if result.finding)
    print(f"{len(results)} targets, {total:,} executions, findings: {findings}", flush=True)


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
    seconds = 60 * options.minutes * min(options.jobs, len(names)) / len(names)
    print(f"fuzz: {len(names)} targets, {seconds:.0f} s each, {options.jobs} at once; "
          f"inputs and findings are kept in {options.out}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda name: run(program, name, options.out / name, seconds), names))
    print_table(results)
    return 1 if any(result.finding for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
