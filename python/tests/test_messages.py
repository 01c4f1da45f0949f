"""Errors are one line that names the argument and the shapes that would be right."""

import pickle
import re
import warnings

import numpy as np
import pytest

import isochron
from meshes import message_of, square

POINTS = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
CELLS = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)
MESH = (POINTS, CELLS)
GRID = isochron.Grid((5, 6))
FIBERS = np.tile([1.0, 0, 0], (2, 1))
PHI = np.add.outer(np.linspace(-1, 1, 9), np.zeros(9))
VOLUME = np.pad(np.ones((4, 4, 4), dtype=np.int32), 2)
BOX = isochron.Grid(VOLUME.shape)


@pytest.mark.parametrize(
    "mesh, arguments, words",
    [
        (GRID, {"fibers": np.ones((5, 6)), "velocity": 1}, ["fibers", "(5, 6)", "shape (5, 6, 3)"]),
        (GRID, {"fibers": np.ones((5, 7, 3)), "velocity": 1}, ["fibers", "(5, 7, 3)", "shape (5, 6, 3)"]),
        (GRID, {"metric": np.ones((5, 7, 2, 2))}, ["metric", "(5, 7, 2, 2)", "(2, 2)", "(5, 6, 3, 3)", "(5, 6, 6)"]),
        (BOX, {"metric": np.ones((8, 8, 8, 2, 2))}, ["metric", "(8, 8, 8, 2, 2)", "(8, 8, 8, 3, 3)"]),
        (GRID, {"metric": np.ones((5, 6, 3))}, ["metric", "it is (5, 6, 3)", "(5, 6, 3, 3)"]),
        (isochron.Grid((4, 3, 3)), {"metric": np.tile(np.eye(3), (4, 1, 1))}, ["it is (4, 3, 3)", "(4, 3, 3, 3, 3)", "(4, 3, 3, 6)"]),
        (MESH, {"speed": [1, 2, 3]}, ["speed", "(3,)", "a number", "(2,) for elements", "(4,) for vertices"]),
        (MESH, {"speed": np.ones((2, 1, 1))}, ["speed", "(2, 1, 1)", "(2,) for elements"]),
        (MESH, {"metric": np.ones((2, 3, 2))}, ["metric", "(2, 3, 2)", "(2, 3, 3) or (2, 6)"]),
    ],
)
def test_shapes_that_would_be_right(mesh, arguments, words):
    text = message_of(isochron.InputError, isochron.solve, mesh, [0], **arguments)
    assert [word for word in words if word not in text] == []


def test_tensors_of_all_right_shapes_on_a_grid():
    expected = isochron.solve(GRID, [0], metric=np.eye(3)).times
    six = np.array([1.0, 0, 0, 1, 0, 1])
    for metric in (six, np.tile(six, (5, 6, 1)), np.tile(six, (30, 1)), np.tile(np.eye(3), (5, 6, 1, 1)), np.tile(np.eye(3), (30, 1, 1))):
        np.testing.assert_allclose(isochron.solve(GRID, [0], metric=metric).times, expected)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: isochron.distance_matrix(MESH, [0], []), ["targets is empty;"]),
        (lambda: isochron.solve(MESH, [True, False, False, True], times=[1, 2, 3]), ["times has", "(2,)"]),
        (lambda: isochron.distance(PHI, dx=0), ["dx is 0"]),
        (lambda: isochron.distance(PHI, mask=PHI > 0), ["mask", "distance()", "masked array"]),
        (lambda: isochron.travel_time(PHI, 1 + 0 * PHI, mask=PHI > 0), ["mask", "travel_time()"]),
        (lambda: isochron.solve(MESH, [0], speed=1e300), ["speed is 1e+300", "too large"]),
        (lambda: isochron.solve(MESH, [0], speed=1e-200), ["speed is 1e-200", "too small"]),
        (lambda: isochron.solve(MESH, [0], fibers=FIBERS * [[np.nan], [1]], velocity=1), ["fibers is not finite", "1 of 2"]),
        (lambda: isochron.solve(GRID, [0], fibers=np.full((5, 6, 3), np.nan), velocity=1), ["fibers is not finite", "30 of 30"]),
        (lambda: isochron.solve(MESH, [0], metric=np.tile(1e-50 * np.eye(3), (2, 1, 1))), ["too large or too small", "2 of 2"]),
        (lambda: isochron.solve(GRID, [0], metric=np.tile(-np.eye(3), (5, 6, 1, 1))), ["metric is not a positive definite", "30 of 30"]),
        (lambda: isochron.trace_path(isochron.solve(MESH, [0]), []), ["to is empty; give"]),
        (lambda: isochron.Grid((2**33, 2)), ["shape is (8589934592, 2)", "at most 4294967295"]),
        (lambda: isochron.solve(GRID, [0], speed=isochron.Image(GRID, {"speed": np.ones((5, 6))})), ["speed is an Image"]),
        (lambda: isochron.solve(GRID, [0], mask=isochron.Image(GRID, {"mask": np.ones((5, 6))})), ["mask is an Image"]),
    ],
)
def test_the_argument_that_is_wrong_is_named(call, words):
    text = message_of(isochron.Error, call)
    assert [word for word in words if word not in text] == []


