"""Arrays of every type and layout give the same times; those that fit are not copied; others are listed."""

import gc
import sys
import warnings

import numpy as np
import pytest

import isochron
from isochron import _core
from meshes import cube, message_of, refused, square

POINTS, CELLS = cube(3)
TIMES = isochron.solve((POINTS, CELLS), [0]).times


def strided(array):
    """The same values, with other values between them in memory."""
    wide = np.zeros(tuple(2 * n for n in array.shape), dtype=array.dtype)
    wide[tuple(slice(None, None, 2) for _ in array.shape)] = array
    return wide[tuple(slice(None, None, 2) for _ in array.shape)]


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def unaligned(array):
    memory = np.zeros(array.nbytes + 1, dtype=np.uint8)
    view = memory[1:].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


LAYOUTS = {
    "as it is": lambda a: a,
    "Fortran": np.asfortranarray,
    "strided": strided,
    "reversed twice": lambda a: np.ascontiguousarray(a[::-1])[::-1],
    "read-only": read_only,
    "unaligned": unaligned,
    "big-endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "list": lambda a: a.tolist(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("point_type", [np.float32, np.float64, np.longdouble])
@pytest.mark.parametrize("cell_type", [np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_all_types_and_layouts_give_the_same_times(layout, point_type, cell_type):
    change = LAYOUTS[layout]
    # The third of a cube's edge is not a float32: thrice it is near enough.
    points = change((3 * POINTS).round().astype(point_type))
    arrival = isochron.solve((points, change(CELLS.astype(cell_type))), [0], speed=3.0)
    np.testing.assert_allclose(arrival.times, TIMES, rtol=1e-12)


@pytest.mark.parametrize("cell_type", [np.int32, np.uint32])
@pytest.mark.parametrize("change", [lambda a: a, read_only])
def test_what_fits_is_borrowed(cell_type, change):
    """The library's handles hold the arrays themselves."""
    points, cells = change(POINTS), change(CELLS.astype(cell_type))
    speed = change(np.ones(len(cells)))
    fibers = change(np.tile(np.float32([1, 0, 0]), (len(cells), 1)))
    metric = change(np.tile(np.float32([1, 0, 0, 1, 0, 1]), (len(cells), 1)).copy())
    given = [points, cells, speed, fibers, metric]
    before = [sys.getrefcount(array) for array in given]
    shape = _core.mesh_shape(points, cells)
    problems = [
        _core.problem_with_speed(shape, speed),
        _core.problem_with_fibers(shape, fibers, None, np.ones((1, 3)), None),
        _core.problem_with_tensors(shape, metric, "row", False),
    ]
    assert shape.converted == [] and all(problem.converted == [] for problem in problems)
    held = [sys.getrefcount(array) for array in given]
    assert held == [count + 1 for count in before]
    del shape, problems
    assert [sys.getrefcount(array) for array in given] == before


def test_what_does_not_fit_is_let_go():
    points, cells = POINTS.astype(np.float32), CELLS.astype(np.int64)
    before = sys.getrefcount(points), sys.getrefcount(cells)
    shape = _core.mesh_shape(points, cells)
    assert (sys.getrefcount(points), sys.getrefcount(cells)) == before
    assert len(shape.converted) == 2


@pytest.mark.parametrize(
    "points, cells, expected",
    [
        (POINTS.astype(np.float32), CELLS, ["points: float32 to float64"]),
        (POINTS, CELLS.astype(np.int64), ["cells: int64 to uint32"]),
        (np.asfortranarray(POINTS), CELLS, ["points: float64 not in C order to float64"]),
    ],
)
def test_what_was_converted_is_listed(points, cells, expected):
    assert isochron.solve((points, cells), [0]).stats["converted"] == expected


def test_grid_arrays_in_their_order_are_not_converted():
    speed = np.random.default_rng(1).uniform(1, 2, (7, 6, 5))
    for order in "CF":
        grid = isochron.Grid(speed.shape, order=order)
        fits = np.asarray(speed, order=order)
        assert isochron.solve(grid, [0], speed=fits).stats["converted"] == []
        other = np.asarray(speed, order="F" if order == "C" else "C")
        arrival = isochron.solve(grid, [0], speed=other)
        assert arrival.stats["converted"] == ["speed: to the order of the grid's voxels"]
        np.testing.assert_array_equal(arrival.times, isochron.solve(grid, [0], speed=fits).times)


def test_times_are_the_memory_of_the_solve():
    arrival = isochron.solve((POINTS, CELLS), [0])
    assert not arrival.times.flags.owndata and arrival.times.flags.writeable
    times = arrival.times
    del arrival
    gc.collect()
    np.testing.assert_array_equal(times, TIMES)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"mesh": (POINTS[:, :1], CELLS)}, ["points", "(64, 1)", "(N, 3)"]),
        ({"mesh": (POINTS, CELLS[:, :2])}, ["cells", "(162, 2)", "(M, 3)", "(M, 4)"]),
        ({"mesh": (POINTS, CELLS.ravel())}, ["cells", "(648,)"]),
        ({"mesh": (POINTS, CELLS.astype(float))}, ["cells", "integer", "float64"]),
        ({"mesh": (POINTS, CELLS + 1)}, ["cells", "out of range", "63"]),
        ({"mesh": (POINTS, CELLS - 1)}, ["cells", "out of range", "-1"]),
        ({"mesh": (POINTS.astype(str), CELLS)}, ["points", "numbers"]),
        ({"mesh": (POINTS.astype(complex), CELLS)}, ["points", "numbers"]),
        ({"mesh": 3}, ["mesh", "int"]),
        ({"sources": [[0, 1, 2]]}, ["sources", "(1, 3)", "(K,)"]),
        ({"sources": [[0.0, 1.0]]}, ["sources", "(1, 2)", "(K, 3)"]),
        ({"sources": [64]}, ["source", "64", "63"]),
        ({"sources": [-1]}, ["sources", "-1"]),
        ({"sources": []}, ["sources", "empty"]),
        ({"sources": None}, ["sources"]),
        ({"sources": np.zeros(64, dtype=bool)}, ["sources", "false everywhere"]),
        ({"sources": np.ones(63, dtype=bool)}, ["sources", "(63,)", "(64,)"]),
        ({"sources": ["a"]}, ["sources"]),
        ({"times": [0.0, 1.0]}, ["times", "(2,)", "(1,)"]),
        ({"times": np.nan}, ["onset", "nan"]),
        ({"speed": np.ones(5)}, ["speed", "(5,)", "(162,)"]),
        ({"speed": -1.0}, ["speed", "-1"]),
        ({"speed": np.zeros(162)}, ["no element conducts"]),
        ({"speed": -np.ones(162)}, ["positive"]),
        ({"metric": np.ones((5, 6))}, ["metric", "(5, 6)", "(162, 6)", "(162, 3, 3)"]),
        ({"metric": np.ones((162, 5))}, ["metric", "(162, 5)"]),
        ({"metric": -np.eye(3)}, ["positive definite"]),
        ({"velocity_tensor": np.zeros((162, 3, 3))}, ["positive definite"]),
        ({"fibers": np.ones((162, 2)), "velocity": 1}, ["fibers", "(162, 2)", "(162, 3)"]),
        ({"fibers": np.ones((162, 3))}, ["fibers", "velocity"]),
        ({"fibers": np.ones((162, 3)), "velocity": [1, 1, 1, 1]}, ["velocity", "(4,)"]),
        ({"velocity": 1.0}, ["velocity", "fibers"]),
        ({"speed": 1.0, "metric": np.eye(3)}, ["speed", "metric"]),
        ({"level_set": np.ones(5)}, ["level"]),
        ({"mask": np.ones(5)}, ["mask", "grids"]),
        ({"method": "quick"}, ["method", "quick", "banded"]),
        ({"backend": "gpu"}, ["backend", "gpu", "cuda"]),
        ({"precision": "half"}, ["precision", "half", "single"]),
        ({"tolerance": 2.0}, ["tolerance", "2"]),
        ({"threads": -1}, ["threads", "-1"]),
        ({"order": 2}, ["order", "grids"]),
        ({"mesh": (np.where(np.arange(192).reshape(64, 3) == 16, np.nan, POINTS), CELLS)}, ["not finite", "point 5"]),
        ({"mesh": (np.ma.masked_less(POINTS, 0.1), CELLS)}, ["points", "masked"]),
        ({"mesh": (POINTS, [[0, 1, 2], [1, 2]])}, ["cells", "rows of one length"]),
        ({"mesh": (POINTS, [])}, ["cells", "(0,)"]),
        ({"mesh": (POINTS, CELLS[:0])}, ["no tetrahedra"]),
        ({"mesh": (POINTS[:0], CELLS[:0])}, ["no points"]),
        ({"sources": [2**63]}, ["sources", "out of range"]),
        ({"sources": {0, 1}}, ["sources", "object"]),
        ({"times": "now"}, ["times", "numbers"]),
        ({"times": np.inf}, ["onset", "inf"]),
        ({"speed": "fast"}, ["speed", "numbers"]),
        ({"speed": 1j}, ["speed", "complex"]),
        ({"speed": np.where(np.arange(162) == 7, -1.0, 1.0)}, ["speed is", "1 of 162", "element 7"]),
        ({"speed": np.where(np.arange(162) == 7, np.nan, 1.0)}, ["speed is", "1 of 162", "element 7"]),
        ({"metric": np.tile(-np.eye(3), (162, 1, 1))}, ["metric is", "positive definite", "element 0"]),
        ({"metric": np.eye(3) * 1j}, ["metric", "complex"]),
        ({"metric": np.ones((162, 6)), "tensor_order": 3}, ["tensor_order", "3", "mrtrix"]),
        ({"velocity_tensor": np.tile(-np.eye(3), (162, 1, 1))}, ["velocity_tensor is", "positive definite"]),
        ({"fibers": np.full((162, 3), np.nan), "velocity": 1}, ["fibers", "162 of 162"]),
        ({"fibers": np.ones((162, 3)), "velocity": "fast"}, ["velocity", "numbers"]),
        ({"fibers": np.ones((162, 3)), "velocity": (1, -1)}, ["-1", "positive"]),
        ({"fibers": np.ones((162, 3)), "velocity": {}, "regions": np.zeros(162)}, ["velocity", "no rows"]),
        ({"fibers": np.ones((162, 3)), "velocity": {0: 1, "a": 2}, "regions": np.zeros(162)}, ["velocity", "'a'"]),
        ({"threads": "4"}, ["threads", "'4'"]),
        ({"verify": "yes"}, ["verify", "'yes'"]),
        ({"method": 3}, ["method", "3"]),
        ({"precision": object()}, ["precision", "np.float32"]),
        ({"ball_rings": -1}, ["ball_rings", "-1"]),
        ({"band_width": np.nan}, ["band_width", "nan"]),
        ({"progress": 3}, ["progress", "3", "function"]),
        ({"method": "fim", "source_init": "factored"}, ["leave method out"]),
        ({"mesh": isochron.generate.irregular_cube(4), "method": "fmm"}, ['method="banded"', 'unordered="hand-over"']),
    ],
)
def test_wrong_arguments_are_named(arguments, words):
    with pytest.raises(ValueError) as error:
        isochron.solve(**{"mesh": (POINTS, CELLS), "sources": [0], **arguments})
    text = str(error.value)
    assert isinstance(error.value, isochron.Error) and "\n" not in text
    assert [word for word in words if word not in text] == []


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"speed": np.ones((3, 4, 5))}, ["speed", "(3, 4, 5)", "(4, 4, 5)"]),
        ({"metric": np.ones((4, 4, 5, 7))}, ["metric", "(4, 4, 5, 7)", "(4, 4, 5, 6)"]),
        ({"mask": np.ones((4, 4))}, ["mask", "(4, 4)", "(4, 4, 5)"]),
        ({"mask": np.zeros((4, 4, 5))}, ["mask"]),
        ({"sources": [[0, 0, 5]]}, ["sources", "outside", "(4, 4, 5)"]),
        ({"sources": [[0.0, 0.0, 50.0]]}, ["outside"]),
        ({"level_set": np.ones(80)}, ["level_set", "sources"]),
        ({"level_set": np.ones(80), "sources": None}, ["level_set", "sign"]),
        ({"level_set": np.ones(81), "sources": None}, ["level_set", "(81,)", "(4, 4, 5)"]),
        ({"level_set": np.ones(80), "sources": None, "metric": np.eye(3)}, ["level_set", "metric"]),
        ({"scheme": "upwind"}, ["upwind", "godunov"]),
        ({"speed": np.where(np.arange(80).reshape(4, 4, 5) == 37, -1.0, 1.0)}, ["speed is", "1 of 80", "voxel (1, 3, 2)"]),
        ({"mask": np.arange(80).reshape(4, 4, 5) != 37, "sources": [37]}, ["voxel (1, 3, 2)", "outside the mask"]),
        ({"sources": [[-1, 0, 0]]}, ["sources", "outside"]),
    ],
)
def test_wrong_arguments_on_grids_are_named(arguments, words):
    text = message_of(ValueError, isochron.solve, **{"mesh": isochron.Grid((4, 4, 5)), "sources": [0], **arguments})
    assert [word for word in words if word not in text] == []


