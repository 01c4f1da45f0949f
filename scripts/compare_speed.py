#!/usr/bin/env python3
"""Compares the speed of two builds: runs benchmarks with both in turn and prints the median ratio of each row.

  scripts/compare_speed.py OLD NEW BENCH... [--runs 7] [--seconds S] [--limit 1.03] [--launcher "mpirun -n 16"]
      [-- BENCH OPTIONS]

OLD and NEW are `isochron` commands. Only rows in units of time are compared. After S seconds no benchmark begins another
pair of runs; the first pair is always made. Exit codes: 0 no row is slower than the limit, 1 some are, 2 a benchmark
failed.
"""

import argparse
import json
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6}


def times_of(command, bench, launcher, options):
    """Seconds by row and column of one run."""
    with tempfile.TemporaryDirectory() as folder:
        run = [*launcher, command, "bench", bench, *options, "-o", folder]
        done = subprocess.run(run, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{shlex.join(run)} ended with code {done.returncode}: {done.stderr.strip()[-300:]}")
        entries = json.loads((Path(folder) / f"{bench}.json").read_text())["entries"]
    return {
        (entry["row"], entry["column"]): entry["ours"] * SECONDS[entry["unit"]]
        for entry in entries
        if entry["ours"] and entry["unit"] in SECONDS
    }


def compare(old, new, bench, arguments, launcher):
    """How many pairs of runs of one benchmark, and its rows: old seconds, new seconds, ratio; medians over the runs."""
    commands, runs = (old, new), ([], [])
    for number in range(arguments.runs):
        if number > 0 and time.monotonic() > arguments.end:
            break
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            runs[which].append(times_of(commands[which], bench, launcher, arguments.options))
    rows = {}
    for key in runs[1][0]:
        pairs = [(a[key], b[key]) for a, b in zip(*runs) if key in a and key in b]
        if pairs:
            olds, news = zip(*pairs)
            ratio = statistics.median(b / a for a, b in pairs)
            rows[key] = statistics.median(olds), statistics.median(news), ratio
    return len(runs[0]), rows


def main():
    arguments = sys.argv[1:]
    split = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("benches", nargs="+")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--limit", type=float, default=1.03)
    parser.add_argument("--launcher", default="")
    parsed = parser.parse_args(arguments[:split])
    parsed.options = arguments[split + 1 :]
    parsed.end = time.monotonic() + parsed.seconds
    slower = 0
    for bench in parsed.benches:
        try:
            runs, rows = compare(parsed.old, parsed.new, bench, parsed, shlex.split(parsed.launcher))
        except RuntimeError as error:
            print(f"{bench}: {error}", file=sys.stderr)
            return 2
        print(f"{bench}: {runs} runs of each, in turn", flush=True)
        for (row, column), (old, new, ratio) in rows.items():
            mark = "  slower" if ratio > parsed.limit else ""
            slower += bool(mark)
            print(f"  {row} | {column}: {old:.6g} s, {new:.6g} s, ratio {ratio:.3f}{mark}", flush=True)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
