"""scikit-fmm on the square of the peers, as a grid: skfmm_square.py ORDER (1 or 2).

It marches over a 1024 x 1024 grid of unit cells, not over triangles: the same points, source and distances, but another
discretisation. There is no set-up apart; the one call is the solve. Peak memory has the interpreter and NumPy in it.
"""
import resource
import sys
import time

import numpy
import skfmm

N = 1024


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1] not in ("1", "2"):
        print("usage: skfmm_square.py 1|2", file=sys.stderr)
        return 2
    order = int(sys.argv[1])
    phi = numpy.ones((N, N))
    phi[N // 2, N // 2] = 0  # a zero of phi is a point of the front

    start = time.process_time()
    found = skfmm.distance(phi, dx=1.0, order=order)
    seconds = time.process_time() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    steps = numpy.arange(N) - N // 2
    exact = numpy.hypot(steps[:, None], steps[None, :])
    error = numpy.abs(found - exact).mean()
    print(f"scikit-fmm on the grid, order {order}\t0.000\t{seconds:.3f}\t{error:.4f}\t{megabytes:.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