@pytest.mark.parametrize(
    "arguments, word",
    [
        ({"shape": (4,)}, "shape"),
        ({"shape": (4, 0)}, "shape"),
        ({"shape": (4, 4), "spacing": (1, 2, 3)}, "spacing"),
        ({"shape": (4, 4), "origin": np.nan}, "origin"),
        ({"shape": (4, 4), "direction": np.eye(3)}, "direction"),
        ({"shape": (4, 4), "order": "K"}, "order"),
        ({"shape": (4.5, 4)}, "shape"),
        ({"shape": "ab"}, "shape"),
        ({"shape": (2**40, 4)}, "shape"),
        ({"shape": (4, 4), "spacing": 0}, "spacing"),
        ({"shape": (4, 4), "spacing": "a"}, "spacing"),
        ({"shape": (4, 4), "direction": np.ones((2, 2))}, "direction"),
        ({"shape": (4, 4), "direction": np.full((2, 2), np.nan)}, "direction"),
    ],
)
def test_wrong_grids_are_named(arguments, word):
    refused(isochron.InputError, word, isochron.Grid, **arguments)


def test_flat_meshes_may_have_two_coordinates():
    points, cells = square(5)
    flat = isochron.solve((points[:, :2], cells), [[0.5, 0.5]])
    np.testing.assert_array_equal(flat.times, isochron.solve((points, cells), [[0.5, 0.5, 0.0]]).times)
    assert flat.stats["converted"] == ["points: from two coordinates to three"]


