import numpy as np
import pytest
from meshes import cube, refused, square

import isochron


@pytest.mark.parametrize("name", ["a.vtu", "a.vtk", "a.msh", "a.ply", "a.stl", "a.obj", "a.off"])
def test_meshes_come_back(tmp_path, name):
    points, cells = square(5)
    isochron.write(tmp_path / name, (points, cells))
    back = isochron.read(tmp_path / name)
    assert back.kind == "triangle" and len(back.cells) == len(cells)
    assert np.allclose(np.sort(back.points[back.cells].sum(axis=(1, 2))), np.sort(points[cells].sum(axis=(1, 2))), atol=1e-5)


def test_arrays_come_back(tmp_path):
    points, cells = cube(3)
    mesh = isochron.Mesh(points, cells, {"a": np.arange(len(points), dtype=np.float32)}, {"fiber": np.ones((len(cells), 3))})
    isochron.write(tmp_path / "a.vtu", mesh)
    back = isochron.read(tmp_path / "a.vtu")
    assert np.array_equal(back.points, points) and np.array_equal(back.cells, cells)
    assert back.point_data["a"].dtype == np.float32 and np.array_equal(back.point_data["a"], mesh.point_data["a"])
    assert back.cell_data["fiber"].shape == (len(cells), 3)
    assert isochron.solve(back, [0]).stats["converted"] == []


def test_existing_files_are_kept(tmp_path):
    isochron.write(tmp_path / "a.ply", square(2))
    refused(isochron.InputError, "exists", isochron.write, tmp_path / "a.ply", square(3))
    isochron.write(tmp_path / "a.ply", square(3), force=True)
    assert len(isochron.read(tmp_path / "a.ply").cells) == 18


def test_wrong_arrays_and_ids_leave_no_file(tmp_path):
    points, cells = square(2)
    with pytest.raises(isochron.InputError, match="'a' has 3 rows"):
        isochron.write(tmp_path / "a.vtu", isochron.Mesh(points, cells, {"a": np.zeros(3)}))
    with pytest.raises(isochron.InputError, match="cells holds an id out of range"):
        isochron.write(tmp_path / "a.vtu", (points, np.array([[0, 1, 99]])))
    refused(isochron.UsageError, "extension|format", isochron.write, tmp_path / "a.unknown", (points, cells))
    assert list(tmp_path.iterdir()) == []


def test_missing_file():
    refused(isochron.InputError, "nothing.vtu", isochron.read, "nothing.vtu")


