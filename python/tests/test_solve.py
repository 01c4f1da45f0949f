"""Times from every kind of mesh, source and metric."""

import pickle

import numpy as np
import pytest

import isochron
from meshes import cube, refused, square


def test_triangles_from_a_vertex():
    points, cells = square(20)
    arrival = isochron.solve((points, cells), [0], verify=True)
    exact = np.linalg.norm(points, axis=1)
    assert np.abs(arrival.times - exact).max() < 0.01
    assert arrival.converged and arrival.residual <= arrival.stats["residual_limit"]
    assert (arrival.source == 0).all()


def test_tetrahedra_with_a_constant_speed():
    points, cells = cube(6)
    arrival = isochron.solve((points, cells), [0], speed=2.0)
    exact = np.linalg.norm(points, axis=1) / 2
    assert np.abs(arrival.times - exact).max() < 0.02


def test_unreached_is_inf():
    points, cells = square(4)
    points = np.vstack([points, [[9.0, 9, 0]]])
    arrival = isochron.solve((points, cells), [0])
    assert np.isinf(arrival.times[-1]) and arrival.source[-1] == -1
    assert arrival.stats["unreached"] == 1 and not arrival.reached[-1]


@pytest.mark.parametrize("order", ["C", "F"])
def test_grid_axes_are_those_of_the_array(order):
    grid = isochron.Grid((9, 8, 7), spacing=(1, 2, 3), origin=(5, 6, 7), order=order)
    arrival = isochron.solve(grid, [[5.0, 6.0, 7.0]])
    assert arrival.times.shape == (9, 8, 7)
    np.testing.assert_allclose(arrival.times[8, 0, 0], 8, rtol=1e-6)
    np.testing.assert_allclose(arrival.times[0, 7, 0], 14, rtol=1e-6)
    np.testing.assert_allclose(arrival.times[0, 0, 6], 18, rtol=1e-6)


@pytest.mark.parametrize("shape", [(9, 8), (6, 5, 4)])
def test_grid_frames(shape):
    """A rotated grid, its points and its indices."""
    turn = np.eye(len(shape))
    turn[:2, :2] = [[0.6, -0.8], [0.8, 0.6]]
    grid = isochron.Grid(shape, 0.5, np.arange(1.0, len(shape) + 1), turn)
    index = np.array([[1] * len(shape)])
    np.testing.assert_allclose(grid.index(grid.position(index)), index)
    by_index = isochron.solve(grid, index)
    by_point = isochron.solve(grid, grid.position(index))
    by_id = isochron.solve(grid, np.ravel_multi_index(tuple(index[0]), shape))
    np.testing.assert_array_equal(by_index.times, by_id.times)
    np.testing.assert_allclose(by_point.times, by_id.times, atol=1e-6)
    exact = np.linalg.norm(grid.points() - grid.position(index[0]), axis=-1)
    assert np.abs(by_id.times - exact).max() < 0.15


@pytest.mark.parametrize("order", ["C", "F"])
def test_grid_values_go_where_they_belong(order):
    """A slow wall with one door: the way round shows which axis is which."""
    speed = np.ones((20, 12))
    speed[10, :] = 1e-3
    speed[10, 2] = 1.0
    arrival = isochron.solve(isochron.Grid(speed.shape, order=order), [[0, 10]], speed=speed)
    assert arrival.times[19, 10] > np.hypot(10, 8) + np.hypot(9, 8) - 0.5
    masked = isochron.solve(isochron.Grid(speed.shape, order=order), [[0, 10]], mask=speed == 1)
    walls = isochron.solve(isochron.Grid(speed.shape, order=order), [[0, 10]], speed=np.where(speed == 1, 1.0, 0.0))
    np.testing.assert_array_equal(walls.times, masked.times)
    assert np.isinf(masked.times[10, 5]) and np.isfinite(masked.times[10, 2])
    np.testing.assert_allclose(masked.times[11:], arrival.times[11:], rtol=0.01)


