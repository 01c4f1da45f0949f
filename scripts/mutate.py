#!/usr/bin/env python3
"""Mutation testing: changes one operator, constant or statement at a time and asks whether a test notices.

  scripts/mutate.py [--mutants 300] [--seed 1] [--jobs N] [--time-limit 30] [--from 0] [--to 300] [--list]
      [--only TEXT] [--again OUTPUT] [--continue OUTPUT] [--output FILE]

Mutants are drawn by the seed from the files of SUITES. Each is compiled into a copy of the few sources that its suite
names, linked with the unchanged rest, and its suite's tests are run up to the first failure. A crash, a hang (the time
limit) and memory beyond 4 GiB count as found. Mutants that do not compile are replaced by others. Sources that compile
to the code of the original, and the mutants of scripts/equivalent_mutants.txt, cannot be found by any test; they are
counted apart. --from and --to do a slice of the mutants, --only those whose file and line have that text in them,
--again those that survived in an earlier output, --continue those that are not in the output of a run that was cut off.

The build is that of the preset `mutants`. Exit codes: 0, also where mutants survive; 2 the original fails its tests.
"""

import argparse
import collections
import json
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "mutants"
EQUIVALENT = ROOT / "scripts" / "equivalent_mutants.txt"
MEMORY = 4 << 30
# An index beyond an array crashes, as the sanitizers of the other tests would tell. Sources stay as the build has them,
# to be compared with it.
BOUNDS = ("-fsanitize=bounds", "-fsanitize-undefined-trap-on-error")


@dataclass(frozen=True)
class Stage:
    """Sources that are compiled with the mutant, tests that are linked as they are, and which of all those run."""

    compiled: tuple
    linked: tuple = ()
    tests: str = "*"


def stage(compiled, linked="", tests="*"):
    return Stage(tuple(compiled.split()), tuple(linked.split()), tests)


# Later stages are for what the earlier ones did not notice. Tests that are slow or search for minima by brute force to
# check the tests' own reference are left out.
SIMPLEX = stage(
    "tests/local/simplex_update_test.cpp tests/local/push_time_test.cpp", tests="-SimplexReference*:*NoPushIsBelow*"
)
COMMON = stage("tests/solve/common_test.cpp")
LABELS = stage("tests/solve/labels_test.cpp", tests="LabelMix*:*Wait*:*Upwind*:*ByRounding*")  # not those that solve
SUITES = {
    "src/isochron/local/simplex_update.h": [SIMPLEX, stage("tests/local/push_batch_test.cpp")],
    "src/isochron/local/push_batch.h": [
        stage("tests/local/push_batch_test.cpp"),
        stage("src/isochron/solve/simplex/tet_push.cpp src/isochron/solve/simplex/leads.cpp tests/solve/tet_push_test.cpp"),
    ],
    "src/isochron/local/prepared_edge.h": [stage("tests/local/prepared_edge_test.cpp")],
    "src/isochron/local/selling.h": [stage("tests/local/selling_test.cpp")],
    "src/isochron/local/stencil_update.h": [stage("tests/local/stencil_update_test.cpp")],
    "src/isochron/local/godunov_update.h": [stage("tests/local/godunov_update_test.cpp")],
    "src/isochron/local/factored_update.h": [stage("tests/local/factored_update_test.cpp")],
    "src/isochron/solve/plan.cpp": [
        stage("src/isochron/solve/plan.cpp", "tests/solve/plan_test.cpp", "-Capabilities.SolversDo*")
    ],
    "src/isochron/solve/capabilities.cpp": [
        stage("src/isochron/solve/capabilities.cpp", "tests/solve/plan_test.cpp", "-Capabilities.SolversDo*")
    ],
    "src/isochron/solve/common/virtual_elements.h": [
        stage("src/isochron/solve/plan.cpp", "tests/solve/plan_test.cpp", "-Capabilities.SolversDo*")
    ],
    "src/isochron/solve/common/arrival_parts.cpp": [
        stage("src/isochron/solve/common/arrival_parts.cpp", "tests/solve/common_test.cpp")
    ],
    "src/isochron/solve/common/seed.cpp": [
        stage("src/isochron/solve/common/seed.cpp", "tests/solve/common_test.cpp")
    ],
    "src/isochron/solve/common/start.cpp": [
        stage("src/isochron/solve/common/start.cpp", "tests/solve/common_test.cpp")
    ],
    "src/isochron/solve/common/start.h": [COMMON],
    "src/isochron/solve/common/state.h": [COMMON],
    "src/isochron/solve/common/limits.h": [COMMON],
    "src/isochron/solve/common/residual.h": [stage("tests/solve/residual_test.cpp")],
    "src/isochron/solve/common/lower_bound.h": [stage("tests/solve/lower_bound_test.cpp", tests="-*HoldsForEverything*")],
    "src/isochron/solve/common/label_mix.h": [LABELS],
    "src/isochron/solve/common/label_spread.h": [LABELS],
    "src/isochron/solve/simplex/finish.h": [stage("tests/solve/residual_test.cpp")],
    "src/isochron/solve/grid/grid_finish.h": [stage("tests/solve/residual_test.cpp")],
}
# Of these files only the fixed-point check is looked at.
ONLY_WITHIN = {
    "src/isochron/solve/simplex/finish.h": ("Residual residual_pass(", "\n}\n"),
    "src/isochron/solve/grid/grid_finish.h": ("Residual grid_residual(", "\n}\n"),
}


