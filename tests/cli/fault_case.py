"""Runs of the command in which chosen calls fail (tests/support/fault_library.cpp)."""

import itertools
import os
import shutil
import subprocess

from cli_case import BINARY, words_of

LIBRARY = os.environ.get("ISOCHRON_FAULT_LIBRARY", "")


class Command:
    """A command that runs again and again in a process of its own, each time with other faults."""

    numbers = itertools.count()

    def __init__(self, test, words, files, before):
        self.test, self.words, self.files, self.before = test, words, files, before
        self.process = subprocess.Popen([BINARY, *words_of([words, "--threads 2"])], cwd=test.folder, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={**os.environ, "LD_PRELOAD": LIBRARY, "OMP_NUM_THREADS": "2"})
        test.addCleanup(self.close)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=60)

    def run(self, calls, first=0, last=0, code=0):
        """Runs it in a new folder with the files of before; gives its exit status, what it printed, the files that are
        there then, and the count of calls."""
        folder = self.test.folder / f"run{next(self.numbers)}"
        folder.mkdir()
        for name, content in self.before.items():
            (folder / name).write_bytes(content)
        self.process.stdin.write(f"{calls} {first} {last} {code} {folder}\n")
        self.process.stdin.flush()
        status, count = map(int, self.process.stdout.readline().split())
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        printed = [(self.test.folder / (folder.name + end)).read_text(encoding="utf-8") for end in (".out", ".err")]
        shutil.rmtree(folder)
        return status, printed, files, count
