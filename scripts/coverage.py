#!/usr/bin/env python3
"""Which lines and branches of src/ and include/ the tests ran: a table by folder from the counts that a build of the
preset `coverage` left behind.

  scripts/coverage.py [--build build/coverage] [--files] [--gaps FOLDER] [--least FOLDER=PERCENT]...

--files has a row for each file. --gaps lists the lines of a folder (or file) that did not run, and those with branches
that were never taken. --least fails when fewer branches of a folder were taken.

Every call that may throw has a hidden branch to the handlers. Those, and the branch beside each of them that goes on to
the next statement, are left out: no test decides them. So are branches on lines without a condition, such as those that
destroy half-made lists. Templates count once, however often they are compiled.
Exit codes: 0; 1 a folder has fewer branches taken than --least says; 2 there are no counts.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src/isochron/", "include/isochron/")
CONDITION = re.compile(r"\b(if|for|while|switch|case)\b|&&|\|\||\?|[=!<>]=| [<>] ")


def decided(branches):
    """The branches of a line that a condition decides."""
    kept, after_throw = [], False
    for branch in branches:
        if branch["throw"]:
            # Its sibling is the way on, beside it.
            if kept and kept[-1]["fallthrough"] and not after_throw:
                kept.pop()
                after_throw = False
            else:
                after_throw = True
            continue
        if after_throw:
            after_throw = False
            continue
        kept.append(branch)
    return [branch["count"] for branch in kept]


def instances(functions, number):
    """How many functions the innermost one around a line was compiled to: a generic lambda, to one for each type."""
    around = [f for f in functions if f["start_line"] <= number <= f["end_line"]]
    if not around:
        return 1
    inner = max((f["start_line"], f["start_column"]) for f in around)
    return sum(1 for f in around if (f["start_line"], f["start_column"]) == inner)


def folded(taken, times):
    """Adds up the branches of instances that gcov lists one after the other."""
    size, rest = divmod(len(taken), times)
    return [sum(taken[k::size]) for k in range(size)] if size and not rest else taken


def counts_in(data):
    """What gcov says about one object file."""
    done = subprocess.run(
        ["gcov", "--json-format", "--branch-probabilities", "--stdout", str(data)],
        cwd=data.parent,
        capture_output=True,
        text=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


class File:
    def __init__(self, name):
        self.source = (ROOT / name).read_text(encoding="utf-8").splitlines()
        self.lines = collections.Counter()
        # By line and number of branches: instances of a template may differ in what is left of a condition.
        self.branches = {}

    def add(self, line, functions):
        number = line["line_number"]
        self.lines[number] += line["count"]
        taken = decided(line["branches"])
        if taken and "function_name" not in line:
            taken = folded(taken, instances(functions, number))
        if taken and CONDITION.search(self.source[number - 1].split("//")[0]):
            before = self.branches.setdefault(number, {}).setdefault(len(taken), [0] * len(taken))
            self.branches[number][len(taken)] = [a + b for a, b in zip(before, taken)]

    def branch_counts(self):
        """By line, those of the instance with most branches."""
        return {number: by_size[max(by_size)] for number, by_size in self.branches.items()}

    def totals(self):
        branches = [count for counts in self.branch_counts().values() for count in counts]
        ran = sum(1 for count in self.lines.values() if count)
        return [ran, len(self.lines), sum(1 for count in branches if count), len(branches)]


def read_counts(build):
    files = {}
    data = sorted(build.rglob("*.gcda"))
    if not data:
        print(f"coverage: {build} has no counts; build the preset coverage and run tests", file=sys.stderr)
        sys.exit(2)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for reports in pool.map(counts_in, data):
            for report in reports:
                for entry in report["files"]:
                    name = os.path.relpath(os.path.join(report["current_working_directory"], entry["file"]), ROOT)
                    if name.startswith(FOLDERS):
                        file = files.setdefault(name, File(name))
                        for line in entry["lines"]:
                            file.add(line, entry["functions"])
    return files


def percent(part, whole):
    return 100 * part / whole if whole else 100.0


def print_table(totals):
    print(f"{'':50} {'lines':>17} {'branches':>19}")
    for name, (ran, lines, taken, branches) in totals.items():
        print(
            f"{name:50} {ran:6}/{lines:<6} {percent(ran, lines):5.1f} % {taken:6}/{branches:<6} {percent(taken, branches):5.1f} %"
        )


def print_gaps(files, folder):
    for name in sorted(name for name in files if name.startswith(folder)):
        branches = files[name].branch_counts()
        for number in sorted(files[name].lines):
            missing = sum(1 for count in branches.get(number, []) if not count)
            if files[name].lines[number] == 0 or missing:
                kind = "not run" if files[name].lines[number] == 0 else f"{missing} of {len(branches[number])}"
                print(f"{name}:{number}: {kind:8} {files[name].source[number - 1].strip()}")


def summed(files, folder_of):
    totals = collections.defaultdict(lambda: [0, 0, 0, 0])
    for name in sorted(files):
        for group in (folder_of(name), "all"):
            totals[group] = [a + b for a, b in zip(totals[group], files[name].totals())]
    totals["all"] = totals.pop("all")
    return totals


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "coverage")
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--gaps", metavar="FOLDER")
    parser.add_argument("--least", metavar="FOLDER=PERCENT", action="append", default=[])
    options = parser.parse_args()
    files = read_counts(options.build.resolve())
    if options.gaps:
        print_gaps(files, options.gaps)
    print_table(summed(files, (lambda name: name) if options.files else os.path.dirname))
    failed = False
    for wish in options.least:
        folder, _, least = wish.partition("=")
        inside = {name: file for name, file in files.items() if name.startswith(folder.rstrip("/") + "/")}
        _, _, taken, branches = summed(inside, os.path.dirname)["all"]
        if percent(taken, branches) < float(least):
            print(f"coverage: {percent(taken, branches):.1f} % of the branches in {folder} were taken, not {least} %")
            failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