def test_grid_tensors_are_in_the_world_frame():
    """Twice as fast along x, which is axis 0 of the array."""
    shape = (15, 15, 3)
    metric = np.broadcast_to(np.diag([0.25, 1, 1]), shape + (3, 3))
    arrival = isochron.solve(isochron.Grid(shape), [[7, 7, 1]], metric=metric)
    np.testing.assert_allclose([arrival.times[14, 7, 1], arrival.times[7, 14, 1]], [3.5, 7], rtol=1e-3)
    one = isochron.solve(isochron.Grid(shape), [[7, 7, 1]], metric=np.diag([0.25, 1, 1]))
    np.testing.assert_allclose(one.times, arrival.times, rtol=1e-6)


def test_second_order_on_grids():
    grid = isochron.Grid((41, 41))
    exact = np.hypot(*np.indices((41, 41)))
    errors = [np.abs(isochron.solve(grid, [0], order=order, source_init="plain").times - exact).max() for order in (1, 2)]
    assert errors[1] < 0.7 * errors[0]


SOURCE_FORMS = {
    "id": [12],
    "number": 12,
    "ids": np.array([12], dtype=np.uint8),
    "mask": np.arange(25) == 12,
    "Sources": isochron.Sources([12]),
}


@pytest.mark.parametrize("form", SOURCE_FORMS)
def test_forms_of_vertex_sources(form):
    mesh = square(4)
    arrival = isochron.solve(mesh, SOURCE_FORMS[form])
    np.testing.assert_array_equal(arrival.times, isochron.solve(mesh, [12]).times)
    assert arrival.times[12] == 0


def test_onset_times():
    mesh = square(10)
    points = mesh[0]
    arrival = isochron.solve(mesh, [0, 120], times=[0.5, 0.0])
    exact = np.minimum(0.5 + np.linalg.norm(points, axis=1), np.linalg.norm(points - [1, 1, 0], axis=1))
    assert np.abs(arrival.times - exact).max() < 0.05
    assert set(arrival.source) == {0, 1} and arrival.source[120] == 1
    later = isochron.solve(mesh, [0, 120], times=3.0)
    np.testing.assert_allclose(later.times, isochron.solve(mesh, [0, 120]).times + 3)
    mask = np.zeros(121, dtype=bool)
    mask[[0, 120]] = True
    onset = np.zeros(121)
    onset[0] = 0.5
    np.testing.assert_array_equal(isochron.solve(mesh, mask, times=onset).times, arrival.times)


def test_points_and_several_kinds_at_once():
    mesh = square(10)
    arrival = isochron.solve(mesh, isochron.Sources(vertices=[0], points=[[0.95, 0.93, 0]], point_times=0.25))
    assert arrival.source[0] == 0 and arrival.source[120] == 1
    np.testing.assert_allclose(arrival.times[120], 0.25 + np.hypot(0.05, 0.07), rtol=0.05)


def test_level_sets():
    mesh = square(10)
    distance = mesh[0][:, 0] - 0.37
    np.testing.assert_allclose(isochron.solve(mesh, level_set=distance).times, np.abs(distance), atol=1e-9)


@pytest.mark.parametrize("order", ["C", "F"])
def test_level_sets_on_grids(order):
    """The distance to a circle, inside and outside, and a plane that is met exactly."""
    grid = isochron.Grid((61, 41), spacing=(1 / 30, 1 / 20), origin=(-1, -1), order=order)
    distance = np.linalg.norm(grid.points(), axis=-1) - 0.5
    arrival = isochron.solve(grid, level_set=distance, speed=np.full(grid.shape, 2.0))
    assert np.abs(2 * arrival.times - np.abs(distance)).max() < 0.03
    across = grid.points()[..., 0] - 0.123
    np.testing.assert_allclose(isochron.solve(grid, level_set=across).times, np.abs(across), atol=1e-9)
    mask = grid.points()[..., 1] < 0
    masked = isochron.solve(grid, level_set=across, mask=mask)
    np.testing.assert_allclose(masked.times[mask], np.abs(across)[mask], atol=1e-9)
    assert np.isinf(masked.times[~mask]).all()


