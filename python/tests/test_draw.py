"""Pictures of results."""

import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

import isochron
from meshes import cube, refused, square


def pixels_of(png):
    """(height, width, 3) of a PNG as we write them."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    place, data = 8, b""
    while place < len(png):
        size, kind = struct.unpack(">I4s", png[place : place + 8])
        chunk = png[place + 8 : place + 8 + size]
        assert struct.unpack(">I", png[place + 8 + size : place + 12 + size])[0] == zlib.crc32(kind + chunk)
        if kind == b"IHDR":
            width, height = struct.unpack(">II", chunk[:8])
        data += chunk if kind == b"IDAT" else b""
        place += 12 + size
    rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + 3 * width)
    return rows[:, 1:].reshape(height, width, 3)


@pytest.mark.parametrize("mesh", [square(6), cube(4), isochron.Grid((6, 12)), isochron.Grid((6, 8, 4)), cube(30)])
def test_pictures_get_lighter_with_time(mesh):
    arrival = isochron.solve(mesh, [0])
    pixels = pixels_of(arrival._repr_png_()).astype(int)
    assert 8 <= min(pixels.shape[:2]) and max(pixels.shape[:2]) <= 248
    drawn = pixels[(pixels != 255).any(axis=-1)]
    assert len(drawn) > 0.4 * pixels.shape[0] * pixels.shape[1]
    assert drawn.sum(axis=1).max() > 450 and drawn.sum(axis=1).min() < 200  # yellow and dark blue
    if isinstance(mesh, isochron.Grid):
        assert pixels[-1, 0].sum() < pixels[0, -1].sum()  # the source is at the lower left


def test_unreached_places_are_grey():
    mask = np.ones((8, 8), dtype=bool)
    mask[4:] = False
    pixels = pixels_of(isochron.solve(isochron.Grid((8, 8)), [0], mask=mask)._repr_png_())
    assert (pixels[100, 200] == 200).all()


def test_plots(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    points, cells = square(6)
    bent = points + np.outer(points[:, 0] ** 2, [0, 0, 1])
    for mesh in ((points, cells), (points[:, :2], cells), (bent, cells), isochron.Grid((5, 6)), isochron.Grid((5, 6, 7))):
        axes = isochron.solve(mesh, [0]).plot(label="ms")
        axes.figure.savefig(tmp_path / "plot.png")
        assert "ms" in [other.get_ylabel() for other in axes.figure.axes]
        matplotlib.pyplot.close(axes.figure)
    axes = matplotlib.pyplot.figure().add_subplot()
    assert isochron.solve((points, cells), [0]).plot(axes, levels=3) is axes
    refused(isochron.UsageError, "tetrahedra", isochron.solve(cube(2), [0]).plot)


def test_matplotlib_is_asked_for_only_when_needed():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import isochron\n"
        "arrival = isochron.solve(isochron.Grid((4, 4)), [0])\n"
        "arrival._repr_png_()\n"
        "try: arrival.plot()\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "matplotlib" in done.stdout and "install" in done.stdout


def test_repr_tells_the_main_things():
    text = repr(isochron.solve(square(4), [0], verify=True))
    assert text.startswith("Arrival(25 of 25 reached, last at 1.41421; banded, serial, double precision, residual ")


@pytest.mark.parametrize("spacing", [(1, -1), (-1, 1), (-2, -1)])
def test_pictures_of_grids_that_run_backwards(spacing):
    """The voxel of index (0, 0) is where its position is."""
    grid = isochron.Grid((20, 10), spacing=spacing)
    pixels = pixels_of(isochron.solve(grid, [[0, 0]])._repr_png_()).astype(int).sum(axis=-1)
    width, height = 20 * abs(spacing[0]), 10 * abs(spacing[1])
    assert pixels.shape == (240 * height // width, 240)
    row, column = (-1 if spacing[1] > 0 else 0), (0 if spacing[0] > 0 else -1)
    assert pixels[row, column] == 48 + 18 + 92  # the colour of time 0
    assert pixels[-1 - row, -1 - column] == 250 + 230 + 60


def test_pictures_of_turned_grids():
    """A long grid along the diagonal fills its middle; a slice that stands upright is seen from its front."""
    turned = isochron.Grid((40, 10), direction=[[0.8, -0.6], [0.6, 0.8]])
    pixels = pixels_of(isochron.solve(turned, [[0, 0]])._repr_png_()).astype(int)
    size = np.array([0.8 * 40 + 0.6 * 10, 0.6 * 40 + 0.8 * 10])
    assert pixels.shape[:2] == (round(240 * size[1] / size[0]), 240)
    white = (pixels == 255).all(axis=-1)
    assert white[0, 0] and white[-1, -1] and abs(white.mean() - (1 - 400 / size.prod())) < 0.01
    upright = isochron.Grid((8, 4, 3), direction=[[1, 0, 0], [0, 0, 1], [0, 1, 0]])
    assert pixels_of(isochron.solve(upright, [0])._repr_png_()).shape == (120, 240, 3)
