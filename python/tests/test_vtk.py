"""Meshes and images of VTK, where its Python module is there."""

import numpy as np
import pytest

import isochron
from meshes import cube, refused, square

vtk = pytest.importorskip("vtkmodules.vtkCommonDataModel", reason="VTK's Python module is not there")


def set_points(mesh, points):
    from vtkmodules.util.numpy_support import numpy_to_vtk
    from vtkmodules.vtkCommonCore import vtkPoints

    places = vtkPoints()
    places.SetData(numpy_to_vtk(points, deep=True))
    mesh.SetPoints(places)
    return mesh


def cell_array(cells):
    array = vtk.vtkCellArray()
    for ids in cells:
        array.InsertNextCell(len(ids))
        for i in ids:
            array.InsertCellPoint(i)
    return array


def vtk_mesh(points, cells, kind):
    if kind is None:
        return polydata(points, cells)
    mesh = set_points(vtk.vtkUnstructuredGrid(), points)
    mesh.SetCells(kind, cell_array(cells))
    return mesh


def polydata(points, polygons=(), strips=()):
    mesh = set_points(vtk.vtkPolyData(), points)
    mesh.SetPolys(cell_array(polygons))
    mesh.SetStrips(cell_array(strips))
    return mesh


@pytest.mark.parametrize("make, kind", [(square, None), (square, 5), (cube, 10)])
def test_vtk(make, kind):
    points, cells = make(3)
    arrival = isochron.solve(vtk_mesh(points, cells, kind), [0])
    np.testing.assert_array_equal(arrival.times, isochron.solve((points, cells), [0]).times)


def test_vtk_image():
    image = vtk.vtkImageData()
    image.SetDimensions(5, 4, 3)
    image.SetSpacing(1, 2, 3)
    image.SetOrigin(7, 8, 9)
    arrival = isochron.solve(image, [[7.0, 8.0, 9.0]])
    assert arrival.times.shape == (5, 4, 3)
    np.testing.assert_allclose(arrival.times[[4, 0, 0], [0, 3, 0], [0, 0, 2]], [4, 6, 6], rtol=1e-6)
    # VTK counts the first index fastest.
    assert isochron.solve(image, [1]).times[1, 0, 0] == 0


def test_vtk_meshes_of_other_cells():
    points, cells = square(3)
    mixed = vtk_mesh(points, cells, 5)
    mixed.InsertNextCell(9, 4, [0, 1, 5, 4])  # a quad among triangles
    arrival = isochron.solve(mixed, [0])
    assert len(arrival.mesh.cells) == len(cells) + 2
    np.testing.assert_allclose(arrival.times, isochron.solve((points, cells), [0]).times, rtol=1e-12)
    assert isochron.solve(vtk_mesh(points, np.array([[0, 1, 5, 4]]), 9), [0]).mesh.cells.shape == (2, 3)
    refused(isochron.InputError, "triangulate", isochron.solve, vtk_mesh(points, np.array([[0, 1]]), 3), [0])
    refused(isochron.InputError, "no points", isochron.solve, vtk.vtkPolyData(), [0])
    refused(isochron.InputError, "rectilinear", isochron.solve, vtk.vtkRectilinearGrid(), [0])
    refused(isochron.InputError, "vtkMultiBlockDataSet", isochron.solve, vtk.vtkMultiBlockDataSet(), [0])


def flat_image(angle, origin=(0, 0, 0)):
    """In the plane that is turned about x by so many degrees."""
    image = vtk.vtkImageData()
    image.SetDimensions(11, 11, 1)
    image.SetOrigin(*origin)
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    image.SetDirectionMatrix(1, 0, 0, 0, c, -s, 0, s, c)
    return image


@pytest.mark.parametrize("angle", [30, 45, 90])
def test_flat_vtk_images_tilted_in_space(angle):
    arrival = isochron.solve(flat_image(angle), [0])
    assert arrival.times.shape == (11, 11, 1)
    np.testing.assert_allclose(arrival.times[[10, 0], [0, 10], 0], [10, 10], rtol=1e-6)
    turned = np.radians(angle)
    np.testing.assert_allclose(arrival.mesh.position((0, 10, 0)), [0, 10 * np.cos(turned), 10 * np.sin(turned)], atol=1e-12)


def test_flat_vtk_images_keep_their_height():
    arrival = isochron.solve(flat_image(0, (1, 2, 5)), [[1.0, 2.0, 5.0]])
    assert arrival.times.shape == (11, 11, 1)
    np.testing.assert_allclose(arrival.times[[10, 0], [0, 10], 0], [10, 10], rtol=1e-6)
    assert isochron.solve(flat_image(0, (1, 2, 0)), [0]).times.shape == (11, 11)


def test_polygons_are_cut():
    points = np.array([[x, y, 0.0] for x in range(4) for y in range(2)])
    polygons = [[0, 2, 1], [1, 2, 3], [2, 4, 5, 3], [4, 6, 5], [5, 6, 7], [0, 2, 4, 5, 1]]
    arrival = isochron.solve(polydata(points, polygons), [0])
    assert arrival.mesh.cells.shape == (4 + 2 + 3, 3)
    assert arrival.reached.all()


def test_polygons_that_are_left_out_are_told():
    points = np.array([[x, y, 0.0] for x in range(4) for y in range(2)])
    with pytest.warns(isochron.SolveWarning, match="1 cell of kind quad that has no area") as warned:
        isochron.solve(polydata(points, [[0, 2, 1], [0, 2, 4, 6]]), [0])
    assert all(one.filename == __file__ for one in warned)


def test_strips_are_triangles():
    """Of two strips side by side, with their sides as a mesh of triangles has them."""
    points = np.array([[x, y, 0.0] for x in range(4) for y in range(2)])
    cells = [[0, 2, 1], [1, 2, 3], [2, 4, 3], [3, 4, 5], [4, 6, 5], [5, 6, 7]]
    strips = polydata(points, strips=[[0, 2, 1, 3], [2, 4, 3, 5, 4 + 2 + 1]])
    arrival = isochron.solve(strips, [0])
    np.testing.assert_array_equal(arrival.mesh.cells, [[0, 2, 1], [2, 3, 1], [2, 4, 3], [4, 5, 3], [3, 5, 7]])
    both = isochron.solve(polydata(points, cells[4:], [[0, 2, 1, 3, 5][:4], [2, 4, 3, 5]]), [0])
    np.testing.assert_allclose(both.times, isochron.solve((points, np.array(cells)), [0]).times, rtol=1e-12)
