"""Each script of the gallery makes its figure."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "python"
SCRIPTS = sorted(path.name for path in FOLDER.glob("*.py") if path.name != "figure.py")


def test_the_gallery_is_whole():
    assert SCRIPTS == [
        "brain_pathway.py", "cardiac_activation.py", "geodesics.py", "tomography.py", "travel_times.py",
        "volume_to_arrival.py",
    ]


@pytest.mark.parametrize("script", SCRIPTS)
def test_figure(script, tmp_path):
    pytest.importorskip("matplotlib")
    if script == "volume_to_arrival.py":
        import isochron

        phantom = isochron.generate.phantom(16)
        try:
            isochron.tetrahedralize(isochron.extract_surface(phantom["density"], 50.0, grid=phantom.grid))
        except isochron.RuntimeFailure as error:
            pytest.skip(str(error))
    figure = tmp_path / "figure.png"
    run = subprocess.run(
        [sys.executable, FOLDER / script, "--quick", "-o", figure], capture_output=True, text=True, timeout=200
    )
    assert run.returncode == 0, run.stderr
    data = figure.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) > 10_000
