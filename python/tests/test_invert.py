"""Speeds, velocities and sources from arrival times that were computed with known ones."""

import os
import pickle
import signal
import threading
import warnings

import numpy as np
import pytest

import isochron
from isochron import Grid, InputError, Sources, UsageError
from meshes import cube, refused, square

EXACT = {"tolerance": 1e-12, "precision": "double"}


def times_of(mesh, receivers, shots, **arguments):
    """What receivers measure of each shot."""
    solver = isochron.Solver(mesh, **{"source_init": "plain", **arguments}, **EXACT)  # as inversions of speeds do
    return np.array([arrival.at(receivers) for arrival in solver.solve_many(shots)])


class Layers:
    """A grid of two layers between a line of shots and one of receivers."""

    grid = Grid((24, 20), spacing=0.5)
    speed = np.where(np.arange(20) < 10, 2.0, 3.0) * np.ones((24, 1))
    shots = [[[0.0, 0.5 * y]] for y in range(0, 20, 3)]
    receivers = np.column_stack([np.full(20, 11.5), 0.5 * np.arange(20)])
    times = times_of(grid, receivers, shots, speed=speed)

    @classmethod
    def invert(cls, **options):
        given = {"speed": 2.5, **options}
        return isochron.invert(cls.grid, cls.receivers, given.pop("times", cls.times), given.pop("sources", cls.shots), **given)


def test_two_layers():
    found = Layers.invert()
    assert found.end == "settled"
    assert found.speed.shape == Layers.grid.shape and found.scale is None and found.velocity is None
    assert np.abs(found.speed.mean(axis=0) / Layers.speed[0] - 1)[[2, 3, 4, 14, 15, 16]].max() < 0.04
    assert np.abs(found.speed / Layers.speed - 1).mean() < 0.06
    assert found.misfit < 0.02 * found.steps[0].misfit
    np.testing.assert_allclose(found.times, Layers.times, atol=5 * found.misfit)
    assert found.misfit == pytest.approx(np.sqrt(np.mean((found.times - Layers.times) ** 2)))
    assert [step.iteration for step in found.steps] == list(range(len(found.steps)))
    assert (np.diff([step.objective for step in found.steps]) < 0).all()
    assert found.steps[1].products > 0 and 0 < found.steps[1].step <= 1 and found.steps[1].state is None
    again = found.solver(**EXACT).solve(found.sources[2])
    np.testing.assert_allclose(again.at(Layers.receivers), found.times[2], rtol=1e-6)


def test_shapes_of_the_speed():
    few = {"min_decrease": 0.9}
    for order in "CF":
        grid = Grid(Layers.grid.shape, spacing=0.5, order=order)
        of_grid = isochron.invert(grid, Layers.receivers, Layers.times, Layers.shots, speed=Layers.speed * 1.1, **few)
        np.testing.assert_allclose(of_grid.speed, Layers.invert(speed=Layers.speed * 1.1, **few).speed, rtol=0.02)
    by_id = Layers.invert(speed=Layers.speed.ravel() * 1.1, **few)
    assert by_id.speed.shape == (480,)
    points, cells = square(6)
    times = times_of((points, cells), points[-7:], [[0]], speed=2.0)[0]
    for speed in (1.0, np.ones(len(points)), np.ones(len(cells))):
        found = isochron.invert((points, cells), points[-7:], times, [0], speed=speed)
        assert found.speed.shape == (len(cells),) and found.times.shape == times.shape
        assert found.misfit < 0.05 * found.steps[0].misfit


