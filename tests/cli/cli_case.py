"""What the tests of the command line share: running it, and small meshes written by hand."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BINARY = os.environ["ISOCHRON_BINARY"]
NOBODY = 65534

# Looking for leaks takes seconds at the end of every process; the other tests do that.
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"


class CliCase(unittest.TestCase):
    """Runs the command in a folder of its own, which is removed afterwards."""

    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="isochron-cli-"))
        self.folder.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    # ---- running

    def run_isochron(self, *arguments, **options):
        """The finished process, with stdout and stderr as text."""
        return subprocess.run([BINARY, *map(str, arguments)], cwd=self.folder, text=True, encoding="utf-8",
                              capture_output=True, timeout=240, stdin=subprocess.DEVNULL, **options)

    def succeed(self, *arguments):
        """Runs a command that must end with 0."""
        done = self.run_isochron(*arguments)
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr}")
        return done

    def succeed_json(self, *arguments):
        """The JSON object that the command prints."""
        return json.loads(self.succeed(*arguments, "--json").stdout)

    def expect(self, code, *arguments, words=(), **options):
        """Runs a command that must end with `code`, one line on stderr that has all the words, and no new file.

        With ISOCHRON_SHOW_ERRORS set the messages are printed, for people who want to read them all.
        """
        before = self.files()
        done = self.run_isochron(*arguments, **options)
        if os.environ.get("ISOCHRON_SHOW_ERRORS"):
            print(" ".join(map(str, arguments)), "\n   ", done.stderr.strip())
        self.assert_failed(done, code, words)
        self.assertEqual(self.files(), before, f"{arguments} left a file behind")
        return done

    def assert_failed(self, done, code, words=()):
        """Checks exit code and the one line of an error."""
        self.assertEqual(done.returncode, code, done.stderr)
        errors = [line for line in done.stderr.splitlines() if not line.startswith("isochron: warning: ")]
        self.assertEqual(len(errors), 1, done.stderr)
        self.assertTrue(errors[0].startswith("isochron: error: "), errors[0])
        for word in words:
            self.assertIn(word, errors[0])

    def files(self):
        """All files in the test's folder, temporary ones too."""
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*"))

    def without_privileges(self):
        """Options for `run_isochron` under which permissions count, even for root."""
        if os.geteuid() != 0:
            return {}
        options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        try:
            subprocess.run([BINARY, "--version"], check=True, capture_output=True, **options)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("root ignores permissions, and nobody else can run the binary where it lies")
        return options

    def has_vtk(self):
        """Whether the binary was built with VTK."""
        return "with VTK" in self.succeed("--version").stdout

    def data_file(self, name):
        """A file of the folder that ISOCHRON_DATA names, else of ../shared/data beside the sources; skips without."""
        named = os.environ.get("ISOCHRON_DATA")
        folder = pathlib.Path(named) if named else pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"
        if named:
            self.assertTrue(folder.is_dir(), f"ISOCHRON_DATA is not a folder: {named}")
        if not (folder / name).is_file():
            self.skipTest(f"there is no {name} (no ISOCHRON_DATA and no ../shared/data)")
        return folder / name

    # ---- files

    def write(self, name, text):
        """A text file in the test's folder; gives its name."""
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def write_msh(self, name, points, triangles=(), tets=(), point_arrays=None, cell_arrays=None):
        """A Gmsh 2.2 file. Arrays: name -> list of tuples; those of cells count triangles first, then tetrahedra."""
        lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", str(len(points))]
        lines += [f"{i + 1} {x} {y} {z}" for i, (x, y, z) in enumerate(points)]
        lines += ["$EndNodes", "$Elements", str(len(triangles) + len(tets))]
        for i, cell in enumerate([*triangles, *tets]):
            lines.append(f"{i + 1} {2 if len(cell) == 3 else 4} 2 1 1 " + " ".join(str(v + 1) for v in cell))
        lines.append("$EndElements")
        for section, arrays in (("NodeData", point_arrays or {}), ("ElementData", cell_arrays or {})):
            for array, values in arrays.items():
                lines += [f"${section}", "1", f'"{array}"', "1", "0", "3", "0", str(len(values[0])), str(len(values))]
                lines += [" ".join(map(str, [i + 1, *value])) for i, value in enumerate(values)]
                lines.append(f"$End{section}")
        return self.write(name, "\n".join(lines) + "\n")


def square_mesh(n):
    """Points and triangles of the unit square with n × n vertices, x fastest."""
    points = [(i / (n - 1), j / (n - 1), 0.0) for j in range(n) for i in range(n)]
    triangles = []
    for j in range(n - 1):
        for i in range(n - 1):
            a = j * n + i
            triangles += [(a, a + 1, a + n + 1), (a, a + n + 1, a + n)]
    return points, triangles


# One tetrahedron.
TET_POINTS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
TET = [(0, 1, 2, 3)]
