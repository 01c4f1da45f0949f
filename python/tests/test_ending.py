"""Scripts that end while daemon threads are at work: quietly, as if nothing had been under way."""

import os
import subprocess
import sys
import time

import pytest

SCRIPT = """
import sys, threading, time
import numpy as np
import isochron

grid = isochron.Grid((1500, 1500))
speed = np.random.default_rng(1).uniform(0.5, 2, grid.shape)
under_way = threading.Event()

def report(fraction):
    under_way.set()
    {in_callback}

def work():
    while True:
        {work}

for _ in range({threads}):
    threading.Thread(target=work, daemon=True).start()
assert under_way.wait(60)
print("end")
"""


def ended(work, in_callback="pass", threads=1):
    code = SCRIPT.format(work=work, in_callback=in_callback, threads=threads)
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=250, env=os.environ)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")
    return time.monotonic() - start


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    "work",
    [
        "isochron.solve(grid, [0], speed=speed, progress=report)",
        "isochron.solve_many(grid, [[v] for v in range(50)], speed=speed, progress=report)",
        "isochron.distance_matrix(isochron.Grid((60, 60)), range(2000), [0], progress=report)",
        "isochron.invert(isochron.Grid((200, 200)), [[150.0, 9.0]], [[9.0]] * 9, list(range(9)), callback=report)",
        "under_way.set(); isochron.generate.square(300)",
    ],
)
def test_a_script_ends_while_daemon_threads_work(work, threads):
    ended(work, threads=threads)


def test_a_script_ends_while_threads_wait_for_their_turn():
    ended("solver.solve([0], progress=report)".replace("solver", "globals().setdefault('s', isochron.Solver(grid))"), threads=3)


def test_a_script_does_not_wait_for_a_callback_that_sleeps():
    assert ended("isochron.solve(grid, [0], speed=speed, progress=report)", in_callback="time.sleep(100)") < 60


def test_work_in_other_hooks_at_the_end_is_done():
    code = """
import atexit
atexit.register(lambda: print(isochron.solve(isochron.Grid((20, 20)), [0], progress=seen.append).times[19, 0], len(seen) > 0))
seen = []
import isochron
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=250)
    assert (done.returncode, done.stdout, done.stderr) == (0, "19.0 True\n", "")