def test_forms_of_speed():
    points, cells = square(7)
    by_element = isochron.solve((points, cells), [0], speed=np.full(len(cells), 2.0))
    by_vertex = isochron.solve((points, cells), [0], speed=np.full(len(points), 2.0))
    by_number = isochron.solve((points, cells), [0], speed=2)
    np.testing.assert_allclose(by_vertex.times, by_element.times)
    np.testing.assert_allclose(by_number.times, by_element.times)
    assert by_vertex.stats["converted"] == ["speed: from vertices to the means of elements"]


ORDERS = {"row": [0, 1, 2, 4, 5, 8], "vtk": [0, 4, 8, 1, 5, 2], "mrtrix": [0, 4, 8, 1, 2, 5], "lower": [0, 1, 4, 2, 5, 8]}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("number", [np.float32, np.float64])
def test_forms_of_tensors(order, number):
    points, cells = cube(4)
    half = np.array([[1, 0.2, 0.1], [0, 0.8, 0.3], [0, 0, 0.6]])
    tensor = half @ half.T
    expected = isochron.solve((points, cells), [0], metric=tensor).times
    along = np.sqrt(np.einsum("ni,ij,nj->n", points, tensor, points))
    assert np.abs(expected - along).max() < 0.1 * along.max()
    many = np.broadcast_to(tensor, (len(cells), 3, 3)).astype(number)
    six = many.reshape(-1, 9)[:, ORDERS[order]]
    forms = [
        {"metric": many},
        {"metric": six, "tensor_order": order},
        {"velocity_tensor": np.linalg.inv(many)},
        {"velocity_tensor": np.linalg.inv(tensor)},
        {"metric": tensor.ravel()[ORDERS[order]], "tensor_order": order},
    ]
    for form in forms:
        np.testing.assert_allclose(isochron.solve((points, cells), [0], **form).times, expected, rtol=1e-5)


def test_fibers_sheets_and_regions():
    points, cells = cube(6)
    fibers = np.tile([1.0, 0, 0], (len(cells), 1))
    sheets = np.tile([0.0, 1, 0], (len(cells), 1))
    corner = np.ravel_multi_index(([6, 0, 0], [0, 6, 0], [0, 0, 6]), (7, 7, 7))
    two = isochron.solve((points, cells), [0], fibers=fibers, velocity=(2.0, 1.0))
    np.testing.assert_allclose(two.times[corner], [0.5, 1, 1], rtol=1e-6)
    three = isochron.solve((points, cells), [0], fibers=fibers, sheets=sheets, velocity=(4.0, 2.0, 1.0))
    np.testing.assert_allclose(three.times[corner], [0.25, 0.5, 1], rtol=1e-6)
    regions = np.where(points[cells].mean(axis=1)[:, 2] < 0.5, 10, 20)
    table = {10: (2.0, 1.0), 20: 0.5}
    split = isochron.solve((points, cells), [0], fibers=fibers, velocity=table, regions=regions)
    np.testing.assert_allclose(split.times[corner], [0.5, 1, 0.5 + 1.0], rtol=1e-6)
    with pytest.raises(isochron.InputError, match="20"):
        isochron.solve((points, cells), [0], fibers=fibers, velocity={10: 1.0}, regions=regions)


@pytest.mark.parametrize(
    "method, backend", [("banded", "serial"), ("banded", "threads"), ("fim", "serial"), ("fim", "threads"), ("fsm", "serial")]
)
@pytest.mark.parametrize("precision", ["single", "double", np.float32, float])
def test_methods_agree(method, backend, precision):
    mesh = square(12)
    arrival = isochron.solve(mesh, [0], method=method, backend=backend, precision=precision, verify=True)
    np.testing.assert_allclose(arrival.times, isochron.solve(mesh, [0]).times, atol=1e-4)
    assert arrival.stats["method"] == method and arrival.stats["backend"] == backend
    assert arrival.stats["precision"] == ("single" if precision in ("single", np.float32) else "double")


def test_upwind_weights():
    mesh = square(6)
    vertices, weights = isochron.solve(mesh, [0], weights=True, source_init="plain").upwind
    assert vertices.shape == weights.shape == (49, 3)
    np.testing.assert_allclose(weights[1:].sum(axis=1), 1, atol=1e-6)
    assert isochron.solve(mesh, [0]).upwind is None


