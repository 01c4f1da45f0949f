"""That meshio reads what is written, whatever the sizes of the arrays."""

import json
import subprocess
import sys

from cli_case import CliCase

# Prints what meshio finds in each file: cells, arrays with their shapes, and a sum of the times.
READ = """
import json, sys, meshio
for name in sys.argv[1:]:
    mesh = meshio.read(name)
    arrays = {key: list(values.shape) for key, values in mesh.point_data.items()}
    print(json.dumps({"points": len(mesh.points), "cells": {b.type: len(b.data) for b in mesh.cells}, "arrays": arrays,
                      "cell_arrays": sorted(mesh.cell_data), "sum": float(mesh.point_data["arrival_time"].sum())}))
"""


def interpreter():
    """One that has meshio: Debian's package is for its own Python."""
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            subprocess.run([python, "-c", "import meshio"], check=True, capture_output=True)
            return python
        except (OSError, subprocess.CalledProcessError):
            continue
    return None


class MeshioTest(CliCase):
    def read(self, files):
        python = interpreter()
        if python is None:
            self.skipTest("there is no meshio (scripts/setup.sh pytest)")
        done = subprocess.run([python, "-c", READ, *files], cwd=self.folder, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_vtu_of_every_size(self):
        sizes = range(2, 10)
        for n in sizes:
            self.succeed(f"generate square --n {n} -o {n}.vtu")
            self.succeed(f"solve {n}.vtu -o times{n}.vtu --source 0")
        for n, found in zip(sizes, self.read([f"times{n}.vtu" for n in sizes])):
            self.assertEqual(found["points"], n * n)
            self.assertEqual(found["cells"], {"triangle": 2 * (n - 1) ** 2})
            self.assertEqual(found["arrays"], {"arrival_time": [n * n], "source": [n * n], "reached": [n * n]})
            self.assertGreater(found["sum"], 0)

    def test_tensors_regions_and_lines(self):
        self.write("a.pts", "5\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n2 0 0\n")
        self.write("a.elem", "3\nTt 0 1 2 3 7\nTr 0 1 2 8\nLn 1 4 9\n")
        self.write("a.lon", "2\n1 0 0 0 1 0\n0 1 0 1 0 0\n1 0 0 0 1 0\n")
        self.succeed("solve a.pts -o a.vtu --source 0 --length-unit mm")
        found = self.read(["a.vtu"])[0]
        self.assertEqual(found["cells"], {"tetra": 1, "line": 1})
        self.assertEqual(found["cell_arrays"], ["fiber", "region", "sheet"])