@pytest.mark.parametrize("number", [bool, np.uint8, np.int64, float, np.float32])
def test_a_mask_is_set_where_it_is_not_zero(number):
    """Also by values that a byte cannot hold."""
    grid = isochron.Grid((5, 4))
    mask = np.ones(grid.shape) * (1 if number in (bool, np.uint8) else 256 if number is np.int64 else 0.25)
    mask[2] = 0
    arrival = isochron.solve(grid, [0], mask=mask.astype(number))
    assert np.isfinite(arrival.times[:2]).all() and np.isinf(arrival.times[2:]).all()


def test_targets_of_a_matrix_are_in_the_mesh():
    for targets in ([64], [-1], [0, 10**12]):
        with pytest.raises(isochron.InputError, match="targets holds an id out of range"):
            isochron.distance_matrix((POINTS, CELLS), [0], targets)


def test_unknown_keywords_are_those_of_the_function_called():
    for call in (isochron.solve, isochron.solve_many, isochron.distance_matrix):
        with pytest.raises(TypeError, match=rf"{call.__name__}\(\) got an unexpected keyword argument 'colour'"):
            call((POINTS, CELLS), [0], colour=1)


UNUSABLE = [
    ((POINTS, CELLS), {"speed": np.full(len(CELLS), 1e-200)}),
    ((POINTS, CELLS), {"speed": np.full(len(CELLS), 1e200)}),
    ((POINTS, CELLS), {"speed": np.full(len(POINTS), 1e200)}),
    ((1e160 * POINTS, CELLS), {}),
    ((1e-160 * POINTS, CELLS), {}),
    ((1e20 * POINTS, CELLS), {"speed": 1e-150}),
    ((1e-20 * POINTS, CELLS), {"speed": np.full(len(CELLS), 1e150)}),
    (isochron.Grid((5, 6), spacing=1e-160), {}),
    (isochron.Grid((5, 6, 4), spacing=1e160), {}),
    (isochron.Grid((5, 6)), {"speed": np.full((5, 6), 1e200)}),
    (isochron.Grid((5, 6)), {"speed": np.full((5, 6), 1e-200)}),
    (isochron.Grid((5, 6), spacing=1e20), {"speed": 1e-150}),
    (isochron.Grid((5, 6), spacing=1e-20), {"speed": np.full((5, 6), 1e150)}),
]