@pytest.mark.parametrize("mesh", [square(6), isochron.Grid((7, 7))])
def test_labels_are_left_out_on_request(mesh, tmp_path):
    full = isochron.solve(mesh, [0, 48])
    arrival = isochron.solve(mesh, [0, 48], labels=False)
    assert arrival.source is None and set(full.source.ravel()) == {0, 1}
    np.testing.assert_array_equal(arrival.times, full.times)
    second = isochron.solve(mesh, [48]).times.ravel()
    np.testing.assert_array_equal(isochron.distance_matrix(mesh, [0, 48], labels=False)[1], second)
    copy = pickle.loads(pickle.dumps(arrival))
    assert copy.source is None and repr(copy) == repr(arrival)
    name = tmp_path / ("times.npy" if isinstance(mesh, isochron.Grid) else "times.ply")
    isochron.write(name, arrival)
    assert name.exists()


def test_a_solver_takes_other_metrics():
    points, cells = square(8)
    solver = isochron.Solver((points, cells))
    first = solver.solve([0]).times
    solver.set_speed(np.full(len(cells), 2.0))
    np.testing.assert_allclose(solver.solve([0]).times, first / 2)
    solver.set_metric(np.eye(3) * 9)
    np.testing.assert_allclose(solver.solve([0]).times, 3 * first)
    refused(isochron.InputError, "", solver.set_speed, np.zeros(len(cells)))
    refused(isochron.InputError, "no voxel conducts", isochron.solve, isochron.Grid((3, 4)), [0], speed=np.zeros((3, 4)))
    np.testing.assert_allclose(solver.solve([0]).times, 3 * first)  # the one before stays
    solver.set_metric(fibers=np.tile([1.0, 0, 0], (len(cells), 1)), velocity=(2, 1))
    np.testing.assert_allclose(solver.solve([0]).times[-9], 0.5)
    refused(TypeError, "colour", solver.set_metric, colour=1)