@pytest.mark.parametrize("order", ["C", "F"])
def test_errors_hold_what_their_messages_name(order):
    grid = isochron.Grid((5, 6), order=order)
    speed, bad = np.ones((5, 6)), np.tile(np.eye(3), (2, 1, 1))
    speed[3, 2] = bad[1] = -1
    for call, subject, index, words in (
        (lambda: isochron.solve(grid, [0], speed=speed), "speed", (3, 2), "(first: voxel (3, 2))"),
        (lambda: isochron.solve(MESH, [0], metric=bad), "metric", 1, "(first: element 1)"),
        (lambda: isochron.Solver(MESH).set_metric(velocity_tensor=bad), "velocity_tensor", 1, "(first: element 1)"),
        (lambda: isochron.solve(grid, [[9.0, 9.75]]), None, (9.0, 9.75), "would be (9, 9.75)"),
        (lambda: isochron.solve(grid, [[4.0, 1.0]], mask=np.eye(5, 6)), None, (4, 1), "is in voxel (4, 1)"),
    ):
        with pytest.raises(isochron.InputError) as caught:
            call()
        for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
            assert words in str(error)
            assert (error.kind, error.subject, error.index, error.file) == ("input", subject, index, None)
    with pytest.raises(isochron.UsageError) as caught:
        isochron.solve(MESH, [0], mask=[1])
    assert (caught.value.kind, caught.value.index) == ("usage", None)


def test_unknown_keywords_of_distances():
    for call in (isochron.distance, lambda phi, **more: isochron.travel_time(phi, 1 + 0 * phi, **more)):
        for name in ("narrow", "metric", "labels"):
            with pytest.raises(TypeError, match=rf"(distance|travel_time)\(\) got an unexpected keyword argument '{name}'"):
                call(PHI, **{name: 0.2})