@dataclass(order=True)
class Mutant:
    file: str
    start: int
    end: int
    new: str
    line: int = field(default=0, compare=False)
    old: str = field(default="", compare=False)
    column: int = field(default=0, compare=False)
    text: str = field(default="", compare=False)  # the changed line

    def change(self):
        return f"{self.old.strip()} -> {self.new.strip() or '(nothing)'}"

    def name(self):
        return f"{self.file}:{self.line}:{self.column}: {self.change()}"


# ---- Where a mutant can be made. Sources are formatted: binary operators have spaces on both sides, brackets of
# templates do not.

OPERATORS = {
    " < ": (" <= ", " > "),
    " <= ": (" < ", " > "),
    " > ": (" >= ", " < "),
    " >= ": (" > ", " < "),
    " == ": (" != ",),
    " != ": (" == ",),
    " && ": (" || ",),
    " || ": (" && ",),
    ") & (": (") | (",),
    " + ": (" - ",),
    " - ": (" + ",),
    " * ": (" / ",),
    " / ": (" * ",),
    " += ": (" -= ",),
    " -= ": (" += ",),
    " *= ": (" /= ",),
}
WORDS = {
    "std::min(": "std::max(",
    "std::max(": "std::min(",
    "smaller(": "larger(",
    "larger(": "smaller(",
    "true": "false",
    "false": "true",
    "std::fabs(": "(",
    "std::abs(": "(",
}
SKIPPED_LINES = re.compile(r"static_assert|\breserve\(|^\s*(template|using|#|friend|enum|namespace)\b|alignas|operator")
NUMBER = re.compile(r"(?<![\w.])(\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+|\d+)(?![\w.])")
STATEMENT = re.compile(r"^[ ]+((?:this->|\*)?[\w.:]+(?:->[\w.]+)*(?:\[[^\]]*\])*(?:\.\w+)* (?:=|\+=|-=|\*=) [^;]*;)$")
CALL = re.compile(r"^[ ]+([a-z][\w.:]*(?:->[\w.]+)*\([^;]*\);)$")
JUMP = re.compile(r"\b(return;|continue;|break;|\+\+\w+;)")
ARRAY_DECLARED = re.compile(r"(?:(?<!return)[\w>&] \w+(?:\[\d+\])*|\))\[$")
DECLARED = re.compile(r"^[ ]+(return|throw|case|else|const|using|auto)\b")


def without_text(source):
    """The source with comments, strings and preprocessor lines blanked, in the same places."""
    pattern = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ ]*#[^\n]*', re.MULTILINE)
    return pattern.sub(lambda match: " " * len(match.group()), source)


def closing(code, at):
    """Behind the parenthesis that closes the one at `at`."""
    depth = 0
    for place in range(at, len(code)):
        depth += {"(": 1, ")": -1}.get(code[place], 0)
        if depth == 0:
            return place + 1
    return len(code)


