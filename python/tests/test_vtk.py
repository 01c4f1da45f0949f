"""Meshes and images of VTK, where its Python module is there."""

import numpy as np
import pytest

import isochron
from meshes import cube, square

vtk = pytest.importorskip("vtkmodules.vtkCommonDataModel", reason="VTK's Python module is not there")


def vtk_mesh(points, cells, kind):
    from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
    from vtkmodules.vtkCommonCore import vtkPoints

    places = vtkPoints()
    places.SetData(numpy_to_vtk(points, deep=True))
    lines = np.column_stack([np.full(len(cells), cells.shape[1]), cells]).astype(np.int64)
    array = vtk.vtkCellArray()
    array.ImportLegacyFormat(numpy_to_vtkIdTypeArray(lines.ravel(), deep=True))
    mesh = vtk.vtkPolyData() if kind is None else vtk.vtkUnstructuredGrid()
    mesh.SetPoints(places)
    if kind is None:
        mesh.SetPolys(array)
    else:
        mesh.SetCells(kind, array)
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
    np.testing.assert_array_equal(isochron.solve(mixed, [0]).times, isochron.solve((points, cells), [0]).times)
    with pytest.raises(isochron.InputError, match="triangulate"):
        isochron.solve(vtk_mesh(points, np.array([[0, 1, 5, 4]]), 9), [0])
    with pytest.raises(isochron.InputError, match="no points"):
        isochron.solve(vtk.vtkPolyData(), [0])
    with pytest.raises(isochron.InputError, match="rectilinear"):
        isochron.solve(vtk.vtkRectilinearGrid(), [0])
    with pytest.raises(isochron.InputError, match="vtkMultiBlockDataSet"):
        isochron.solve(vtk.vtkMultiBlockDataSet(), [0])
