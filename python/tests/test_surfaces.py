import numpy as np
import pytest

import isochron
from meshes import refused


@pytest.fixture(scope="module")
def ball():
    grid = isochron.Grid((24, 24, 24), spacing=0.5, origin=(-6, -6, -6))
    return isochron.Image(grid, {"v": (4 - np.linalg.norm(grid.points(), axis=-1)).astype(np.float32)})


@pytest.fixture(scope="module")
def surface(ball):
    return isochron.extract_surface(ball, 0.0)


def enclosed(surface):
    a, b, c = (surface.points[surface.cells[:, k]] for k in range(3))
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6


def test_surface_lies_on_the_ball_and_faces_out(surface):
    radius = np.linalg.norm(surface.points, axis=1)
    assert np.abs(radius - 4).max() < 0.05
    assert enclosed(surface) == pytest.approx(4 / 3 * np.pi * 64, rel=0.05)
    assert surface.stats["converged"] and surface.point_data["size"].shape == (len(surface.points),)


def test_uniform_edges(ball):
    mesh = isochron.extract_surface(ball, 0.0, uniform=1.0)
    ends = mesh.points[mesh.cells]
    edges = np.linalg.norm(ends - np.roll(ends, 1, axis=1), axis=2)
    assert edges.mean() == pytest.approx(1.0, rel=0.15)


def test_tetrahedra_fill_it(surface):
    try:
        filled = isochron.tetrahedralize(surface)
    except isochron.RuntimeFailure as error:
        pytest.skip(str(error))
    a, b, c, d = (filled.points[filled.cells[:, k]] for k in range(4))
    volumes = np.einsum("ij,ij->i", b - a, np.cross(c - a, d - a)) / 6
    assert (volumes > 0).all() and volumes.sum() == pytest.approx(enclosed(surface), rel=1e-9)
    assert np.array_equal(filled.points[: len(surface.points)], surface.points)
    assert (filled.cell_data["region"] == 1).all()
    arrival = isochron.solve(filled, sources=[[0.0, 0.0, 0.0]])
    assert arrival.times[: len(surface.points)] == pytest.approx(4, rel=0.05)


def test_labels_and_materials():
    phantom = isochron.generate.phantom(24)
    one = isochron.extract_surface(phantom["label"], labels=1, grid=phantom.grid)
    assert len(one.cells) > 100 and one.cell_data == {}
    both = isochron.extract_surface(phantom["label"], materials="all", grid=phantom.grid)
    assert set(np.unique(both.cell_data["inside"])) | set(np.unique(both.cell_data["outside"])) == {0, 1, 2, 3}


def test_what_is_asked_must_make_sense(ball):
    refused(isochron.UsageError, "one of isovalue", isochron.extract_surface, ball)
    with pytest.raises(isochron.UsageError, match="exclude each other"):
        isochron.extract_surface(ball, 0.0, uniform=1.0, size_range=(1, 2))
    refused(isochron.InputError, "-?[0-9]", isochron.extract_surface, ball, 1e6)
    refused(isochron.UsageError, "grid", isochron.extract_surface, ball.data, 0.0)
    refused(isochron.UsageError, "triangles", isochron.tetrahedralize, isochron.generate.cube(3))
    refused(isochron.UsageError, "grid", isochron.extract_surface, ball.data, 0.0, grid=(24, 24, 24))
    refused(isochron.UsageError, "epsilon is 'a'", isochron.extract_surface, ball, 0.0, epsilon="a")
    refused(isochron.UsageError, "iterations is 2.5", isochron.extract_surface, ball, 0.0, iterations=2.5)
    for labels in (ball.data, np.full(ball.grid.shape, 2**40)):
        refused(isochron.InputError, "whole numbers", isochron.extract_surface, labels, labels=1, grid=ball.grid)