def changed_number(text):
    if "." in text or "e" in text:
        return "1.0" if text == "0.5" else f"({text} * 2)"
    return {"0": "1", "1": "2"}.get(text, str(int(text) + 1))


def places(code):
    """(start, end, replacement) of all mutants of a source."""
    for old, changes in OPERATORS.items():
        for match in re.finditer(re.escape(old), code):
            for new in changes:
                yield match.start(), match.end(), new
    for old, new in WORDS.items():
        for match in re.finditer(r"(?<![\w:])" + re.escape(old) + ("" if old.endswith("(") else r"\b"), code):
            yield match.start(), match.end(), new
    for match in NUMBER.finditer(code):
        if code[match.start() - 1] != "[":
            yield match.start(), match.end(), changed_number(match.group())
        elif not ARRAY_DECLARED.search(code[max(0, match.start() - 60) : match.start()]):
            yield match.start(), match.end(), "1" if match.group() == "0" else str(int(match.group()) - 1)
    for match in re.finditer(r"\[([a-z]\w*)\]", code):
        yield match.start(1), match.end(1), "0"
    for match in re.finditer(r"\bif \(", code):
        end = closing(code, match.end() - 1)
        condition = code[match.end() : end - 1]
        if ";" not in condition:
            yield match.end() - 1, end, f"(!({condition}))"
    for match in re.finditer(r"(?<=[(\s])!(?=[\w(])", code):
        yield match.start(), match.end(), ""
    for match in re.finditer(r"(?:(?<=[(=,:?] )|(?<=return ))-(?=[\w(])", code):
        yield match.start(), match.end(), ""
    for match in JUMP.finditer(code):
        yield match.start(), match.end(), ";"
    at = 0
    for line in code.splitlines(keepends=True):
        for pattern in (STATEMENT, CALL):
            match = pattern.match(line.rstrip("\n"))
            if match and not DECLARED.match(line):
                yield at + match.start(1), at + match.end(1), ";"
        at += len(line)


def mutants_of(file):
    source = (ROOT / file).read_text(encoding="utf-8")
    code = without_text(source)
    low, high = 0, len(code)
    if file in ONLY_WITHIN:
        first, last = ONLY_WITHIN[file]
        low = source.index(first)
        high = source.index(last, low)
    found = []
    for start, end, new in sorted(set(places(code))):
        if start < low or start >= high:
            continue
        begin = source.rfind("\n", 0, start) + 1
        line = source[begin : source.find("\n", begin)]
        if SKIPPED_LINES.search(line):
            continue
        if new.startswith("(!("):  # strings in a condition were blanked
            new = f"(!{source[start:end]})"
        found.append(
            Mutant(file, start, end, new, source.count("\n", 0, start) + 1, source[start:end], start - begin, line.strip())
        )
    return found


def drawn(seed):
    everything = [mutant for file in sorted(SUITES) for mutant in mutants_of(file)]
    random.Random(seed).shuffle(everything)
    return everything


# ---- Compiling and running.


