#!/usr/bin/env python3
"""Compiles the batches of a unity build without generating code: finds names that two sources of a batch both define.

    scripts/check_unity.py [REGEX]     only batches whose path matches, e.g. isochron.dir, test_io or in_solve_mpi

Needs a configured build folder for the compile commands: BUILD (default build/release). What to do about a collision is
said in cmake/IsochronTargets.cmake.
"""
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor


def check(entry):
    """The compiler's errors about one batch. Precompiled headers are left out: they may not be built yet."""
    words = shlex.split(entry["command"])
    for option in ("-o", "-include"):
        if option in words:
            at = words.index(option)
            del words[at : at + 2]
    done = subprocess.run([*words, "-fsyntax-only"], cwd=entry["directory"], capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def main():
    folder = os.environ.get("BUILD", os.path.join(os.path.dirname(__file__), "..", "build", "release"))
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    try:
        with open(os.path.join(folder, "compile_commands.json"), encoding="utf-8") as file:
            entries = [e for e in json.load(file) if "/Unity/" in e["file"] and re.search(pattern, e["file"])]
    except FileNotFoundError:
        sys.exit(f"check_unity: {folder} is not configured; run cmake --preset release")
    if not entries:
        sys.exit(f"check_unity: {folder} has no such batches (is ISOCHRON_UNITY on?)")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = [text for text in pool.map(check, entries) if text]
    if errors:
        sys.exit("".join(errors) + f"check_unity: {len(errors)} of {len(entries)} batches do not compile")
    print(f"check_unity: {len(entries)} batches compile")


if __name__ == "__main__":
    main()
