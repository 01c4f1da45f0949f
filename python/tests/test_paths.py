import numpy as np
import pytest
from meshes import cube, refused, square

import isochron


@pytest.fixture(scope="module")
def on_square():
    return isochron.solve(square(40), sources=[[0.0, 0.0, 0.0]], speed=2.0)


def test_path_on_a_mesh_is_straight(on_square):
    path = isochron.trace_path(on_square, [0.6, 0.8, 0.0])
    assert path.length == pytest.approx(1.0, rel=1e-4)
    assert path.travel_time == pytest.approx(0.5, rel=1e-4)
    assert path.source == 0
    assert np.allclose(path.points[0], [0.6, 0.8, 0.0]) and np.allclose(path.points[-1], 0)
    assert (np.diff(path.times) < 0).all()


def test_several_places_give_a_list_and_ids_work(on_square):
    paths = isochron.trace_path(on_square, np.array([40, 41 * 41 - 1]))
    assert [round(path.length, 3) for path in paths] == [1.0, round(2**0.5, 3)]
    single = isochron.trace_path(on_square, 40)
    assert np.array_equal(single.points, paths[0].points)


@pytest.mark.parametrize("on", [isochron.Grid((60, 50)), square(20)], ids=["grid", "mesh"])
def test_paths_are_the_same_whatever_the_threads(on):
    arrival = isochron.solve(on, sources=[3])
    to = np.arange(0, arrival.times.size, 29)
    alone, together = (isochron.trace_path(arrival, to, threads=threads) for threads in (1, 3))
    assert all(np.array_equal(a.points, b.points) for a, b in zip(alone, together, strict=True))
    refused(isochron.UsageError, "threads", isochron.trace_path, arrival, to, threads=-1)


def test_place_that_nothing_reached():
    points, cells = square(4)
    two = (np.vstack([points, points + 5]), np.vstack([cells, cells + len(points)]))
    arrival = isochron.solve(two, sources=[0])
    refused(isochron.NoAnswerError, "", isochron.trace_path, arrival, len(points))
    assert isochron.trace_path(arrival, np.array([3, len(points)]))[1] is None


def test_wrong_places_are_named(on_square):
    refused(isochron.InputError, "to holds an id out of range", isochron.trace_path, on_square, 99999)
    refused(isochron.InputError, "^to are positions", isochron.trace_path, on_square, [[0.5, 0.5, 0.0, 1.0]])
    refused(ValueError, "mesh|away|outside", isochron.trace_path, on_square, [3.0, 0.5, 0.0])


def test_path_on_grids_of_either_order():
    for order in "CF":
        grid = isochron.Grid((30, 20, 10), spacing=(1.0, 2.0, 3.0), origin=(5, 6, 7), order=order)
        arrival = isochron.solve(grid, sources=[[5.0, 6.0, 7.0]])
        path = isochron.trace_path(arrival, grid.position((20, 15, 9)))
        assert path.length == pytest.approx(np.linalg.norm([20, 30, 27]), rel=1e-3), order
        assert np.allclose(path.points[-1], [5, 6, 7])
        assert isochron.trace_path(arrival, np.array([[20, 15, 9]]))[0].length == pytest.approx(path.length)


def test_gradient_on_tetrahedra_has_the_slowness():
    mesh = cube(12)
    arrival = isochron.solve(mesh, sources=np.flatnonzero(mesh[0][:, 0] == 0), speed=0.5)
    gradient = isochron.gradient(arrival)
    assert gradient.shape == (len(mesh[1]), 3)
    assert np.allclose(gradient, [2, 0, 0], atol=1e-6)


def test_gradient_on_triangles_lies_in_their_plane():
    sphere = isochron.generate.sphere(20)
    arrival = isochron.solve(sphere, sources=[0])
    gradient = isochron.gradient(arrival)
    corners = sphere.points[sphere.cells]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    assert np.abs((gradient * normal).sum(axis=1)).max() < 1e-9
    assert np.median(np.linalg.norm(gradient, axis=1)) == pytest.approx(1, abs=0.02)


def test_gradient_on_a_turned_grid_is_in_the_world():
    angle = np.deg2rad(30)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    grid = isochron.Grid((60, 60), spacing=(0.5, 1.0), origin=(3, 4), direction=turn)
    arrival = isochron.solve(grid, sources=[grid.position((0, 0))])
    gradient = isochron.gradient(arrival)
    away = grid.points() - grid.position((0, 0))
    away = away[20:, 20:] / np.linalg.norm(away[20:, 20:], axis=-1, keepdims=True)
    assert np.abs(gradient[20:, 20:] - away).max() < 0.05


def test_gradient_where_nothing_arrived_is_nan():
    mask = np.ones((9, 9), bool)
    mask[4] = False
    arrival = isochron.solve(isochron.Grid((9, 9)), sources=[[0, 0]], mask=mask)
    gradient = isochron.gradient(arrival)
    assert np.isnan(gradient[5:]).all() and np.isfinite(gradient[:4]).all()


def test_wrong_arguments_are_named():
    arrival = isochron.solve(square(4), [0])
    for call in (lambda: isochron.trace_path(square(4), 3), lambda: isochron.gradient(arrival.times)):
        refused(isochron.UsageError, "give what solve returns", call)
    refused(isochron.UsageError, "tolerance is 'a'", isochron.trace_path, arrival, 3, tolerance="a")
    for to in (25, -1):
        refused(isochron.InputError, "to holds an id out of range", isochron.trace_path, arrival, to)


def test_places_outside_the_mask_are_none_in_a_list():
    mask = np.ones((6, 6), bool)
    mask[4, 4] = False
    arrival = isochron.solve(isochron.Grid((6, 6)), [[0, 0]], mask=mask)
    found = isochron.trace_path(arrival, [[2, 2], [4, 4]])
    assert found[1] is None and found[0].length == pytest.approx(np.sqrt(8))
    refused(isochron.NoAnswerError, "4,4,0 .it is outside the mask", isochron.trace_path, arrival, [4.0, 4.0])