@pytest.mark.parametrize("name", ["a.nii.gz", "a.nrrd", "a.vti", "a.npy"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_images_come_back(tmp_path, name, order):
    shape = (5, 4, 3)
    values = np.asarray(np.arange(60, dtype=np.float32).reshape(shape), order=order)
    grid = isochron.Grid(shape, (1.0, 2.0, 3.0), (7, 8, 9), order=order)
    isochron.write(tmp_path / name, isochron.Image(grid, {"v": values}))
    back = isochron.read(tmp_path / name)
    assert back.grid.shape == shape and np.array_equal(back.data, values)
    if name != "a.npy":
        assert np.allclose(back.grid.position((1, 1, 1)), grid.position((1, 1, 1)))


def test_turned_images_keep_their_place(tmp_path):
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    grid = isochron.Grid((4, 5, 6), (1, 2, 3), (1, 2, 3), turn)
    isochron.write(tmp_path / "a.nrrd", isochron.Image(grid, {"v": np.zeros((4, 5, 6))}))
    back = isochron.read(tmp_path / "a.nrrd").grid
    assert np.allclose(back.position((3, 1, 2)), grid.position((3, 1, 2)), atol=1e-6)


def test_arrivals_are_written_with_their_arrays(tmp_path):
    arrival = isochron.solve(square(4), sources=[0])
    isochron.write(tmp_path / "a.vtu", arrival)
    assert np.array_equal(isochron.read(tmp_path / "a.vtu").point_data["arrival_time"], arrival.times)
    on_grid = isochron.solve(isochron.Grid((6, 5, 4)), sources=[0])
    isochron.write(tmp_path / "b.nii", on_grid)
    assert np.allclose(isochron.read(tmp_path / "b.nii").data, on_grid.times, atol=1e-6)
    isochron.write(tmp_path / "b.vti", on_grid)
    assert set(isochron.read(tmp_path / "b.vti").arrays) == {"arrival_time", "source"}


def test_what_a_format_leaves_out_is_told_to_the_caller(tmp_path):
    path = isochron.trace_path(isochron.solve(isochron.Grid((9, 9)), [0]), 80)
    with pytest.warns(isochron.SolveWarning, match="left out arrival_time") as caught:
        isochron.write(tmp_path / "a.tck", path)
    assert caught[0].filename == __file__


def test_paths_come_back_as_lines(tmp_path):
    arrival = isochron.solve(square(10), sources=[0])
    paths = isochron.trace_path(arrival, np.array([60, 100]))
    for name in ("a.vtp", "a.tck"):
        isochron.write(tmp_path / name, paths)
        back = isochron.read(tmp_path / name)
        assert [len(path) for path in back] == [len(path) for path in paths]
        assert back[1].length == pytest.approx(paths[1].length, rel=1e-5)


def test_generators_make_what_they_say():
    generate = isochron.generate
    for mesh in (generate.irregular_square(9), generate.irregular_cube(5), generate.lens(9), generate.blobs(9)):
        assert isochron.solve(mesh, [0]).reached.all()
    ventricle = generate.ventricle(elements=2000)
    assert ventricle.cell_data["fiber"].shape == (len(ventricle.cells), 3)
    assert np.allclose(np.linalg.norm(ventricle.cell_data["fiber"], axis=1), 1, atol=1e-5)
    assert generate.helix_tensors(16).data.shape == (16, 16, 16, 6)
    assert generate.layers((31, 11)).grid.shape == (31, 11)
    assert generate.salt((31, 11)).data.max() == 4500
    speed = generate.random_speed(generate.square(9), 0.5, 2)
    assert len(speed) == 128 and 0.5 <= speed.min() < speed.max() <= 2
    refused(isochron.UsageError, "jitter", generate.square, 9, jitter=3)


def test_paths_that_were_not_found_are_left_out(tmp_path):
    mask = np.ones((9, 9), dtype=bool)
    mask[:, 5] = False
    arrival = isochron.solve(isochron.Grid((9, 9)), [[0, 0]], mask=mask)
    paths = isochron.trace_path(arrival, [[8, 8], [3, 4], [4, 3]])
    assert paths[0] is None
    isochron.write(tmp_path / "paths.vtp", paths)
    again = isochron.read(tmp_path / "paths.vtp")
    assert [len(path) for path in again] == [len(path) for path in paths[1:]]
    refused(isochron.UsageError, "no path", isochron.write, tmp_path / "none.vtp", [None, None])


@pytest.mark.parametrize(
    "name, text",
    [
        ("a.off", "OFF\n5 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n2 0 0\n3 1 4 2\n4 0 1 1 0\n"),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nf 2 5 3\nf 1 2 2 1\n"),
    ],
)
def test_cells_that_are_left_out_are_told(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.warns(isochron.SolveWarning, match="1 cell of kind quad that has no area or crosses itself left out") as warned:
        mesh = isochron.read(tmp_path / name)
    assert warned[0].filename == __file__
    assert mesh.cells.tolist() == [[1, 4, 2]]


def test_numpy_images_take_a_place(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((3, 4, 5)))
    image = isochron.read(tmp_path / "a.npy", spacing=0.5, origin=(1, 2, 3))
    assert np.allclose(image.grid.spacing, 0.5) and np.allclose(image.grid.origin, (1, 2, 3))
    assert np.allclose(isochron.read(tmp_path / "a.npy").grid.spacing, 1)
    refused(isochron.UsageError, "spacing", isochron.read, tmp_path / "a.npy", spacing=(1, 2))
    isochron.write(tmp_path / "a.nii", image)
    refused(isochron.UsageError, "spacing and origin are for .npy", isochron.read, tmp_path / "a.nii", spacing=2)
    isochron.write(tmp_path / "a.ply", isochron.generate.square(n=3))
    refused(isochron.UsageError, "are for images", isochron.read, tmp_path / "a.ply", origin=(0, 0, 0))


def test_quads_and_hexahedra_are_cut(tmp_path):
    (tmp_path / "a.off").write_text("OFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n")
    assert isochron.read(tmp_path / "a.off").cells.tolist() == [[0, 1, 2], [0, 2, 3]]