class Original:
    """The build of the unchanged sources, and how to compile and link parts of it again."""

    def __init__(self, jobs):
        subprocess.run(["cmake", "--preset", "mutants"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        entries = json.loads((BUILD / "compile_commands.json").read_text())
        self.commands = {os.path.relpath(entry["file"], ROOT): shlex.split(entry["command"]) for entry in entries}
        sources = {s for stages in SUITES.values() for one in stages for s in (*one.compiled, *one.linked)}
        objects = [self.object_of(source) for source in sorted(sources) if source.startswith("tests/")]
        subprocess.run(["ninja", "-C", BUILD, "-j", str(jobs), "isochron", *objects], check=True, stdout=subprocess.DEVNULL)
        link = subprocess.run(
            ["ninja", "-C", BUILD, "-t", "commands", "test_solve"], check=True, capture_output=True, text=True
        ).stdout.splitlines()[-1]
        words = shlex.split(link.split("&&")[1])
        at = words.index("-o")
        del words[at : at + 2]
        self.link = [word for word in words if not word.endswith(".o")]

    def object_of(self, source):
        words = self.commands[source]
        return words[words.index("-o") + 1]

    def compile(self, source, overlay, to, flags):
        words = list(self.commands[source])
        words[words.index("-o") + 1] = str(to)
        where = words.index("-c") + 1
        if (overlay / source).exists():
            words[where] = str(overlay / source)
        words[1:1] = [f"-I{overlay}/src", "-w", *flags]
        return subprocess.run(words, cwd=BUILD, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def program(self, objects, to):
        words = [self.link[0], *map(str, objects), *self.link[1:], "-o", str(to)]
        return subprocess.run(words, cwd=BUILD, capture_output=True, text=True)


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def failure_of(program, tests, seconds):
    """The name of the first test that fails, "crash" or "time limit"; empty when all pass."""
    words = [str(program), "--gtest_filter=" + tests, "--gtest_fail_fast", "--gtest_brief=1", "--gtest_catch_exceptions=1"]
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    try:
        done = subprocess.run(
            words, cwd=program.parent, env=environment, preexec_fn=limited, timeout=seconds, capture_output=True, text=True,
            errors="replace"
        )
    except subprocess.TimeoutExpired:
        return "time limit"
    if done.returncode == 0:
        return ""
    failed = re.search(r"\[  FAILED  \] ([\w/]+\.[\w/]+)", done.stdout)
    return failed.group(1) if failed else "crash"


@dataclass
class Result:
    mutant: Mutant
    kind: str  # found, survived, equivalent, broken
    by: str = ""
    seconds: float = 0


def try_mutant(original, mutant, seconds):
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant") as folder:
        overlay = Path(folder)
        source = (ROOT / mutant.file).read_text(encoding="utf-8")
        (overlay / mutant.file).parent.mkdir(parents=True)
        (overlay / mutant.file).write_text(source[: mutant.start] + mutant.new + source[mutant.end :], encoding="utf-8")
        same = mutant.file.endswith(".cpp")  # of a header, a test may compile to the same and another source not
        for number, one in enumerate(SUITES[mutant.file]):
            objects = []
            for k, unit in enumerate(one.compiled):
                target = overlay / f"{number}_{k}.o"
                if not original.compile(unit, overlay, target, () if mutant.file.endswith(".cpp") else BOUNDS):
                    return Result(mutant, "broken", seconds=time.monotonic() - begin)
                same = same and target.read_bytes() == (BUILD / original.object_of(unit)).read_bytes()
                objects.append(target)
            objects += [original.object_of(unit) for unit in one.linked]
            program = overlay / f"test_{number}"
            if original.program(objects, program).returncode != 0:
                return Result(mutant, "broken", seconds=time.monotonic() - begin)
            by = failure_of(program, one.tests, seconds) if not same else ""
            if by:
                return Result(mutant, "found", by, time.monotonic() - begin)
        return Result(mutant, "equivalent" if same else "survived", "same code" if same else "", time.monotonic() - begin)


def check_original(original, jobs, seconds):
    """Without a mutant all tests must pass, and well within the time limit."""
    stages = sorted({one for stages in SUITES.values() for one in stages}, key=str)

    def check(numbered):
        number, one = numbered
        with tempfile.TemporaryDirectory(prefix="mutant") as folder:
            program = Path(folder) / "test"
            objects = [Path(folder) / f"{k}.o" for k in range(len(one.compiled))]
            for unit, target in zip(one.compiled, objects):
                original.compile(unit, Path(folder), target, BOUNDS)
            objects += [original.object_of(unit) for unit in one.linked]
            linked = original.program(objects, program)
            if linked.returncode != 0:
                return f"{one.compiled} does not link: {linked.stderr[-500:]}"
            begin = time.monotonic()
            by = failure_of(program, one.tests, seconds)
            print(f"# original, {time.monotonic() - begin:.1f} s: {' '.join(one.compiled)}", flush=True)
            return f"{one.compiled} fails without a mutant: {by}" if by else ""

    with ThreadPoolExecutor(jobs) as pool:
        complaints = [text for text in pool.map(check, enumerate(stages)) if text]
    if complaints:
        print("\n".join(complaints), file=sys.stderr)
        sys.exit(2)


def known_equivalents():
    """Mutants that behave as the original does, with the reason: file | column | change | line | reason."""
    known = {}
    if EQUIVALENT.exists():
        for line in EQUIVALENT.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                *key, reason = line.split(" | ")
                known[tuple(key)] = reason
    return known


def key_of(mutant):
    return (mutant.file, str(mutant.column), mutant.change(), mutant.text)


def line_of(slot, result):
    return f"{slot:4} {result.kind:10} {result.seconds:5.1f} s {result.mutant.name()}  [{result.by}]"


def results_in(output, everything):
    """Results by slot, from the lines that line_of wrote."""
    named = {mutant.name(): mutant for mutant in everything}
    found = {}
    for line in output.read_text(encoding="utf-8").splitlines():
        parts = re.fullmatch(r" *(\d+) (\w+) +([\d.]+) s (.*)  \[(.*)\]", line)
        if parts and parts[4] in named:
            found[int(parts[1])] = Result(named[parts[4]], parts[2], parts[5], float(parts[3]))
    return found


def report(results, write):
    kinds = ("found", "survived", "equivalent")
    table = collections.defaultdict(collections.Counter)
    for result in results:
        table[result.mutant.file][result.kind] += 1
    write(f"{'file':48} {'found':>6} {'survived':>9} {'equivalent':>11}")
    total = collections.Counter()
    for file in sorted(table):
        total += table[file]
        write(f"{file:48} {table[file]['found']:6} {table[file]['survived']:9} {table[file]['equivalent']:11}")
    write(f"{'all':48} {total['found']:6} {total['survived']:9} {total['equivalent']:11}")
    judged = total["found"] + total["survived"]
    if judged:
        write(f"found: {total['found']} of {judged}, {100 * total['found'] / judged:.1f} % (equivalent ones not counted)")
    assert set(total) <= set(kinds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--time-limit", type=float, default=30, help="seconds of a test program")
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--to", dest="last", type=int)
    parser.add_argument("--only", default="", help="mutants whose name has this in it")
    parser.add_argument("--again", type=Path, help="only mutants that survived in this output")
    parser.add_argument(
        "--continue", dest="before", type=Path, help="output of a run that was cut off: its results are taken over"
    )
    parser.add_argument("--list", action="store_true", help="only list the mutants")
    parser.add_argument("--output", type=Path, help="write the results here too, as they come")
    options = parser.parse_args()
    everything = drawn(options.seed)
    count = min(options.mutants, len(everything))
    last = count if options.last is None else min(options.last, count)
    slots = [k for k in range(options.first, last) if options.only in everything[k].name()]
    if options.again:
        lines = options.again.read_text(encoding="utf-8").splitlines()
        slots = [int(line.split()[0]) for line in lines if re.match(r" *\d+ survived ", line)]
    before = results_in(options.before, everything) if options.before else {}
    slots = [k for k in slots if k not in before]
    if options.list:
        print(f"{len(everything)} mutants can be made; these are drawn:")
        for k in slots:
            print(everything[k].name())
        return
    output = options.output.open("w", encoding="utf-8") if options.output else None

    def write(line):
        print(line, flush=True)
        if output:
            print(line, file=output, flush=True)

    for slot, result in before.items():
        write(line_of(slot, result))
    begin = time.monotonic()
    original = Original(options.jobs)
    write(f"# built in {time.monotonic() - begin:.0f} s")
    check_original(original, options.jobs, options.time_limit)
    write(f"# checked at {time.monotonic() - begin:.0f} s")
    known = known_equivalents()

    def fill(slot):
        """A mutant that does not compile is replaced by one further on, the same in each slice."""
        for place in range(slot, len(everything), count):
            mutant = everything[place]
            if key_of(mutant) in known:
                result = Result(mutant, "equivalent", known[key_of(mutant)])
            else:
                result = try_mutant(original, mutant, options.time_limit)
            if result.kind != "broken":
                write(line_of(slot, result))
                return result
        return None

    with ThreadPoolExecutor(options.jobs) as pool:
        results = [*before.values(), *(result for result in pool.map(fill, slots) if result)]
    write("")
    survivors = [result.mutant for result in results if result.kind == "survived"]
    for mutant in sorted(survivors):
        write(f"survived {mutant.name()}\n    {mutant.text}")
    write("")
    report(results, write)
    write(f"# {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
