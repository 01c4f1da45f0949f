"""Meshes of others: meshio's, PyVista's and trimesh's, known by how they look."""

from types import SimpleNamespace

import numpy as np
import pytest

import isochron
from meshes import cube, refused, square


def like_meshio(points, **blocks):
    return SimpleNamespace(points=points, cells_dict=blocks, cells=list(blocks.items()))


def test_meshio():
    points, cells = cube(3)
    expected = isochron.solve((points, cells), [0]).times
    arrival = isochron.solve(like_meshio(points, triangle=cells[:, :3], tetra=cells.astype(np.int64)), [0])
    np.testing.assert_array_equal(arrival.times, expected)
    points, cells = square(3)
    arrival = isochron.solve(like_meshio(points, line=np.array([[0, 1]]), triangle=cells), [0])
    np.testing.assert_array_equal(arrival.times, isochron.solve((points, cells), [0]).times)
    lines = like_meshio(points, line=np.array([[0, 1]]))
    refused(isochron.InputError, "no triangles or tetrahedra", isochron.solve, lines, [0])


@pytest.mark.parametrize(
    "make, others",
    [
        (cube, lambda points, cells: SimpleNamespace(points=points, cells_dict={10: cells})),  # PyVista's
        (square, lambda points, cells: SimpleNamespace(vertices=points, faces=cells)),  # trimesh's
        (square, lambda points, cells: SimpleNamespace(vertices=points.tolist(), triangles=cells.tolist())),  # Open3D's
    ],
)
def test_meshes_of_others(make, others):
    mesh = make(3)
    np.testing.assert_array_equal(isochron.solve(others(*mesh), [0]).times, isochron.solve(mesh, [0]).times)


def test_our_own_mesh():
    points, cells = square(3)
    mesh = isochron.Mesh(points, cells, point_data={"a": points[:, 0]})
    assert mesh.kind == "triangle" and mesh.points is points and repr(mesh) == "Mesh(16 points, 18 triangles)"
    np.testing.assert_array_equal(isochron.solve(mesh, [0]).times, isochron.solve((points, cells), [0]).times)


def test_blocks_that_are_left_out_are_told():
    points, cells = square(3)
    mesh = like_meshio(points, triangle=cells, triangle6=np.array([[0, 1, 5, 4, 2, 3]] * 2), line=np.array([[0, 1]]))
    with pytest.warns(isochron.SolveWarning) as warned:
        arrival = isochron.solve(mesh, [0])
    assert ["2 cells of kind triangle6 left out" in str(one.message) for one in warned] == [True]
    np.testing.assert_array_equal(arrival.times, isochron.solve((points, cells), [0]).times)


def test_other_cells_are_cut_as_those_of_files():
    points = np.array([[x, y, z] for z in (0.0, 1.0) for y in (0.0, 1.0) for x in (0.0, 1.0, 2.0)])
    hexahedra = np.array([[0, 1, 4, 3, 6, 7, 10, 9], [1, 2, 5, 4, 7, 8, 11, 10]])
    quads = hexahedra[:, :4]
    assert isochron.solve(like_meshio(points, hexahedron=hexahedra), [0]).mesh.cells.shape == (12, 4)
    arrival = isochron.solve(like_meshio(points, quad=quads[:1], triangle=np.array([[1, 2, 5], [1, 5, 4]])), [0])
    assert arrival.mesh.cells.shape == (4, 3) and arrival.reached[:6].all()
    assert isochron.solve(SimpleNamespace(points=points, cells_dict={9: quads}), [0]).mesh.cells.shape == (4, 3)
    outside = like_meshio(points, quad=np.array([[0, 1, 4, 99]]))
    refused(isochron.InputError, "99", isochron.solve, outside, [0])
