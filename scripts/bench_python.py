#!/usr/bin/env python3
"""What the Python module adds to the library's own time: on a million tetrahedra, on tiny meshes, and at import;
and signed distances beside scikit-fmm's.

  PYTHONPATH=build/release/python /usr/bin/python3 scripts/bench_python.py [CELLS_A_SIDE]

The library's time is what it counts itself (setup_seconds + solve_seconds); the rest of a call is the module's.
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python" / "tests"))
import isochron  # noqa: E402
from meshes import cube, square  # noqa: E402


def overhead(mesh, repeats, **options):
    """Seconds of the library and of the module in one call, as medians."""
    inside, outside = [], []
    for _ in range(repeats):
        start = time.perf_counter()
        arrival = isochron.solve(mesh, [0], **options)
        total = time.perf_counter() - start
        own = arrival.stats["setup_seconds"] + arrival.stats["solve_seconds"]
        inside.append(own)
        outside.append(total - own)
    return statistics.median(inside), statistics.median(outside)


def against_scikit_fmm(side):
    """Seconds and mean error of the signed distance to a sphere, theirs and ours, in turn."""
    try:
        import skfmm
    except ImportError:
        print("scikit-fmm is not installed (python3-scikit-fmm): not compared")
        return
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
    points, cells = cube(side)
    speed = np.ones(len(cells))
    print(f"{len(cells):,} tetrahedra, one solve each:")
    forms = {
        "borrowed": (points, cells),
        "converted": (points.astype(np.float32), cells.astype(np.int64)),
    }
    for name, mesh in forms.items():
        inside, outside = overhead(mesh, 3, speed=speed)
        print(f"  {name:10} library {inside:8.3f} s   module {1e3 * outside:8.2f} ms   {100 * outside / inside:5.2f} %")
    for name, mesh in (("2 triangles", square(1)), ("6 tetrahedra", cube(1)), ("3 x 3 grid", isochron.Grid((3, 3)))):
        inside, outside = overhead(mesh, 300)
        print(f"  {name:12} library {1e6 * inside:8.1f} us   module {1e6 * outside:8.1f} us")
    solver = isochron.Solver(square(1))
    times = []
    for _ in range(1000):
        start = time.perf_counter()
        arrival = solver.solve([0])
        times.append(time.perf_counter() - start - arrival.stats["solve_seconds"])
    print(f"  a prepared solver's call: module {1e6 * statistics.median(times):.1f} us")
    code = "import time; t = time.perf_counter(); import isochron; print(time.perf_counter() - t)"
    seconds = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout) for _ in range(5)]
    print(f"  import: {min(seconds):.3f} s")
    print("signed distance to a sphere on 128^3 voxels, second order:")
    against_scikit_fmm(128)


if __name__ == "__main__":
    main()
