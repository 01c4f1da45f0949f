"""scikit-fmm on the grids of the peers: skfmm_grid.py square|cube ORDER (1 or 2).

On the square it marches over a 1024 x 1024 grid of unit cells, not over triangles: the same points, source and
distances, but another discretisation; the mean error is printed. On the cube it is the largest one. There is no set-up
apart; the one call is the solve. Peak memory has the interpreter and NumPy in it.
"""
import functools
import resource
import sys
import time

import numpy
import skfmm

# Name, voxels a side, axes, size of a voxel, what is printed of the errors, and how.
CASES = {"square": ("scikit-fmm on the grid", 1024, 2, 1.0, numpy.mean, ".4f"),
         "cube": ("scikit-fmm", 128, 3, 1.0 / 127, numpy.max, ".4g")}


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[1] not in CASES or sys.argv[2] not in ("1", "2"):
        print("usage: skfmm_grid.py square|cube 1|2", file=sys.stderr)
        return 2
    name, n, axes, step, of, format = CASES[sys.argv[1]]
    order = int(sys.argv[2])
    phi = numpy.ones((n,) * axes)
    phi[(n // 2,) * axes] = 0  # a zero of phi is a point of the front

    start = time.process_time()
    found = skfmm.distance(phi, dx=step, order=order)
    seconds = time.process_time() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    exact = numpy.sqrt(functools.reduce(numpy.add.outer, [((numpy.arange(n) - n // 2) * step) ** 2] * axes))
    error = of(numpy.abs(found - exact))
    print(f"{name}, order {order}\t0.000\t{seconds:.3f}\t{error:{format}}\t{megabytes:.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