@pytest.mark.parametrize("mesh", [square(12), isochron.Grid((13, 13))])
def test_an_update_gives_the_times_of_a_solve(mesh):
    count = 169 if isinstance(mesh, isochron.Grid) else len(mesh[1])
    speed = 1 + np.linspace(0, 1, count)
    solver = isochron.Solver(mesh, speed=speed, verify=True)
    before = solver.solve([0, 160], times=[0.0, 2.0])
    slower = speed.copy()
    slower[count // 2 : count // 2 + 10] *= 0.3
    wanted = isochron.solve(mesh, [0, 160], times=[0.0, 2.0], speed=slower)
    after = solver.update(before, speed=slower)
    np.testing.assert_allclose(after.times, wanted.times, rtol=1e-5)
    assert np.count_nonzero(after.source != wanted.source) <= 5  # ties
    assert 0 < after.stats["changed"] < 169 and after.converged and after.residual is not None
    assert after.stats["changed"] == np.count_nonzero(after.times != before.times)
    np.testing.assert_array_equal(solver.solve([0, 160], times=[0.0, 2.0]).times, wanted.times)  # the solver keeps it
    changed = np.zeros(count, bool)
    changed[count // 2 : count // 2 + 10] = True
    back = solver.update(after, speed=speed.copy(), changed=changed)
    np.testing.assert_allclose(back.times, before.times, rtol=1e-5)
    again = solver.update(back, speed=slower.copy(), changed=np.flatnonzero(changed))
    np.testing.assert_allclose(again.times, wanted.times, rtol=1e-5)
    moved = solver.update(again, [0, 150], times=[0.0, 1.0])
    np.testing.assert_allclose(moved.times, isochron.solve(mesh, [0, 150], [0.0, 1.0], speed=slower).times, rtol=1e-5)
    assert moved.sources.vertices.tolist() == [0, 150]
    np.testing.assert_array_equal(solver.update(moved).times, moved.times)


def test_an_update_of_a_grid_with_voxels_that_stop_and_start_to_conduct():
    grid, healthy = isochron.Grid((20, 20)), np.ones((20, 20))
    scar = healthy.copy()
    scar[5:15, 9:12] = 0
    solver = isochron.Solver(grid, speed=healthy)
    with pytest.warns(isochron.SolveWarning, match="other voxels conduct"):
        with_scar = solver.update(solver.solve([0]), speed=scar)
    np.testing.assert_array_equal(with_scar.times, isochron.solve(grid, [0], speed=scar).times)
    assert np.isinf(with_scar.times[6, 10]) and with_scar.stats["changed"] > 0
    assert "other voxels conduct" in with_scar.stats["notes"][-1]
    at_source = healthy.copy()
    at_source[0, 0] = 0
    refused(isochron.InputError, "", solver.update, with_scar, speed=at_source)
    np.testing.assert_array_equal(solver.solve([0]).times, with_scar.times)  # the metric before stays
    with pytest.warns(isochron.SolveWarning, match="other voxels conduct"):
        without = solver.update(with_scar, speed=healthy.copy())
    np.testing.assert_array_equal(without.times, isochron.solve(grid, [0], speed=healthy).times)
    assert isochron.Solver(grid, speed=scar).set_metric(speed=healthy) is None
    copy = pickle.loads(pickle.dumps(isochron.Solver(grid, speed=scar)))
    copy.set_speed(healthy)
    np.testing.assert_array_equal(copy.solve([0]).times, without.times)


def test_an_update_knows_what_was_solved_before():
    grid, onsets = isochron.Grid((20, 20)), np.array([0.0, 2.0])
    solver = isochron.Solver(grid)
    before = solver.solve([0, 399], onsets)
    onsets[1] = 9.0
    np.testing.assert_allclose(solver.update(before, [0, 399], onsets).times, isochron.solve(grid, [0, 399], onsets).times)
    x, y = np.meshgrid(np.arange(20), np.arange(20), indexing="ij")
    circle = np.hypot(x - 9, y - 9) - 4.0
    solver = isochron.Solver(grid, speed=2.0)
    first = solver.solve(level_set=circle)
    refused(isochron.UsageError, "give level_set again", solver.update, first, speed=np.ones(grid.shape))
    slower = solver.update(first, level_set=circle, speed=np.ones(grid.shape))
    np.testing.assert_allclose(slower.times, isochron.solve(grid, level_set=circle).times)


def test_an_update_says_what_is_wrong():
    points, cells = square(8)
    speed = np.ones(len(cells))
    solver = isochron.Solver((points, cells), speed=speed)
    before = solver.solve([0, 80])
    refused(isochron.UsageError, "the solver has", solver.update, before, speed=speed)
    refused(isochron.UsageError, r"give what solve\(\) returned", solver.update, before.times)
    refused(isochron.UsageError, "give it too", solver.update, before, changed=[0])
    refused(isochron.UsageError, "no metric", solver.update, before, tensor_order="row")
    refused(isochron.UsageError, "no metric", solver.set_metric, tensor_order="row")
    refused(isochron.UsageError, "give the sources too", solver.update, before, times=3.0)
    refused(isochron.UsageError, "holds no element", solver.update, before, speed=2 * speed, changed=[])
    refused(isochron.InputError, "changed", solver.update, before, speed=2 * speed, changed=[len(cells)])
    mask = np.ones(len(points), bool)
    refused(isochron.InputError, "changed has the wrong shape", solver.update, before, speed=2 * speed, changed=mask)
    refused(isochron.InputError, "speed", solver.update, before, speed=-speed)
    refused(isochron.InputError, "", solver.update, before, [len(points)], speed=2 * speed)
    np.testing.assert_array_equal(solver.solve([0, 80]).times, before.times)  # the metric before stays
    other = isochron.Solver((points, cells)).solve([0])
    refused(isochron.UsageError, "another solver", solver.update, other)
    refused(TypeError, "colour", solver.update, before, colour=1)


def test_many_and_matrix():
    mesh = square(8)
    many = isochron.solve_many(mesh, [[0], [80], [0, 80]])
    np.testing.assert_allclose(many[2].times, np.minimum(many[0].times, many[1].times), atol=0.05)
    assert [set(arrival.source) for arrival in many] == [{0}, {0}, {0, 1}]
    matrix = isochron.distance_matrix(mesh, [0, 80])
    np.testing.assert_array_equal(matrix, [many[0].times, many[1].times])
    np.testing.assert_array_equal(isochron.distance_matrix(mesh, [0, 80], [40, 80]), matrix[:, [40, 80]])
    grid = isochron.Grid((5, 6))
    corners = np.array([[0, 0], [4, 5]])
    np.testing.assert_allclose(isochron.distance_matrix(grid, corners, corners)[0, 1], np.hypot(4, 5), rtol=0.05)


def test_stats_have_the_keys_of_the_command():
    stats = isochron.solve(square(4), [0]).stats
    for key in (
        "vertices elements method backend threads precision setup_seconds solve_seconds solves_per_vertex rounds reached "
        "unreached max_time converged residual peak_bytes converted notes"
    ).split():
        assert key in stats, key
    assert stats["vertices"] == 25 and stats["elements"] == 32


@pytest.mark.parametrize("order", ["C", "F"])
def test_sources_objects_on_grids(order):
    """Indices and masks, with onset times, beside positions; on meshes masks too."""
    grid = isochron.Grid((7, 6), order=order)
    ids = np.ravel_multi_index(([1, 5], [2, 4]), grid.shape, order=order)
    expected = isochron.solve(grid, isochron.Sources(ids, [0.0, 1.5], [[6.0, 0.0]], 2.0))
    by_index = isochron.solve(grid, isochron.Sources([[1, 2], [5, 4]], [0.0, 1.5], [[6.0, 0.0]], 2.0))
    np.testing.assert_array_equal(by_index.times, expected.times)
    np.testing.assert_array_equal(by_index.source, expected.source)
    mask, onsets = np.zeros(grid.shape, dtype=bool), np.zeros(grid.shape)
    mask[1, 2] = mask[5, 4] = True
    onsets[5, 4] = 1.5
    sources = isochron.Sources(mask, onsets, [[6.0, 0.0]], 2.0)
    assert repr(sources) == "Sources(2 vertices, 1 point)"
    np.testing.assert_array_equal(isochron.solve(grid, sources).times, expected.times)
    later = isochron.Sources(mask, 3.0)
    np.testing.assert_allclose(isochron.solve(grid, later).times, isochron.solve(grid, mask).times + 3)
    beside = isochron.solve(grid, isochron.Sources([], points=[[6.0, 0.0]], point_times=2.0))
    np.testing.assert_array_equal(beside.times, isochron.solve(grid, [[6.0, 0.0]], times=2.0).times)
    matrix = isochron.distance_matrix(grid, isochron.Sources(mask))
    np.testing.assert_array_equal(matrix, isochron.distance_matrix(grid, np.sort(ids)))


def test_masks_in_a_sources_object_on_a_mesh():
    points, cells = square(4)
    mask = points[:, 0] == 0
    np.testing.assert_array_equal(
        isochron.solve((points, cells), isochron.Sources(mask)).times, isochron.solve((points, cells), mask).times
    )
    with pytest.raises(isochron.InputError, match=r"mask of the wrong shape \(it is \(3,\)\)"):
        isochron.solve((points, cells), isochron.Sources(mask[:3]))
    with pytest.raises(isochron.InputError, match="ids, which are integers"):
        isochron.solve(isochron.Grid((5, 5)), isochron.Sources([[0.5, 0.5]]))


def test_a_level_set_in_a_sources_object_on_a_grid():
    grid = isochron.Grid((9, 8))
    level_set = np.add.outer(np.arange(9) - 3.25, np.zeros(8))
    sources = isochron.Sources(level_set=level_set)
    expected = np.abs(level_set)
    np.testing.assert_allclose(isochron.solve(grid, sources).times, expected, atol=1e-6)
    np.testing.assert_allclose(isochron.solve_many(grid, [sources])[0].times, expected, atol=1e-6)
    np.testing.assert_allclose(isochron.distance_matrix(grid, sources)[0], expected.ravel(), atol=1e-6)
    with pytest.raises(isochron.UsageError, match="leave out vertices and points"):
        isochron.solve(grid, isochron.Sources([0], level_set=level_set))
