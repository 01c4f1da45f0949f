"""The code in docs/guide/python-migration.md runs: ours always, that of other packages where they are installed."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import isochron
from meshes import refused

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "python-migration.md"
BLOCKS = re.findall(r"<!-- (isochron|package: \w+) -->\n```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)


def test_every_package_has_its_section():
    names = [kind.removeprefix("package: ") for kind, _ in BLOCKS]
    assert names == ["fimpy", "isochron", "skfmm", "isochron", "pykonal", "isochron", "potpourri3d", "isochron"]


@pytest.mark.parametrize("index", range(len(BLOCKS)))
def test_block_runs(index, tmp_path):
    kind, code = BLOCKS[index]
    package = kind.removeprefix("package: ")
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path, timeout=100)


def test_scikit_fmm_agrees():
    skfmm = pytest.importorskip("skfmm")
    rng = np.random.default_rng(4)
    x = np.linspace(-1, 1, 31)
    X, Y, Z = np.meshgrid(x, x[:25], x[:21], indexing="ij")
    dx = float(x[1] - x[0])
    phi = np.sqrt(X**2 + 1.5 * Y**2 + 0.7 * Z**2) - 0.6
    speed = 1 + 0.3 * np.sin(3 * X) * np.cos(2 * Y)
    for order in (1, 2):
        assert np.abs(isochron.distance(phi, dx, order) - skfmm.distance(phi, dx, order=order)).max() < 0.6 * dx
        theirs = skfmm.travel_time(phi, speed, dx, order=order)
        assert np.abs(isochron.travel_time(phi, speed, dx, order) - theirs).max() < 0.6 * dx / speed.min()
    blocked = np.ma.MaskedArray(phi, rng.random(phi.shape) < 0.02)
    ours, theirs = isochron.distance(blocked, dx, 1), skfmm.distance(blocked, dx, order=1)
    reached = ~np.ma.getmaskarray(theirs)
    assert np.abs(ours - theirs.data)[reached].max() < dx
    assert np.isinf(ours[blocked.mask]).all()


def test_distance_is_closer_than_scikit_fmm():
    skfmm = pytest.importorskip("skfmm")
    x = np.linspace(-1, 1, 41)
    radius = np.linalg.norm(np.stack(np.meshgrid(x, x, x, indexing="ij")), axis=0)
    dx = float(x[1] - x[0])
    away = radius > 0.1

    def error(values):
        return np.abs(values - (radius - 0.5))[away].mean()

    assert error(isochron.distance(radius - 0.5, dx)) < error(skfmm.distance(radius - 0.5, dx))
    assert error(isochron.distance(radius - 0.5, dx, order=1)) < error(skfmm.distance(radius - 0.5, dx, order=1))


def test_wrong_arguments_are_named():
    refused(isochron.InputError, "phi has no zero contour", isochron.distance, np.ones((4, 4)))
    refused(isochron.InputError, "phi has 1 dimensions", isochron.distance, np.linspace(-1, 1, 5))
    with pytest.raises(isochron.InputError, match="speed has the wrong shape"):
        isochron.travel_time(np.add.outer(np.arange(-2.0, 3), np.zeros(4)), np.ones((4, 4)))
    refused(isochron.InputError, "phi holds NaN", isochron.distance, np.full((4, 4), np.nan))
    refused(isochron.InputError, "phi holds no real numbers", isochron.distance, "abc")
    for speed in (np.nan, -1.0, np.inf):
        with pytest.raises(isochron.InputError, match="speed holds"):
            isochron.travel_time(np.add.outer(np.arange(-2.0, 3), np.zeros(4)), np.full((5, 4), speed))
