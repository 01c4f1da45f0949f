#!/usr/bin/env python3
"""Which lines and branches of src/ and include/ the tests ran: a table by folder from the counts that a build of the
preset `coverage` left behind.

  scripts/coverage.py [--build build/coverage] [--files] [--gaps FOLDER] [--least FOLDER=PERCENT]...

--files has a row for each file. --gaps lists the lines of a folder (or file) that did not run, and those with branches
that were never taken. --least fails when fewer branches of a folder were taken.

Every call that may throw has a hidden branch to the handlers. Those, and the branch beside each of them that goes on to
the next statement, are left out: no test decides them. So are branches that ask, where an exception leaves a line that
ran, which of its temporaries are to be destroyed; branches on lines without a condition, such as those that destroy
half-made lists; and asserts, whose other branch ends the program. Templates count once, however often they are
compiled: where instances have different numbers of branches, those that ran most.
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
# In listings of gcov: the state of a block, and the number and text of a line.
BLOCK = re.compile(r" *(\S+): +\d+-block ")
LINE = re.compile(r" *\S+: +(\d+):(.*)")
CONDITION = re.compile(r"\b(if|for|while|switch|case)\b|&&|\|\||\?|[=!<>]=| [<>] ")


def decided(branches, cleaning):
    """The branches of a line that a condition decides, without those at the given places."""
    kept, after_throw = [], False
    for branch in (b for place, b in enumerate(branches) if place not in cleaning):
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


def instances(functions, number, name):
    """How many functions the innermost one around a line was compiled to: a generic lambda, to one for each type. One
    where gcov has a list of branches for each."""
    around = [f for f in functions if f["start_line"] <= number <= f["end_line"]]
    if not around:
        return 1
    inner = max((f["start_line"], f["start_column"]) for f in around)
    same = [f["name"] for f in around if (f["start_line"], f["start_column"]) == inner]
    return 1 if name in same else len(same)


def folded(taken, times):
    """Adds up the branches of instances that gcov lists one after the other."""
    size, rest = divmod(len(taken), times)
    return [sum(taken[k::size]) for k in range(size)] if size and not rest else taken


def gcov(data, *options):
    command = ["gcov", "--branch-probabilities", "--stdout", *options, str(data)]
    return subprocess.run(command, cwd=data.parent, capture_output=True, text=True).stdout.splitlines()


def cleaning_branches(listing):
    """By file, function and line of a listing with blocks: the places of branches in blocks that did not run and that
    exceptions alone lead to. The function has no name where gcov lists it once."""
    places = collections.defaultdict(set)
    file = function = ""
    number, place, by_exception = 0, 0, False
    for line in listing:
        if line.startswith("branch"):
            if by_exception:
                places[file, function, number].add(place)
            place += 1
        elif block := BLOCK.match(line):
            by_exception = block[1] == "$$$$$"
        elif source := LINE.match(line):
            number, place, by_exception = int(source[1]), 0, False
            if source[2].startswith("Source:") and number == 0:
                file = source[2].removeprefix("Source:")
        elif line.startswith("-----"):
            function = ""
        elif line.startswith("_Z") and line.endswith(":"):
            function = line[:-1]
    return places


def counts_in(data):
    """What gcov says about one object file, and its `cleaning_branches`."""
    reports = [json.loads(line) for line in gcov(data, "--json-format") if line.startswith("{")]
    return reports, cleaning_branches(gcov(data, "--all-blocks"))


class File:
    def __init__(self, name):
        self.source = (ROOT / name).read_text(encoding="utf-8").splitlines()
        self.lines = collections.Counter()
        # By line and number of branches: instances of a template may differ in what is left of a condition.
        self.branches = {}

    def with_end(self, function):
        """The function with its last line where gcov has the first one, as for generic lambdas in templates."""
        start = function["start_line"]
        first = self.source[start - 1]
        if function["end_line"] > start or not first.endswith("{"):
            return function
        closing = first[: len(first) - len(first.lstrip())] + "}"
        ends = (n for n in range(start, len(self.source)) if self.source[n].startswith(closing))
        return {**function, "end_line": next(ends, start - 1) + 1}

    def add(self, line, functions, cleaning):
        number = line["line_number"]
        self.lines[number] += line["count"]
        taken = decided(line["branches"], cleaning if line["count"] else ())
        if taken:
            taken = folded(taken, instances(functions, number, line.get("function_name")))
        text = self.source[number - 1].split("//")[0]
        if taken and CONDITION.search(text) and not text.lstrip().startswith("assert("):
            before = self.branches.setdefault(number, {}).setdefault(len(taken), [0] * len(taken))
            self.branches[number][len(taken)] = [a + b for a, b in zip(before, taken)]

    def branch_counts(self):
        """By line, those of the instances that ran most."""
        return {number: max(by_size.values(), key=sum) for number, by_size in self.branches.items()}

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
        for reports, cleaning in pool.map(counts_in, data):
            for report in reports:
                for entry in report["files"]:
                    name = os.path.relpath(os.path.join(report["current_working_directory"], entry["file"]), ROOT)
                    if name.startswith(FOLDERS):
                        file = files.setdefault(name, File(name))
                        functions = [file.with_end(f) for f in entry["functions"]]
                        for line in entry["lines"]:
                            key = (entry["file"], line.get("function_name", ""), line["line_number"])
                            key = key if key in cleaning else (key[0], "", key[2])
                            file.add(line, functions, cleaning.get(key, ()))
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
