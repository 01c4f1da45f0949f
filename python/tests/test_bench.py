"""The script that measures the module runs; what it measures is not looked at here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLAIN_CALL = Path(os.environ.get("ISOCHRON_BUILD_DIR", ROOT / "build" / "release")) / "bin" / "isochron-plain-call"


@pytest.mark.skipif(not PLAIN_CALL.is_file(), reason="isochron-plain-call was not built")
def test_it_runs_on_small_cases():
    command = [sys.executable, ROOT / "scripts" / "bench_python.py", "3", "12"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    for part in ("162 tetrahedra", "wall, all cores", "CPU, one thread", "borrowed", "2 triangles", "import", "scikit-fmm"):
        assert part in done.stdout


@pytest.mark.skipif(not PLAIN_CALL.is_file(), reason="isochron-plain-call was not built")
def test_the_other_program_tells_what_is_wrong(tmp_path):
    for arguments, code in ((["5", "a", "b", "1"], 2), (["3", tmp_path / "a", tmp_path / "b", "1"], 1)):
        done = subprocess.run([PLAIN_CALL, *arguments], capture_output=True, text=True, timeout=60)
        assert done.returncode == code and len(done.stderr.splitlines()) == 1
