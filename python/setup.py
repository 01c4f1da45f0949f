"""Builds the extension with CMake, from the project that this folder is a part of.

ISOCHRON_BUILD_DIR names a build folder of the project to take the extension from instead of building it anew;
ISOCHRON_CMAKE_ARGS holds more arguments for CMake.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

PROJECT = Path(__file__).resolve().parent.parent
CMAKE_LISTS = PROJECT / "CMakeLists.txt"
TARGET = "isochron_python"


def version():
    if not CMAKE_LISTS.is_file():
        sys.exit(f"{CMAKE_LISTS} is not there (this folder is built inside the project); install from a whole checkout")
    return re.search(r"project\(isochron VERSION ([0-9.]+)", CMAKE_LISTS.read_text()).group(1)


class CMakeBuild(build_ext):
    def build_extension(self, extension):
        given = os.environ.get("ISOCHRON_BUILD_DIR")
        folder = Path(given) if given else Path(self.build_temp).resolve()
        if not given:
            self.configure(folder)
        jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
        subprocess.run(["cmake", "--build", folder, "--target", TARGET, "--parallel", jobs], check=True)
        suffix = Path(self.get_ext_filename(extension.name)).name
        target = Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / "python" / "isochron" / suffix, target)
        helper = folder / "bin" / "isochron-netgen"
        if helper.is_file():
            shutil.copy(helper, target.parent)

    def configure(self, folder):
        command = ["cmake", "-S", PROJECT, "-B", folder, f"-DPython_EXECUTABLE={sys.executable}"]
        command += ["-DCMAKE_BUILD_TYPE=Release", "-DISOCHRON_WITH_PYTHON=ON"]
        command += [f"-DISOCHRON_BUILD_{part}=OFF" for part in ("TESTS", "APPS", "EXAMPLES")]
        command += ["-GNinja"] if shutil.which("ninja") else []
        command += shlex.split(os.environ.get("ISOCHRON_CMAKE_ARGS", ""))
        subprocess.run(command, check=True)


setup(version=version(), ext_modules=[Extension("isochron._core", [])], cmdclass={"build_ext": CMakeBuild})
