"""The package as a whole: no module imports itself by way of others, and what is built can be installed into an
environment of its own, from Debian's packages alone, without a network."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import isochron

FOLDER = Path(__file__).resolve().parent.parent
BUILD = os.environ.get("ISOCHRON_BUILD_DIR")


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_version_is_that_of_the_project():
    text = (FOLDER.parent / "CMakeLists.txt").read_text()
    assert f"project(isochron VERSION {isochron.__version__} " in text


def imported_by(path):
    """Modules of the package that a module imports anywhere: inside functions and for type checkers too."""
    nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom) and node.level == 1]
    names = {node.module or alias.name for node in nodes for alias in node.names}
    return {name for name in names if (path.parent / f"{name}.py").exists()}


def test_no_module_imports_itself_by_way_of_others():
    imports = {path.stem: imported_by(path) for path in (FOLDER / "isochron").glob("*.py") if path.stem != "__init__"}
    assert "grid" in imports["arrival"]
    while imports:
        free = [name for name, needed in imports.items() if not needed & imports.keys()]
        assert free, f"modules that import one another: {sorted(imports)}"
        for name in free:
            del imports[name]


@pytest.mark.skipif(BUILD is None, reason="ISOCHRON_BUILD_DIR is not set: there is no build to install")
def test_wheel_installs_and_imports(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["PIP_NO_INDEX"] = "1"
    run(sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", tmp_path / "venv", env=environment)
    python = tmp_path / "venv" / "bin" / "python"
    source = tmp_path / "python"
    # setuptools leaves folders beside the sources, so the package is built from links to them.
    source.mkdir()
    for name in ("pyproject.toml", "setup.py", "isochron"):
        (source / name).symlink_to(FOLDER / name)
    (tmp_path / "CMakeLists.txt").symlink_to(FOLDER.parent / "CMakeLists.txt")
    run(python, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", tmp_path, source, env=environment)
    (wheel,) = tmp_path.glob("isochron-*.whl")
    run(python, "-m", "pip", "install", "--no-deps", wheel, env=environment)
    code = "import isochron; print(isochron.__file__, isochron.solve(isochron.Grid((4, 4)), [0]).times[3, 0])"
    where, time = run(python, "-c", code, env=environment, cwd=tmp_path).split()
    assert where.startswith(str(tmp_path / "venv")) and float(time) == 3.0
