"""scikit-fmm on the cube of the peers: skfmm_cube.py ORDER (1 or 2).

There is no set-up apart; the one call is the solve. Peak memory has the interpreter and NumPy in it.
"""
import resource
import sys
import time

import numpy
import skfmm

N = 128


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1] not in ("1", "2"):
        print("usage: skfmm_cube.py 1|2", file=sys.stderr)
        return 2
    order = int(sys.argv[1])
    phi = numpy.ones((N, N, N))
    phi[N // 2, N // 2, N // 2] = 0  # a zero of phi is a point of the front
    step = 1.0 / (N - 1)

    start = time.process_time()
    found = skfmm.distance(phi, dx=step, order=order)
    seconds = time.process_time() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    square = ((numpy.arange(N) - N // 2) * step) ** 2
    exact = numpy.sqrt(square[:, None, None] + square[None, :, None] + square[None, None, :])
    error = numpy.abs(found - exact).max()
    print(f"scikit-fmm, order {order}\t0.000\t{seconds:.3f}\t{error:.4g}\t{megabytes:.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