def test_source_and_onset_on_tetrahedra():
    mesh = cube(6)
    rng = np.random.default_rng(3)
    receivers = rng.uniform(0.05, 0.95, (40, 3))
    place, onset = [0.61, 0.37, 0.52], 0.3
    true = Sources(points=[place], point_times=onset)
    times = times_of(mesh, receivers, [true], source_init="ball")[0]
    found = isochron.invert(
        mesh, receivers, times, [[0.4, 0.6, 0.4]], unknown=["onsets", "source-positions"], min_decrease=1e-9
    )
    assert np.abs(found.positions[0] - place).max() < 1e-3 and abs(found.onsets[0][0] - onset) < 1e-3
    assert isinstance(found.sources[0], Sources) and repr(found.sources[0]) == "Sources(1 point)"
    np.testing.assert_array_equal(found.sources[0].points, found.positions[0])
    np.testing.assert_array_equal(found.sources[0].point_times, found.onsets[0])
    np.testing.assert_allclose(found.solver(**EXACT).solve(found.sources[0]).at(receivers), found.times, rtol=1e-6)
    at_vertex = isochron.invert(mesh, receivers, times, [0], unknown="onsets")
    np.testing.assert_array_equal(at_vertex.positions[0], [[0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(at_vertex.sources[0].vertices, [0])
    np.testing.assert_array_equal(at_vertex.sources[0].vertex_times, at_vertex.onsets[0])


@pytest.mark.parametrize("order", ["C", "F"])
def test_sources_on_a_flat_grid(order):
    """Two shots with two sources each; positions have two coordinates."""
    grid = Grid((30, 20), order=order)
    places = [[[6.3, 4.6], [21.4, 12.7]], [[9.2, 13.9], [22.3, 5.1]]]
    starts = [[[8.0, 6.0], [20.0, 11.0]], [[9.0, 12.0], [24.0, 6.5]]]
    receivers = np.stack(np.meshgrid([1.5, 8, 15, 22, 27.5], [1.5, 7, 11, 17.5]), axis=-1).reshape(-1, 2)
    times = times_of(grid, receivers, places, speed=2.0, source_init="ball")
    found = isochron.invert(grid, receivers, times, starts, unknown="source-positions", speed=2.0, min_decrease=1e-8)
    assert [one.shape for one in found.positions] == [(2, 2), (2, 2)]
    assert np.abs(np.array(found.positions) - places).max() < 0.3
    assert found.misfit < 0.05 * found.steps[0].misfit
    fixed = isochron.invert(grid, receivers, times, [[[3, 4]], [[5, 6], [7, 8]]], unknown="onsets", speed=2.0)
    assert fixed.positions[1].tolist() == [[5, 6], [7, 8]] and fixed.onsets[1].shape == (2,)


def test_velocities_by_region():
    mesh = isochron.generate.cube(n=6)
    regions = np.where(mesh.points[mesh.cells].mean(axis=1)[:, 0] < 0.5, 3, 1)
    fibers = np.tile([1.0, 0.3, 0.0], (len(mesh.cells), 1))
    receivers = np.random.default_rng(1).uniform(0.05, 0.95, (60, 3))
    true = {1: (0.6, 0.3), 3: (0.8, 0.5)}
    times = times_of(mesh, receivers, [[0], [100]], fibers=fibers, velocity=true, regions=regions)
    start = {3: (0.6, 0.6), 1: (0.6, 0.6)}
    given = {"fibers": fibers, "regions": regions, "unknown": "region-velocities"}
    found = isochron.invert(mesh, receivers, times, [0, 100], velocity=start, **given)
    assert found.speed is None and list(found.velocity) == [1, 3]
    for region, row in true.items():
        np.testing.assert_allclose(found.velocity[region], row, rtol=1e-3)
    one = isochron.invert(mesh, receivers, times, [0, 100], velocity=start, max_velocity=0.7, **given)
    assert one.velocity[3][0] == pytest.approx(0.7)
    sheets = np.tile([0.0, 0.0, 1.0], (len(mesh.cells), 1))
    given = {"fibers": fibers, "sheets": sheets, "unknown": ["region-velocities"]}
    times = times_of(mesh, receivers, [[0], [100]], fibers=fibers, sheets=sheets, velocity=(0.8, 0.5, 0.3))
    found = isochron.invert(mesh, receivers, times, [0, 100], velocity=0.5, **given)
    np.testing.assert_allclose(found.velocity, (0.8, 0.5, 0.3), rtol=1e-3)
    np.testing.assert_allclose(found.solver(**EXACT).solve([0]).at(receivers), found.times[0], rtol=1e-5)


def test_speeds_by_region_need_no_fibers():
    regions = np.where(np.arange(20) < 10, 7, 5) * np.ones((24, 1), dtype=int)
    found = Layers.invert(speed=None, unknown="region-velocities", velocity={5: 2.5, 7: 2.5}, regions=regions, noise=1e-6)
    assert found.velocity == {5: pytest.approx(3.0, rel=1e-3), 7: pytest.approx(2.0, rel=1e-3)}
    np.testing.assert_allclose(found.speed, Layers.speed, rtol=1e-3)
    assert found.solver().problem.arguments["speed"] is found.speed
    one = Layers.invert(speed=None, unknown="region-velocities", velocity=1.0)
    assert 2 < one.velocity < 3 and one.speed.shape == Layers.grid.shape and np.ptp(one.speed) == 0


def test_factors_of_tensors():
    tensor = np.diag([1.0, 4.0])
    factor = np.where(np.arange(20) < 10, 1.0, 1.3) * np.ones((24, 1))
    times = times_of(Layers.grid, Layers.receivers, Layers.shots, velocity_tensor=tensor * factor[..., None, None] ** 2)
    found = Layers.invert(speed=None, velocity_tensor=np.tile(tensor, (24, 20, 1, 1)), times=times, unknown="tensor-scale", noise=0.01)
    assert found.speed is None and found.scale.shape == (24, 20)
    assert np.abs(found.scale / factor - 1).mean() < 0.08
    again = found.solver(**EXACT).solve(found.sources[0])
    np.testing.assert_allclose(again.at(Layers.receivers), found.times[0], rtol=1e-5)


def test_bounds():
    found = Layers.invert(min_velocity=2.2, max_velocity=2.8)
    assert 2.2 - 1e-9 < found.speed.min() < 2.25 and 2.75 < found.speed.max() < 2.8 + 1e-9
    refused(InputError, "exclude the start", Layers.invert, max_velocity=2)
    refused(UsageError, "positive", Layers.invert, min_velocity=-1)


def test_noise_ends_it():
    rng = np.random.default_rng(5)
    noise = 0.02
    found = Layers.invert(times=Layers.times + rng.normal(scale=noise, size=Layers.times.shape), noise=noise)
    assert found.end == "noise-level" and 0.5 * noise < found.misfit <= noise
    assert found.misfit < found.steps[-2].misfit and found.steps[-2].misfit > noise


def test_steps_that_do_not_do_are_warned_of():
    with pytest.warns(isochron.SolveWarning, match="did not settle in 2 steps") as warned:
        found = Layers.invert(max_iterations=2)
    assert found.end == "max-iterations" and len(found.steps) == 3
    assert warned[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Layers.invert(min_decrease=0.5)


@pytest.mark.filterwarnings("ignore:the inversion did not settle")
def test_going_on_is_one_run():
    unknown = ["speed", "onsets"]
    whole = Layers.invert(unknown=unknown, max_iterations=6, min_decrease=0)
    half = Layers.invert(unknown=unknown, max_iterations=3, min_decrease=0)
    assert whole.steps[3] == half.steps[3]
    for start in (half, pickle.loads(pickle.dumps(half.state))):
        rest = Layers.invert(unknown=unknown, max_iterations=3, min_decrease=0, start=start)
        assert rest.steps[0].objective == pytest.approx(half.steps[-1].objective)
        assert rest.steps[0].misfit == pytest.approx(half.misfit)
        assert rest.misfit == pytest.approx(whole.misfit, rel=0.1)
        np.testing.assert_allclose(rest.speed, whole.speed, rtol=0.03)
    refused(InputError, "unknowns, this problem", Layers.invert, start=half)
    refused(UsageError, "start is a ", Layers.invert, start=[1.0])


def test_times_that_are_missing_and_weights():
    times = Layers.times.copy()
    times[1::2, ::3] = np.nan
    weights = np.ones(times.shape)
    times[0, 4], weights[0, 4] = 100.0, 0.0
    found = Layers.invert(times=times, weights=weights)
    assert np.isnan(found.times[1, 0]) and found.times[0, 4] < 10
    assert (np.isnan(found.times) == np.isnan(times)).all()
    assert np.abs(found.speed / Layers.speed - 1).mean() < 0.06
    used = np.isfinite(times) & (weights > 0)
    assert found.misfit == pytest.approx(np.sqrt(np.mean((found.times - times)[used] ** 2)))


def test_a_mask():
    mask = np.ones(Layers.grid.shape, dtype=bool)
    mask[8:14, 6:12] = False
    times = times_of(Layers.grid, Layers.receivers, Layers.shots, speed=Layers.speed, mask=mask)
    found = Layers.invert(times=times, mask=mask)
    assert found.misfit < 0.05 * found.steps[0].misfit
    assert (found.speed[~mask] == 2.5).all()
    np.testing.assert_allclose(found.solver(**EXACT).solve([0]).at(Layers.receivers), times[0], rtol=0.02)
    standstill = np.where(mask, 2.5, 0.0)
    closed = Layers.invert(times=times, speed=standstill)
    np.testing.assert_allclose(closed.speed, np.where(mask, found.speed, 0.0))
    refused(InputError, "outside the mask", Layers.invert, times=times, mask=np.arange(24)[:, None] * np.ones(20) < 20)


def test_pickle_and_repr():
    found = Layers.invert(min_decrease=0.3)
    copy = pickle.loads(pickle.dumps(found))
    assert repr(copy) == repr(found)
    assert repr(found).startswith("Inversion(speed from 140 times of 7 shots; misfit 0.") and "\n" not in repr(found)
    np.testing.assert_array_equal(copy.speed, found.speed)
    np.testing.assert_array_equal(copy.solver().solve([0]).times, found.solver().solve([0]).times)
    assert copy.steps == found.steps


@pytest.mark.filterwarnings("ignore:the inversion did not settle")
def test_callbacks():
    seen, shares = [], []
    found = Layers.invert(callback=seen.append, progress=shares.append, max_iterations=4)
    assert seen == found.steps and seen[0].step == 1 and shares[-1] == 1 and shares == sorted(shares)
    assert len(seen[1].state.values) == 480 and not np.array_equal(seen[0].state.values, seen[1].state.values)
    np.testing.assert_array_equal(seen[-1].state.values, found.state.values)
    kept = seen[2].state
    assert Layers.invert(start=kept, max_iterations=1).steps[0].misfit == pytest.approx(found.steps[2].misfit)

    def stop(step):
        if step.iteration == 2:
            raise LookupError("enough")

    refused(LookupError, "enough", Layers.invert, callback=stop)

    def stop_early(fraction):
        raise ArithmeticError("too slow")

    refused(ArithmeticError, "too slow", Layers.invert, progress=stop_early)
    refused(UsageError, "callback is 3", Layers.invert, callback=3)


def test_an_interrupt_ends_it():
    """One inside a callback, and one while the library is at work."""

    def interrupt():
        os.kill(os.getpid(), signal.SIGINT)

    def inside(step):
        interrupt()
        threading.Event().wait(100)  # Python raises in here

    refused(KeyboardInterrupt, "", Layers.invert, callback=inside)

    grid = Grid((150, 150))
    receivers = np.column_stack([np.full(150, 149.0), np.arange(150.0)])
    times = np.add.outer(np.zeros(30), 100 + 5 * np.random.default_rng(1).uniform(size=150))

    def soon(step):
        if step.iteration == 0:
            threading.Timer(0.02, interrupt).start()

    shots = np.column_stack([np.zeros(30), np.linspace(0, 149, 30)])
    refused(KeyboardInterrupt, "", isochron.invert, grid, receivers, times, shots, callback=soon, min_decrease=0)
    assert Layers.invert(min_decrease=0.9).end == "settled"


@pytest.mark.parametrize(
    "kind, words, wrong",
    [
        (InputError, r"times has the wrong shape .*\(7, 19\).*\(20,\) or \(shots, 20\)", {"times": Layers.times[:, 1:]}),
        (InputError, "times has the wrong shape", {"times": np.empty((0, 20))}),
        (InputError, "times holds no real numbers", {"times": "abc"}),
        (InputError, r"weights has the wrong shape .*\(20,\).*\(7, 20\)", {"weights": np.ones(20)}),
        (InputError, "weight -1", {"weights": -np.ones((7, 20))}),
        (InputError, "the time inf", {"times": np.where(Layers.times > 4, np.inf, Layers.times)}),
        (InputError, "no measured times", {"times": np.full((7, 20), np.nan)}),
        (InputError, "no measured times", {"weights": np.zeros((7, 20))}),
        (InputError, "sources is of 6 shots, times of 7", {"sources": Layers.shots[:6]}),
        (InputError, "sources is Sources", {"sources": Sources([0])}),
        (InputError, r"sources\[2\] are positions of the wrong shape", {"sources": [0, 1, [0.0], 1, 1, 1, 1]}),
        (UsageError, r"sources\[0\] has a level set", {"sources": [Sources(level_set=Layers.speed - 2.5)] * 7}),
        (UsageError, "unknown quantity 'speeds'; choose one of: speed, tensor-scale", {"unknown": "speeds"}),
        (UsageError, "unknown is 3", {"unknown": 3}),
        (UsageError, "nothing is unknown", {"unknown": []}),
        (UsageError, "cannot be unknown together", {"unknown": ["speed", "tensor-scale"]}),
        (UsageError, "unknown smoothing_kind 'x'; choose one of: gradient, ", {"smoothing_kind": "x"}),
        (InputError, "smoothing is 'much'", {"smoothing": "much"}),
        (UsageError, "smoothing, noise, ", {"smoothing": -1.0}),
        (InputError, "max_iterations is 2.5", {"max_iterations": 2.5}),
        (UsageError, "receiver_tolerance is 'x'", {"receiver_tolerance": "x"}),
        (UsageError, "480 unknowns cannot be found from 140 measured times", {"smoothing": 0.0}),
        (UsageError, "not isotropic", {"speed": None, "metric": np.diag([1.0, 2.0, 1.0])}),
        (UsageError, "where they were given", {"unknown": "region-velocities"}),
        (UsageError, "no fibers", {"speed": None, "velocity": (1, 2), "unknown": "region-velocities"}),
        (InputError, "velocity is -1", {"speed": None, "velocity": -1, "unknown": "region-velocities"}),
        (UsageError, "velocity goes with fibers", {"speed": None, "velocity": 2.0}),
        (UsageError, "velocity goes with fibers", {"velocity": 2.0, "unknown": "region-velocities"}),
        (UsageError, "unknown source initialisation", {"source_init": "x"}),
        (TypeError, r"invert\(\) got an unexpected keyword argument 'order'", {"order": 2}),
        (TypeError, r"invert\(\) got an unexpected keyword argument 'smooth'", {"smooth": 2}),
    ],
)
def test_errors_name_the_argument(kind, words, wrong):
    refused(kind, words, Layers.invert, **wrong)


def test_receivers_that_are_wrong():
    points, cells = cube(3)
    for mesh, place, words in (
        (Layers.grid, [50.0, 3.0], "receiver 1 at 50,3,0 is .* away"),
        (Layers.grid, [np.nan, 3.0], "receivers is not finite in row 1"),
        ((points, cells), [0.5, 0.5, 1.1], "receiver 1 at 0.5,0.5,1.1 is 0.1 away"),
        ((points, cells), [0.5, 0.5], r"receivers has the wrong shape .*\(2, 2\).*\(n, 3\)"),
    ):
        receivers = [np.zeros(len(place)), place]
        refused(InputError, words, isochron.invert, mesh, receivers, [0.0, 1.0], [0])
    near = isochron.invert((points, cells), [[0.5, 0.5, 1.01], [1, 1, 1.0]], [1.0, 2.0], [0], speed=0.9, noise=0.1)
    assert near.misfit < near.steps[0].misfit
    parts = (np.vstack([points, points + 5]), np.vstack([cells, cells + len(points)]))
    refused(InputError, "receiver 0 at 5.5,5.5,5.5 is not reached by shot 0", isochron.invert, parts, [[5.5, 5.5, 5.5]], [1.0], [0])


@pytest.mark.parametrize("kind", ["gradient", "curvature", "total-variation"])
def test_kinds_of_smoothing(kind):
    found = Layers.invert(smoothing_kind=kind, noise=0.01)
    assert found.misfit < 0.2 * found.steps[0].misfit
