"""Calls from several threads, interrupted, with progress; results that are pickled; memory that stays."""

import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import isochron
from meshes import cube, refused, square


def test_threads_at_once_on_one_solver_and_on_many():
    mesh = square(30)
    ids = list(range(0, 900, 100))
    alone = [isochron.solve(mesh, [v]).times for v in ids]
    shared = isochron.Solver(mesh)
    with ThreadPoolExecutor(4) as pool:
        for times, arrival in zip(alone, pool.map(lambda v: shared.solve([v]), ids)):
            np.testing.assert_array_equal(arrival.times, times)
        for times, arrival in zip(alone, pool.map(lambda v: isochron.solve(mesh, [v]), ids)):
            np.testing.assert_array_equal(arrival.times, times)


def test_other_threads_run_during_a_solve():
    """Nobody is made to give the lock away here, so that another thread only runs where a call lets go of it."""
    mesh = cube(24)
    isochron.solve(mesh, [0])
    counted = solves = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0)

    counter = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        counter.start()
        while counted < 2000 and solves < 200:  # the few moments beside the solve let it run once or twice each
            isochron.solve(mesh, [0])
            solves += 1
    finally:
        sys.setswitchinterval(interval)
        done.set()
        counter.join()
    assert counted >= 2000


def test_results_are_pickled_with_all_they_have():
    mesh = square(6)
    arrival = isochron.solve(mesh, [0], speed=np.full(72, 2.0), weights=True, verify=True)
    copy = pickle.loads(pickle.dumps(arrival))
    np.testing.assert_array_equal(copy.times, arrival.times)
    np.testing.assert_array_equal(copy.source, arrival.source)
    np.testing.assert_array_equal(copy.upwind[1], arrival.upwind[1])
    assert copy.stats == arrival.stats and repr(copy) == repr(arrival)
    assert copy._repr_png_() == arrival._repr_png_()
    again = isochron.Solver(copy.mesh, **copy.problem.arguments).solve(copy.sources)
    np.testing.assert_array_equal(again.times, arrival.times)


def test_solvers_are_pickled_with_the_metric_they_have():
    solver = isochron.Solver(square(6), speed=2.0, method="fim", precision=np.float32)
    solver.set_speed(3.0)
    expected = solver.solve([0])
    for again in (pickle.loads(pickle.dumps(solver)), copy.deepcopy(solver)):
        arrival = again.solve([0])
        np.testing.assert_array_equal(arrival.times, expected.times)
        assert arrival.stats["method"] == "fim" and arrival.stats["precision"] == "single"


def test_grid_results_are_pickled():
    arrival = isochron.solve(isochron.Grid((5, 4), spacing=2.0, order="F"), [[0, 0]], mask=np.ones((5, 4), bool))
    copy = pickle.loads(pickle.dumps(arrival))
    assert copy.mesh == arrival.mesh
    np.testing.assert_array_equal(copy.times, arrival.times)


def resident_kilobytes():
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1])


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="there is no /proc to read the memory from")
def test_memory_stays_over_a_thousand_solves():
    points, cells = cube(6)
    converted = (points.astype(np.float32), cells.astype(np.int64))
    speed = np.ones(len(cells))

    def many(count):
        for _ in range(count):
            isochron.solve((points, cells), [0], speed=speed)
            isochron.solve(converted, [[0.5, 0.5, 0.5]], fibers=np.ones((len(cells), 3)), velocity=(2, 1))
            refused(isochron.InputError, "", isochron.solve, (points, cells), [-1])

    many(100)
    before = resident_kilobytes()
    many(500)
    assert resident_kilobytes() - before < 2000  # one leaked copy a solve would be a hundred megabytes


def test_progress_of_a_function():
    seen = []
    isochron.solve(cube(16), [0], progress=seen.append)
    assert seen and seen == sorted(seen) and 0 <= seen[0] and seen[-1] == 1.0


class Bar:
    """What tqdm looks like from here."""

    made = []

    def __init__(self, total=None):
        self.total, self.n, self.closed = total, 0.0, False
        Bar.made.append(self)

    def update(self, n=1):
        self.n += n

    def close(self):
        self.closed = True


def test_progress_of_bars():
    mesh = square(10)
    own = Bar(total=50)
    isochron.solve(mesh, [0], progress=own)
    assert own.n == pytest.approx(50) and not own.closed
    isochron.solve(mesh, [0], progress=Bar)
    assert Bar.made[-1].n == pytest.approx(1) and Bar.made[-1].closed


def test_an_exception_of_the_callback_ends_the_solve():
    def stop(fraction):
        raise LookupError("enough")

    solver = isochron.Solver(cube(16))
    refused(LookupError, "enough", solver.solve, [0], progress=stop)
    assert np.isfinite(solver.solve([0]).times).all()  # it can be used again


