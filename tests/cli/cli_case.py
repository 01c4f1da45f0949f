"""What the tests of the command line share: running it, and small meshes written by hand."""

import csv
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

import small_files
from small_files import square_mesh  # noqa: F401  the tests take it from here

BINARY = os.environ["ISOCHRON_BINARY"]
NOBODY = 65534

# Looking for leaks takes seconds at the end of every process; the other tests do that.
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"


def words_of(arguments):
    """The words of a command line: texts are split at spaces; what is in a list is taken as it is."""
    words = []
    for argument in arguments:
        words += argument if isinstance(argument, list) else str(argument).split()
    return [str(word) for word in words]


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
        return subprocess.run([BINARY, *words_of(arguments)], cwd=self.folder, text=True, encoding="utf-8",
                              capture_output=True, timeout=240, stdin=subprocess.DEVNULL, **options)

    def succeed(self, *arguments, **options):
        """Runs a command that must end with 0."""
        done = self.run_isochron(*arguments, **options)
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr}")
        return done

    def succeed_json(self, *arguments, **options):
        """The JSON object that the command prints."""
        return json.loads(self.succeed(*arguments, "--json", **options).stdout)

    def info(self, *arguments):
        """What `isochron info` says of the first file."""
        return self.succeed_json("info", *arguments)["files"][0]

    def arrays(self, *arguments):
        """The arrays that `isochron info` finds in a file, by name."""
        return {array["name"]: array for array in self.info(*arguments)["arrays"]}

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

    def interrupt(self, number, when, *arguments, left=None):
        """Sends a command a signal after `when` seconds, or once `when(process)` returns; it leaves no new file."""
        left = self.files() if left is None else left
        with subprocess.Popen([BINARY, *words_of(arguments)], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            when(process) if callable(when) else time.sleep(when)
            process.send_signal(number)
            out, err = process.communicate(timeout=100)
        self.assertEqual((process.returncode, out, err), (130, "", "isochron: error: interrupted\n"))
        self.assertEqual(self.files(), left)

    def files(self):
        """All files in the test's folder, temporary ones too."""
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*"))

    # ---- what is expected

    def assert_failed(self, done, code, words=()):
        """Checks exit code and the one line of an error."""
        self.assertEqual(done.returncode, code, done.stderr)
        errors = [line for line in done.stderr.splitlines() if not line.startswith("isochron: warning: ")]
        self.assertEqual(len(errors), 1, done.stderr)
        self.assertTrue(errors[0].startswith("isochron: error: "), errors[0])
        self.assert_has_all(errors[0], *([words] if isinstance(words, str) else words))

    def assert_fields(self, found, /, **expected):
        """Fields of an object have these values."""
        self.assertEqual({key: found[key] for key in expected}, expected)

    def assert_has_all(self, where, *things):
        for thing in things:
            self.assertIn(thing, where)

    def assert_has_none(self, where, *things):
        for thing in things:
            self.assertNotIn(thing, where)

    def assert_said(self, words, lines):
        """One of several lines has the words."""
        self.assertTrue(any(words in line for line in lines), lines)

    # ---- where it runs

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

    def has_gpu(self):
        """Whether this build and this machine have one; otherwise why not."""
        self.write_msh("probe.msh", TET_POINTS, tets=TET)
        probe = self.run_isochron("solve probe.msh -o probed.msh --source 0 --backend cuda")
        return probe.returncode == 0, probe.stderr.strip()

    def need_gpu(self):
        """Skips the test where this build or this machine has no GPU."""
        there, why = self.has_gpu()
        if not there:
            self.skipTest(why)

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

    def write(self, name, content):
        """A file of text or bytes in the test's folder; gives its name."""
        (self.folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    def read_text(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def read_bytes(self, name):
        return (self.folder / name).read_bytes()

    def rows(self, name):
        """The rows of a CSV file, a dictionary each."""
        with open(self.folder / name, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def table(self, name):
        """The rows of a CSV file without its first, a list each."""
        return [line.split(",") for line in self.read_text(name).splitlines()[1:]]

    def write_msh(self, name, points, triangles=(), tets=(), point_arrays=None, cell_arrays=None):
        """A Gmsh 2.2 file. Arrays: name -> list of tuples; those of cells count triangles first, then tetrahedra."""
        small_files.write_msh(self.folder / name, points, [*triangles, *tets], point_arrays, cell_arrays)
        return name

    def write_foreign_set(self, name, pieces, point_arrays=(), cell_arrays=()):
        """A set as other programs write it, as text and without ids. A piece is its points, its cells and its arrays
        by name; those of points and cells are named apart."""
        sources = []
        for number, (points, cells, arrays) in enumerate(pieces):
            numbers = lambda values: " ".join(str(x) for value in values for x in value)
            ends = [sum(len(cell) for cell in cells[:i + 1]) for i in range(len(cells))]
            tags = {key: f'<DataArray type="Float64" Name="{key}" format="ascii">{" ".join(map(str, values))}</DataArray>'
                    for key, values in arrays.items()}
            sources.append(f"{name}_{number}.vtu")
            self.write(sources[-1], f"""<?xml version="1.0"?>
<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian"><UnstructuredGrid>
<Piece NumberOfPoints="{len(points)}" NumberOfCells="{len(cells)}">
<PointData>{"".join(tags[key] for key in point_arrays)}</PointData>
<CellData>{"".join(tags[key] for key in cell_arrays)}</CellData>
<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">{numbers(points)}</DataArray></Points>
<Cells><DataArray type="Int64" Name="connectivity" format="ascii">{numbers(cells)}</DataArray>
<DataArray type="Int64" Name="offsets" format="ascii">{" ".join(map(str, ends))}</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">{" ".join({3: "5", 4: "10", 2: "3"}[len(c)] for c in cells)}</DataArray>
</Cells></Piece></UnstructuredGrid></VTKFile>""")
        announced = lambda names: "".join(f'<PDataArray type="Float64" Name="{key}"/>' for key in names)
        return self.write(name, f"""<?xml version="1.0"?>
<VTKFile type="PUnstructuredGrid" version="0.1"><PUnstructuredGrid GhostLevel="0">
<PPointData>{announced(point_arrays)}</PPointData><PCellData>{announced(cell_arrays)}</PCellData>
<PPoints><PDataArray type="Float64" NumberOfComponents="3"/></PPoints>
{"".join(f'<Piece Source="{source}"/>' for source in sources)}</PUnstructuredGrid></VTKFile>""")


# One tetrahedron.
TET_POINTS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
TET = [(0, 1, 2, 3)]