@pytest.mark.parametrize("mesh, options", UNUSABLE)
def test_what_cannot_be_computed_with_is_told(mesh, options):
    words = "too large or too small|not positive definite and finite"
    refused(isochron.InputError, words, isochron.solve, mesh, [0], **options)


@pytest.mark.parametrize("argument", ["metric", "velocity_tensor"])
def test_tensors_that_are_not_symmetric_are_told(argument):
    """As the command does; rounding is no harm."""
    full = np.array([np.eye(3)] * len(CELLS))
    full[:, 0, 1] = 1e-5
    isochron.solve((POINTS, CELLS), [0], **{argument: full})
    full[1:, 0, 1] = 0.5
    words = f"{argument} is not symmetric on {len(CELLS) - 1} of {len(CELLS)} cells .first: cell 1.; choose another"
    refused(isochron.InputError, words, isochron.solve, (POINTS, CELLS), [0], **{argument: full})
    refused(isochron.InputError, "is not symmetric on 1 of 1", isochron.solve, (POINTS, CELLS), [0],
            **{argument: full[1]})
    grid = np.broadcast_to(full[1], (5, 6, 3, 3)).copy()
    refused(isochron.InputError, "is not symmetric on 30 of 30", isochron.solve, isochron.Grid((5, 6)), [0],
            **{argument: grid})


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_large_and_small_numbers_that_can_be_computed_with(scale):
    """Lengths and speeds in other units."""
    expected = isochron.solve((POINTS, CELLS), [0]).times
    np.testing.assert_allclose(isochron.solve((scale * POINTS, CELLS), [0]).times / scale, expected, rtol=1e-12)
    times = isochron.solve((POINTS, CELLS), [0], speed=np.full(len(CELLS), scale)).times
    np.testing.assert_allclose(times * scale, expected, rtol=1e-12)
    grid = isochron.solve(isochron.Grid((5, 6)), [0]).times
    np.testing.assert_allclose(isochron.solve(isochron.Grid((5, 6), spacing=scale), [0]).times / scale, grid, rtol=1e-12)


