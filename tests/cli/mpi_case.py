"""What the tests over MPI ranks share: starting them, looking into what they write, and finding their processes."""

import array
import contextlib
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from cli_case import BINARY, CliCase, words_of
from small_files import write_nrrd

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


class MpiCase(CliCase):
    """Skips itself where there is no MPI."""

    def setUp(self):
        super().setUp()
        if "with MPI" not in self.succeed("--version").stdout:
            self.skipTest("this build has no MPI")
        if shutil.which("mpirun") is None:
            self.skipTest("there is no mpirun")

    environment = ENVIRONMENT
    starter = ()  # a command that starts each rank

    def command(self, ranks, *arguments, backend="--backend mpi"):
        return ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), *self.starter, BINARY,
                *words_of([*arguments, backend])]

    @contextlib.contextmanager
    def full_disk(self):
        """Files of ranks cannot grow past some kB. MPI is told to do without files of its own."""
        self.starter = ("sh", "-c", 'ulimit -f 4; exec "$@"', "sh")
        self.environment = {**ENVIRONMENT, "OMPI_MCA_btl": "tcp,self", "PMIX_MCA_gds": "hash"}
        try:
            yield
        finally:
            del self.starter, self.environment

    def over_ranks(self, ranks, *arguments, **options):
        return subprocess.run(self.command(ranks, *arguments, **options), cwd=self.folder, text=True,
                              capture_output=True, timeout=240, stdin=subprocess.DEVNULL, env=self.environment)

    def start_ranks(self, ranks, *arguments):
        return subprocess.Popen(self.command(ranks, *arguments), cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=ENVIRONMENT)

    def succeed_over_ranks(self, ranks, *arguments):
        done = self.over_ranks(ranks, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def summary(self, ranks, *arguments):
        """What a solve that converges says of itself."""
        done = self.succeed_over_ranks(ranks, *arguments, "--json --verify --force")
        summary = json.loads(done.stdout)  # only one rank speaks, or this fails
        self.assertTrue(summary["converged"])
        return summary

    def fail_over_ranks(self, code, *arguments, words=(), ranks=3):
        """One line of ours on stderr (mpirun adds its own), the exit code, and no file."""
        before = self.files()
        done = self.over_ranks(ranks, *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        ours = [line for line in done.stderr.splitlines() if "isochron: error: " in line]
        self.assertEqual(len(ours), 1, done.stderr)
        self.assert_has_all(ours[0], *([words] if isinstance(words, str) else words))
        self.assertEqual(done.stdout, "")
        self.assertEqual(self.files(), before)

    def rank_processes(self, launcher):
        """The ranks' process ids by rank, once all are there."""
        found = {}
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                environment = (entry / "environ").read_bytes().split(b"\0")
            except (OSError, IndexError, ValueError):
                continue
            ranks = [e for e in environment if e.startswith(b"OMPI_COMM_WORLD_RANK=")]
            if parent == launcher and ranks:
                found[int(ranks[0].split(b"=")[1])] = int(entry.name)
        return found

    # ---- files

    def image(self, name, shape, value, **more):
        """A NRRD file, spaced unevenly, of what `value` gives for each index."""
        i, j, k = shape
        values = [value(x, y, z) for z in range(k) for y in range(j) for x in range(i)]
        write_nrrd(self.folder / name, shape, values, spacing=(1.0, 1.5, 0.8), **more)

    def speeds(self, name="speed.nrrd", shape=(14, 12, 10)):
        self.image(name, shape, lambda i, j, k: 1 + 0.1 * ((3 * i + 5 * j + 7 * k) % 11))

    def turning_tensors(self, shape):
        """The inverse of a metric, xx xy xz yy yz zz: three times as fast along a direction that turns from slice to
        slice."""
        values = []
        for k in range(shape[2]):
            x, y = math.cos(0.3 * k), math.sin(0.3 * k)
            values += [1 + 8 * x * x, 8 * x * y, 0.0, 1 + 8 * y * y, 0.0, 1.0] * (shape[0] * shape[1])
        return values

    def assert_close(self, found, expected, tolerance):
        """Times are the same, infinite ones too."""
        self.assertEqual(len(found), len(expected))
        self.assertLess(max((abs(a - b) for a, b in zip(found, expected) if a != b), default=0), tolerance)

    def vtk_arrays(self, name):
        """The point arrays of a VTU or VTP file as Isochron writes them, by name; a list of numbers each."""
        head, data = self.read_bytes(name).split(b'<AppendedData encoding="raw">', 1)
        data = data[data.index(b"_") + 1:]
        points = head[head.index(b"<PointData"):head.index(b"</PointData>")].decode()
        codes = {"Float32": "f", "Float64": "d", "Int32": "i", "Int64": "q", "UInt8": "B"}
        arrays = {}
        for tag in re.findall("<DataArray [^>]*>", points):
            field = dict(re.findall(r'(\w+)="([^"]*)"', tag))
            offset = int(field["offset"])
            size = int.from_bytes(data[offset:offset + 8], "little")
            values = array.array(codes[field["type"]])
            values.frombytes(data[offset + 8:offset + 8 + size])
            arrays[field["Name"]] = list(values)
        return arrays

    def set_arrays(self, name):
        """The point arrays of one component of a set of pieces, in the order of the whole mesh; copies must agree."""
        whole = {}
        for piece in re.findall('<Piece Source="([^"]*)"', self.read_text(name)):
            arrays = self.vtk_arrays(piece)
            if not arrays:
                continue  # a rank without vertices
            ids = arrays.pop("GlobalPointIds")
            arrays.pop("vtkGhostType")
            for array_name, values in arrays.items():
                if len(values) != len(ids):
                    continue
                for i, value in zip(ids, values):
                    self.assertEqual(whole.setdefault(array_name, {}).setdefault(i, value), value, array_name)
        return {key: [values[i] for i in range(len(values))] for key, values in whole.items()}

    # ---- what goes wrong

    def try_bad_pieces(self, solve, ranks, first, other, array, words):
        """Solves with a piece that is missing, cut off, another one, and without an array."""
        piece, content = self.folder / first, (self.folder / first).read_bytes()
        name = pathlib.Path(first).name
        for count in ranks:
            with self.subTest(ranks=count):
                piece.unlink()
                self.fail_over_ranks(3, solve, ranks=count, words=(name, "is missing"))
                for part in (0, len(content) // 4, len(content) * 9 // 10):
                    piece.write_bytes(content[:part])
                    self.fail_over_ranks(3, solve, ranks=count,
                                         words=f"error: {solve.split()[1]}: piece 1 of 3 ({first}): ")
                piece.write_bytes((self.folder / other).read_bytes())
                self.fail_over_ranks(3, solve, ranks=count, words=words)
                piece.write_bytes(content.replace(f'Name="{array}"'.encode(), f'Name="{array[::-1]}"'.encode()))
                self.fail_over_ranks(3, solve, ranks=count, words=(name, array))
                piece.write_bytes(content)

    def kill_while_writing(self, solve, suffix):
        """Ends one of two ranks when the folder of the set b appears: then there is all of it, or nothing."""
        for rank, how in ((1, signal.SIGKILL), (1, signal.SIGINT), (0, signal.SIGTERM)):
            with self.subTest(rank=rank, signal=how):
                for name in ("b.p" + suffix, "b"):
                    path = self.folder / name
                    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
                self.end_rank_while_writing(solve, suffix, rank, how)

    def end_rank_while_writing(self, solve, suffix, rank, how):
        with self.start_ranks(2, solve) as launcher:
            ranks, end = {}, time.monotonic() + 120
            while not (self.folder / "b").exists() and launcher.poll() is None and time.monotonic() < end:
                ranks = ranks if len(ranks) == 2 else self.rank_processes(launcher.pid)
            self.assertEqual(len(ranks), 2)
            os.kill(ranks[rank], how)  # its piece is being written, or just was
            _, err = launcher.communicate(timeout=60)
        left = [pathlib.Path(name).name for name in self.files() if name.startswith("b")]
        if "b.p" + suffix in left:  # it came too late: then all is there
            self.assertCountEqual(left, ["b", "b_0000." + suffix, "b_0001." + suffix, "b.p" + suffix])
            self.succeed("info", "b.p" + suffix)
        else:
            self.assertEqual([name for name in left if name != "b"], [], err)
            self.assertNotEqual(launcher.returncode, 0)
