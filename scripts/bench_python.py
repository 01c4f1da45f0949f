#!/usr/bin/env python3
"""What the Python module adds to a C++ program that makes the same call: on a million tetrahedra and on tiny meshes;
the import; and signed distances beside scikit-fmm's.

  PYTHONPATH=build/release/python /usr/bin/python3 scripts/bench_python.py [CELLS_A_SIDE [VOXELS_A_SIDE]]

The C++ program is build/release/bin/isochron-plain-call (bench/python). Both make their calls in turn, each call prepares
and solves, and the least of all repeats counts: in wall seconds on all cores, and in CPU seconds on one, which other work
on the machine changes less.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python" / "tests"))
import isochron  # noqa: E402
from isochron import _core  # noqa: E402
from meshes import cube, square  # noqa: E402

PLAIN_CALL = Path(_core.__file__).resolve().parents[2] / "bin" / "isochron-plain-call"


class PlainCall:
    """The C++ program at work on a mesh."""

    def __init__(self, mesh, threads):
        points, cells = mesh
        with tempfile.TemporaryDirectory() as folder:
            names = [Path(folder, name) for name in ("points", "cells")]
            np.ascontiguousarray(points, dtype=np.float64).tofile(names[0])
            np.ascontiguousarray(cells, dtype=np.uint32).tofile(names[1])
            command = [PLAIN_CALL, str(cells.shape[1]), *names, str(threads)]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.call()  # it has read its files by now

    def call(self):
        """Wall seconds, CPU seconds and the last vertex's time."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return [float(number) for number in self.process.stdout.readline().split()]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def python_call(mesh, threads, speed):
    cpu, start = time.process_time(), time.perf_counter()
    arrival = isochron.solve(mesh, [0], speed=speed, threads=threads)
    return time.perf_counter() - start, time.process_time() - cpu, arrival.times[-1]


def compare(mesh, repeats, threads, **forms):
    """The least wall and CPU seconds of the C++ program and of each form of the mesh in Python, in turn."""
    speed = np.ones(len(mesh[1]))
    plain = PlainCall(mesh, threads)
    calls = {"C++": plain.call}
    for name, form in forms.items():
        calls[name] = lambda form=form: python_call(form, threads, speed)
    best = {name: np.full(2, np.inf) for name in calls}
    last = plain.call()[2]
    for _ in range(repeats):
        for name, call in calls.items():
            wall, cpu, end = call()
            if abs(end - last) > 1e-5 * last:
                sys.exit(f"{name}: the last vertex is reached at {end}, by the C++ program at {last}")
            best[name] = np.minimum(best[name], (wall, cpu))
    plain.close()
    return best


def large(side, repeats):
    points, cells = cube(side)
    forms = {"borrowed": (points, cells), "converted": (points.astype(np.float32), cells.astype(np.int64))}
    print(f"{len(cells):,} tetrahedra, prepared and solved once, least of {repeats}:")
    for threads, clock, what in ((0, 0, "wall, all cores"), (1, 1, "CPU, one thread")):
        best = compare((points, cells), repeats, threads, **forms)
        plain = best.pop("C++")[clock]
        print(f"  {what}: C++ {1e3 * plain:9.2f} ms")
        for name, seconds in best.items():
            more = seconds[clock] - plain
            print(f"    {name:10} {1e3 * seconds[clock]:9.2f} ms, {1e3 * more:+7.2f} ms, {100 * more / plain:+6.2f} %")


def tiny(repeats):
    print(f"tiny inputs, least of {repeats}:")
    for name, mesh in (("2 triangles", square(1)), ("6 tetrahedra", cube(1))):
        best = compare(mesh, repeats, 0, python=mesh)
        plain, ours = best["C++"][0], best["python"][0]
        print(f"  {name:12} C++ {1e6 * plain:6.1f} us, Python {1e6 * ours:6.1f} us, {1e6 * (ours - plain):+6.1f} us")
    for name, solver in (("2 triangles", isochron.Solver(square(1))), ("3 x 3 grid", isochron.Solver(isochron.Grid((3, 3))))):
        times = []
        for _ in range(repeats):
            start = time.perf_counter()
            solver.solve([0])
            times.append(time.perf_counter() - start)
        print(f"  {name:12} a prepared solver's call in all {1e6 * min(times):6.1f} us")


def imports():
    code = "import time; t = time.perf_counter(); import isochron; print(time.perf_counter() - t)"
    seconds = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout) for _ in range(5)]
    print(f"import, with NumPy: {min(seconds):.3f} s")


def against_scikit_fmm(side):
    """Seconds and errors of the signed distance to a sphere, theirs and ours, in turn."""
    try:
        import skfmm
    except ImportError:
        print("scikit-fmm is not installed (python3-scikit-fmm): not compared")
        return
    print(f"signed distance to a sphere on {side}^3 voxels, second order:")
    axis = np.linspace(-1, 1, side)
    radius = np.linalg.norm(np.stack(np.meshgrid(axis, axis, axis, indexing="ij")), axis=0)
    dx, phi, away = float(axis[1] - axis[0]), radius - 0.5, radius > 0.1
    found = {}
    for _ in range(3):
        for name, distance in (("scikit-fmm", skfmm.distance), ("isochron", isochron.distance)):
            start = time.perf_counter()
            values = distance(phi, dx, order=2)
            seconds = time.perf_counter() - start
            best = min(seconds, found.get(name, (np.inf,))[0])
            found[name] = (best, np.abs(values - phi)[away].mean() / dx, np.abs(values - phi)[away].max() / dx)
    for name, (seconds, mean, most) in found.items():
        print(f"  {name:<12} {seconds:7.3f} s, error {mean:.4f} of a voxel on average, {most:.3f} at most")
    print(f"  {found['scikit-fmm'][0] / found['isochron'][0]:.1f} times faster")


def main():
    side = int(sys.argv[1]) if len(sys.argv) > 1 else 56
    voxels = int(sys.argv[2]) if len(sys.argv) > 2 else 128
    if not PLAIN_CALL.is_file():
        sys.exit(f"{PLAIN_CALL} is not there; build the target isochron_plain_call")
    large(side, 15)
    tiny(1000 if side > 10 else 20)
    imports()
    against_scikit_fmm(voxels)


if __name__ == "__main__":
    main()