@pytest.mark.parametrize("ids", [[-1], [2**32], [len(POINTS)], isochron.Sources(vertices=[-1])])
def test_ids_out_of_range_are_told_with_the_range(ids):
    with pytest.raises(isochron.InputError, match=f"sources holds an id out of range.* up to {len(POINTS) - 1}[)]"):
        isochron.solve((POINTS, CELLS), ids)
    with pytest.raises(isochron.InputError, match="cells holds an id out of range.*there is nothing that has an id"):
        isochron.solve((np.zeros((0, 3)), CELLS), [0])


@pytest.mark.parametrize("order, shape", [("C", (10, 12)), ("F", (10, 12)), ("C", (10, 12, 9))])
def test_positions_outside_are_told_by_the_index_of_arrays(order, shape):
    place = [9.75, 9.0, 3.0][: len(shape)]
    with pytest.raises(isochron.InputError, match=r"would be \(9.75, 9(, 3)?\)\)"):
        isochron.solve(isochron.Grid(shape, order=order), [place])


def test_ids_that_look_like_an_index_are_told():
    grid = isochron.Grid((9, 9, 9))
    with pytest.warns(isochron.IndexWarning, match=r"sources is \[3, 4, 5\].*\[\[3, 4, 5\]\].*np.array\(\[3, 4, 5\]\)") as warned:
        arrival = isochron.solve(grid, (3, 4, 5))
    assert warned[0].filename == __file__
    assert (arrival.times.ravel()[[3, 4, 5]] == 0).all()
    with pytest.warns(isochron.IndexWarning, match="targets"):
        isochron.distance_matrix(grid, [0], [3, 4, 5])
    with pytest.warns(isochron.IndexWarning, match="to is"):
        isochron.trace_path(arrival, [3, 4, 5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isochron.solve(grid, [[3, 4, 5]]).times[3, 4, 5] == 0
        for ids in (np.array([3, 4, 5]), [3, 4], [3, 4, 50], [0.0, 4.0, 5.0]):
            isochron.solve(grid, ids)
        isochron.solve((POINTS, CELLS), [3, 4, 5])


def test_positions_near_a_mesh_count_as_on_it():
    """Up to half an edge off; the times are those of the nearest point."""
    points, cells = square(4)
    edge = np.linalg.norm(points[cells[:, 0]] - points[cells[:, 1]], axis=1).min()
    place = points.mean(axis=0)
    expected = isochron.solve((points, cells), [place]).times
    np.testing.assert_allclose(isochron.solve((points, cells), [place + [0, 0, 0.4 * edge]]).times, expected, rtol=1e-12)
    refused(isochron.InputError, "away from the mesh", isochron.solve, (points, cells), [place + [0, 0, edge]])


def test_distances_that_nothing_reaches_have_the_sign_of_phi():
    phi = np.add.outer(np.arange(-4.5, 5), np.zeros(5))
    closed = np.zeros(phi.shape, bool)
    closed[1] = closed[8] = True
    found = isochron.distance(np.ma.array(phi, mask=closed))
    assert (found[:2] == -np.inf).all() and (found[8:] == np.inf).all()
    np.testing.assert_allclose(found[2:8], phi[2:8], atol=1e-9)