def test_an_interrupt_in_the_callback_ends_the_solve():
    def stop(fraction):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(100)  # Python raises in here

    solver = isochron.Solver(cube(16))
    refused(KeyboardInterrupt, "", solver.solve, [0], progress=stop)
    assert np.isfinite(solver.solve([0]).times).all()


def solve_in_another_process(queue, mesh, ids):
    """With arrays that are converted, and a solver that went from one process to the other or is made there."""
    points, cells = mesh
    speed = np.ones(len(points))
    other = (points.astype(np.float32), cells.astype(np.int64))
    queue.put([isochron.solve(other, [v], speed=speed, backend="threads", threads=2).times for v in ids])


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_solve(method):
    """Forked ones too, although the threads that solved before are not in them."""
    mesh, ids = cube(20), [0, 77]
    expected = [isochron.solve(mesh, [v], backend="threads", threads=2).times for v in ids]
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    process = context.Process(target=solve_in_another_process, args=(queue, mesh, ids), daemon=True)
    process.start()
    try:
        for times, wanted in zip(queue.get(timeout=200), expected):
            np.testing.assert_allclose(times, wanted, rtol=1e-5)
    finally:
        process.kill()
        process.join()


def test_a_solver_cannot_be_called_by_its_own_callback():
    solver = isochron.Solver(square(10))
    refused(isochron.UsageError, "at work", solver.solve, [0], progress=lambda fraction: solver.solve([0]))


INTERRUPTED = """
import os, signal, sys, time
sys.path.insert(0, {tests!r})
import isochron
from cpu_timer import interrupt_after
from meshes import cube
mesh = cube(40)
isochron.solve(cube(4), [0])
for after in {after}:
    due = interrupt_after(after)
    try:
        {work}
    except KeyboardInterrupt:
        print(time.process_time() - due)
isochron.solve(cube(4), [0])
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(1)
except KeyboardInterrupt:
    print("as ever")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the timer of the CPU time is that of Linux")
@pytest.mark.parametrize(
    "work, after",
    [
        ("while True: isochron.solve(mesh, [0])", [0.2, 0.23, 0.26]),
        ("while True: isochron.Solver(mesh, reorder='always')", [0.2, 0.23, 0.26]),
        ("while True: isochron.solve(mesh, [0], verify=True, weights=True)", [0.2]),
        ("isochron.solve_many(mesh, [[v] for v in range(10000)])", [0.4]),
        ("isochron.distance_matrix(isochron.Grid((60, 60, 60)), list(range(10000)), [0])", [0.4]),
        ("while True: isochron.Solver(isochron.Grid((80, 80, 80)), metric=np.diag([1.0, 2, 3]) + 0.3)", [0.2]),
        ("while True: isochron.invert(mesh, [[0.9, 0.9, 0.9]], [[1.0]] * 20, list(range(20)))", [0.3, 0.9]),
    ],
)
def test_ctrl_c_stops_a_solve(work, after):
    """Within 0.2 s of CPU time, all threads together: that is more than the wall's where nothing else runs."""
    code = INTERRUPTED.format(tests=os.path.dirname(__file__), after=after, work=work)
    done = subprocess.run([sys.executable, "-c", "import numpy as np\n" + code], capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
    *seconds, end = done.stdout.splitlines()
    assert len(seconds) == len(after) and all(0 <= float(one) < 0.2 for one in seconds), seconds
    assert end == "as ever"


def test_handlers_of_others_stay():
    kept = signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        isochron.solve(square(4), [0])
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, kept)


def test_notes_are_warnings():
    points, cells = square(8)
    points[:, 0] *= 1e12
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        arrival = isochron.solve((points, cells), [0], precision="single")
    assert [str(w.message) for w in caught] == arrival.stats["notes"] != []
    assert all(w.category is isochron.SolveWarning for w in caught)


def test_exceptions_are_those_people_catch():
    assert issubclass(isochron.InputError, ValueError) and issubclass(isochron.UsageError, ValueError)
    for name in ("NoAnswerError", "RuntimeFailure", "DeviceError", "Cancelled"):
        assert issubclass(getattr(isochron, name), RuntimeError)
    for name in ("InputError", "UsageError", "NoAnswerError", "RuntimeFailure", "DeviceError", "Cancelled"):
        assert issubclass(getattr(isochron, name), isochron.Error)


def test_a_missing_gpu_is_told():
    try:
        isochron.solve(square(4), [0], backend="cuda")
    except isochron.DeviceError as error:
        assert "GPU" in str(error) or "CUDA" in str(error)