def test_a_program_that_is_missing_is_named_as_it_was_given(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    surface = (np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    text = message_of(isochron.RuntimeFailure, isochron.tetrahedralize, surface, program="gmsh")
    assert 'use program="netgen"' in text and "tetrahedra" not in text


def extract(**arguments):
    return isochron.extract_surface(VOLUME, grid=BOX, **arguments)


@pytest.mark.parametrize(
    "call, word",
    [
        (lambda: isochron.trace_path(isochron.solve(MESH, [0]), 2, shorten="x"), "shorten is 'x'"),
        (lambda: extract(labels=1, seed=-1), "seed is -1"),
        (lambda: extract(labels=1, most_particles=-1), "most_particles is -1"),
        (lambda: extract(labels=1, iterations=-1), "iterations is -1"),
        (lambda: extract(labels=1, iterations=2**40), "iterations is 1099511627776"),
        (lambda: extract(labels="a"), "labels is 'a'"),
        (lambda: extract(labels=1.7), "labels is 1.7"),
        (lambda: extract(labels=[1, 2.5]), "labels is 2.5"),
        (lambda: extract(materials="x"), "materials is 'x'"),
        (lambda: extract(materials=1.5), "materials is 1.5"),
        (lambda: extract(materials=[]), "materials is empty"),
        (lambda: extract(labels=[]), "labels is empty"),
        (lambda: extract(labels=1, size_range=1.0), "size_range is 1.0"),
        (lambda: extract(labels=1, size_range=(2, 1)), "size_range is (2, 1)"),
        (lambda: extract(labels=1, size_range=("a", 1)), "size_range is ('a', 1)"),
        (lambda: extract(labels=1, uniform=0), "uniform is 0"),
        (lambda: isochron.tetrahedralize(MESH, largest=-1), "largest is -1"),
        (lambda: isochron.Sphere(1, 1), "center is 1"),
        (lambda: isochron.solve(MESH, [0], fibers=FIBERS, velocity={0: 1}, regions=["a", "b"]), "regions holds no real numbers"),
        (lambda: isochron.solve(MESH, [0], fibers=FIBERS, velocity={0: 1, np.nan: 2}, regions=[0, 0]), "the key nan"),
        (lambda: isochron.Grid((3, 3), direction="x"), "direction is 'x'"),
        (lambda: isochron.solve(GRID, level_set=np.full((5, 6), "a")), "level_set holds no real numbers"),
        (lambda: isochron.Image((4, 4), {"a": np.ones((4, 4))}), "grid is a tuple"),
        (lambda: isochron.Image(GRID, np.ones((5, 6))), "arrays is a ndarray"),
        (lambda: isochron.generate.cube(2.7), "2.7"),
        (lambda: isochron.generate.phantom((24, 24, 24.5)), "24.5"),
        (lambda: isochron.solve(MESH, [0], tensor_order="x"), "tensor_order 'x'"),
        (lambda: isochron.Solver(MESH).set_speed(None), "speed is None"),
        (lambda: isochron.Solver(MESH).set_metric(), "no metric"),
        (lambda: isochron.solve(GRID, [0], mask=np.full((5, 6), np.nan)), "mask holds nan"),
        (lambda: isochron.solve(GRID, [0], mask=np.where(np.arange(30).reshape(5, 6) == 7, np.nan, 1).astype("f4")), "in row 7"),
        (lambda: isochron.solve(GRID, level_set=np.where(np.arange(30).reshape(5, 6) == 7, np.nan, 1)), "level_set holds NaN"),
    ],
)
def test_every_error_is_one_of_ours(call, word):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert word in message_of((isochron.UsageError, isochron.InputError), call)


def test_labels_of_a_connectome_are_numbers():
    image = isochron.generate.crossing_fibers((12, 12, 6))
    labels = np.zeros(image.grid.shape)
    labels[2, 2, 2], labels[9, 9, 3], labels[0, 0, 0] = 1, 2, np.nan
    text = message_of(isochron.InputError, isochron.Tracts(image).connectome, labels)
    assert "labels holds NaN in 1 voxels" in text


def test_nan_outside_the_mask_does_no_harm():
    level_set = np.add.outer(np.arange(5) - 1.5, np.zeros(6))
    mask = np.ones((5, 6), dtype=bool)
    mask[4] = False
    expected = isochron.solve(GRID, level_set=level_set, mask=mask).times
    level_set[4] = np.nan
    np.testing.assert_array_equal(isochron.solve(GRID, level_set=level_set, mask=mask).times, expected)


def test_missing_directions_are_warned_of():
    """The times are those of the velocity across fibres, here as a speed."""
    points, cells = square(4)
    with pytest.warns(isochron.SolveWarning, match="fibers is zero in 32 of 32 elements") as warned:
        arrival = isochron.solve((points, cells), [0], fibers=np.zeros((32, 3)), velocity=(2, 0.5))
    assert warned[0].filename == __file__
    np.testing.assert_allclose(arrival.times, isochron.solve((points, cells), [0], speed=0.5).times)
    along = np.tile([1.0, 0, 0], (32, 1))
    sheets = np.tile([0.0, 1, 0], (32, 1))
    sheets[:3] = [[0, 0, 0], [2, 0, 0], [-1, 1e-5, 0]]
    with pytest.warns(isochron.SolveWarning, match="sheets is zero or along the fibre in 3 of 32 elements"):
        isochron.solve((points, cells), [0], fibers=along, sheets=sheets, velocity=(2, 1, 0.5))
    fibers = np.zeros((5, 6, 3))
    fibers[:4] = [1, 0, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        isochron.solve((points, cells), [0], fibers=along, sheets=np.roll(along, 1, axis=1), velocity=(2, 1, 0.5))
        isochron.solve(GRID, [0], fibers=fibers, velocity=(2, 1), mask=fibers[..., 0])  # zero where nothing runs


def test_none_is_the_default_of_every_option():
    names = ("method", "backend", "precision", "verify", "threads", "tolerance", "source_init", "ball_rings", "split_obtuse")
    names += ("unordered", "reorder", "weights", "labels", "band_width", "scheme", "order")
    for mesh in (MESH, GRID):
        expected = isochron.solve(mesh, [0])
        arrival = isochron.solve(mesh, [0], **dict.fromkeys(names))
        np.testing.assert_array_equal(arrival.times, expected.times)
        np.testing.assert_array_equal(arrival.source, expected.source)
        assert arrival.upwind is None and arrival.residual is None


def test_upwind_vertices_are_minus_one_where_there_are_none():
    points, cells = square(4)
    points = np.vstack([points, [[9.0, 9, 0]]])
    arrival = isochron.solve((points, cells), [0], weights=True, source_init="plain")
    vertices, weights = arrival.upwind
    assert vertices.dtype == np.int64 and vertices.min() == -1 and vertices.max() < 25
    assert (vertices[0] == -1).all() and (vertices[-1] == -1).all()  # a source, and a vertex that nothing reached
    reached = (vertices >= 0).any(axis=1)
    assert reached.sum() == 24
    assert (np.where(vertices >= 0, weights, 0).sum(axis=1)[reached] > 0.999).all()
    earlier = np.where((vertices >= 0) & (weights > 0), arrival.times[vertices], -np.inf).max(axis=1)
    assert (earlier[reached] < arrival.times[reached]).all()


def test_warnings_point_to_the_caller():
    """However deep the call went: `unordered` makes fast marching note what it handed over."""
    rng = np.random.default_rng(2)
    points, cells = square(8)
    points[:, :2] += rng.uniform(-0.05, 0.05, (len(points), 2))
    options = dict(metric=np.diag([1, 25.0, 1]), method="fmm", unordered="hand-over")
    solver = isochron.Solver((points, cells), **options)
    image = isochron.generate.crossing_fibers((24, 24, 8))
    ends = ([[3, 6, 4]], [[20, 17, 4]])
    calls = [
        lambda: isochron.solve((points, cells), [0], **options),
        lambda: solver.solve([0]),
        lambda: solver.solve_many([[0], [5]]),
        lambda: isochron.solve_many((points, cells), [[0], [5]], **options),
        lambda: isochron.Tracts(image, mask=image["mask"]).connect(*ends, epsilon=1e-6),
        lambda: isochron.connect(image, *ends, mask=image["mask"], epsilon=1e-6),
    ]
    for call in calls:
        with pytest.warns(isochron.SolveWarning) as warned:
            call()
        assert {one.filename for one in warned} == {__file__}


def test_foreign_byte_orders_are_listed_as_they_came():
    converted = isochron.solve((POINTS, CELLS.astype(">i4")), [0]).stats["converted"]
    assert converted == ["cells: >i4 to uint32"]


def test_reprs_of_tracts():
    image = isochron.generate.crossing_fibers((12, 12, 6))
    assert re.fullmatch(r"Tracts\(Grid\(.*\); 864 of 864 voxels usable\)", repr(isochron.Tracts(image)))
