"""isochron invert: speeds, velocities and sources from measured times."""

import json
import math
import signal
import time

from cli_case import CliCase, square_mesh
from small_files import read_npy, write_nifti

KEYS = ("mesh", "written", "vertices", "elements", "element_kind", "cut_cells", "shots", "receivers", "times", "unknowns",
        "iterations", "start_misfit", "misfit", "end", "sources", "velocities", "read_seconds", "invert_seconds",
        "write_seconds", "total_seconds", "notes", "warnings")


class InvertTest(CliCase):
    """Exact times of small squares and cubes are given back."""

    N = 9
    LEFT = [0, 18, 36, 54, 72]  # vertices of the square's sides
    RIGHT = [8, 26, 44, 62, 80]

    def square(self, name="square.msh", fast=1.5):
        """A square with a fast upper half, and its cells by region: 1 below, 2 above."""
        points, triangles = square_mesh(self.N)
        upper = [sum(points[v][1] for v in cell) > 1.5 for cell in triangles]
        return self.write_msh(name, points, triangles, cell_arrays={
            "truth": [(fast if up else 1.0,) for up in upper], "region": [(2 if up else 1,) for up in upper],
            "fiber": [(1, 0, 0)] * len(upper)})

    def exact_times(self, mesh, *options):
        """The time of each vertex."""
        self.succeed("solve", mesh, "-o exact.csv --force --tolerance 1e-9", *options)
        return [float(row["arrival_time"]) for row in self.rows("exact.csv")]

    def write_times(self, mesh, shots, receivers, *options, name="times.csv", init="plain"):
        """Times of shots from vertices at vertices, and the sources of the shots; by default as for unknown speeds."""
        rows = ["shot,vertex,time"]
        for shot in shots:
            times = self.exact_times(mesh, f"--source {shot} --source-init {init}", *options)
            rows += [f"s{shot},{v},{times[v]!r}" for v in receivers if v != shot]
        self.write("shots.csv", "\n".join(["shot,vertex", *(f"s{shot},{shot}" for shot in shots)]) + "\n")
        return self.write(name, "\n".join(rows) + "\n")

    def cross_times(self, **square):
        """From side to side of the square with two speeds."""
        self.square(**square)
        return self.write_times("square.msh", self.LEFT + self.RIGHT, self.LEFT + self.RIGHT, "--speed-array truth")

    # ---- what is found

    def test_speeds_of_a_square(self):
        self.cross_times()
        found = self.succeed_json("invert square.msh --times times.csv --shots shots.csv --unknown speed --speed 1.2",
                                  "-o found.vtk --smoothing 1e-3 --curve curve.csv --times-output fit.csv")
        self.assert_fields(found, shots=10, receivers=10, times=90, unknowns=["speed"], vertices=81, elements=128,
                           element_kind="triangle", sources=None, velocities=None,
                           written=["found.vtk", "fit.csv", "curve.csv"])
        self.assertLess(found["misfit"], 0.05 * found["start_misfit"])
        self.assertNotIn("arrival_time", self.arrays("found.vtk"))
        speed = self.arrays("found.vtk")["speed"]
        self.assertEqual((speed["on"], speed["type"]), ("triangles", "float64"))
        self.assertGreater(speed["max"], 1.4)
        self.assertLess(speed["min"], 1.1)
        curve = self.rows("curve.csv")
        self.assertEqual(list(curve[0]), ["iteration", "misfit", "objective", "step", "products"])
        self.assertEqual(len(curve), found["iterations"] + 1)
        self.assertEqual(float(curve[-1]["misfit"]), found["misfit"])
        fit = self.rows("fit.csv")
        self.assertEqual(list(fit[0]), ["shot", "x", "y", "z", "measured", "computed", "weight"])
        squares = [(float(row["measured"]) - float(row["computed"])) ** 2 for row in fit]
        self.assertAlmostEqual(math.sqrt(sum(squares) / len(squares)), found["misfit"], 9)

    def test_bounds_and_noise(self):
        self.cross_times()
        run = "invert square.msh --times times.csv --shots shots.csv --unknown speed --speed 1.2 --force -o found.vtk"
        self.succeed(run, "--min-velocity 1.1 --max-velocity 1.3 --smoothing 1e-3")
        speed = self.arrays("found.vtk")["speed"]
        self.assertGreaterEqual(speed["min"], 1.1 - 1e-9)
        self.assertLessEqual(speed["max"], 1.3 + 1e-9)
        found = self.succeed_json(run, "--noise 0.02 --smoothing-kind total-variation")
        self.assertEqual(found["end"], "noise-level")
        self.assertLessEqual(found["misfit"], 0.02)

    def test_factors_of_tensors(self):
        self.square()
        metric = "--fibers fiber --velocity 1,0.5"
        self.write_times("square.msh", [0, 80], self.LEFT + self.RIGHT, "--fibers fiber --velocity 1.2,0.6")
        found = self.succeed_json("invert square.msh --times times.csv --shots shots.csv --unknown tensor-scale",
                                  metric, "-o found.vtk")
        self.assertLess(found["misfit"], 1e-3)
        scale = self.arrays("found.vtk")["velocity_scale"]
        self.assertGreater(scale["max"], 1.1)

    def test_velocities_of_regions(self):
        self.square()
        self.write_times("square.msh", self.LEFT, self.RIGHT, "--velocity-table 1:0.8;2:1.6")
        run = "invert square.msh --times times.csv --shots shots.csv --unknown region-velocities"
        found = self.succeed_json(run, "--velocity-table 1:1.2;2:1.2 --velocities-output found.txt")
        self.assertEqual([row["region"] for row in found["velocities"]], [1, 2])
        for row, truth in zip(found["velocities"], (0.8, 1.6)):
            self.assertAlmostEqual(row["velocities"][0], truth, 4)
        times = self.exact_times("square.msh", "--source 0 --velocity-table found.txt")
        self.assertAlmostEqual(times[80], self.exact_times("square.msh", "--source 0 --velocity-table 1:0.8;2:1.6")[80], 4)

    def test_velocities_along_and_across_fibres(self):
        self.square()
        self.write_times("square.msh", self.LEFT + [4, 76], self.RIGHT + [2, 78],
                         "--fibers fiber --velocity-table 1:1,0.5;2:2,0.7")
        run = "invert square.msh --times times.csv --shots shots.csv --unknown region-velocities --fibers fiber"
        found = self.succeed_json(run, "--velocity-table 1:1.5,0.6;2:1.5,0.6")
        for row, truth in zip(found["velocities"], ((1, 0.5), (2, 0.7))):
            self.assertAlmostEqual(row["velocities"][0], truth[0], 3)
            self.assertAlmostEqual(row["velocities"][1], truth[1], 3)
        self.write_times("square.msh", [0, 40], self.RIGHT, "--fibers fiber --velocity 1,0.5")
        found = self.succeed_json(run, "--velocity 1.5,0.6 --velocities-output one.txt")
        self.assertEqual([row["region"] for row in found["velocities"]], [0])
        self.assertEqual(self.read_text("one.txt")[:2], "0:")

    def test_source_of_a_cube(self):
        self.succeed("generate cube --n 6 -o cube.vtu")
        times = self.exact_times("cube.vtu", "--source-point 0.43,0.56,0.37 --source-time 0.25 --speed 2")
        corners = [v for v in range(216) if all(c in (0, 2, 5) for c in (v % 6, v // 6 % 6, v // 36))]
        self.write("times.csv", "vertex,time\n" + "".join(f"{v},{times[v]!r}\n" for v in corners))
        found = self.succeed_json("invert cube.vtu --times times.csv --unknown onsets,source-positions --speed 2",
                                  "--source-point 0.6,0.4,0.5 -o found.vtu --sources-output found.csv")
        source = found["sources"][0]
        self.assertEqual((source["shot"], source["source"]), ("", 0))
        self.assertAlmostEqual(source["onset"], 0.25, 2)
        self.assertLess(math.dist(source["point"], (0.43, 0.56, 0.37)), 0.02)
        self.assertLess(found["misfit"], 1e-3)
        row = self.rows("found.csv")[0]
        self.assertEqual([float(row[k]) for k in ("x", "y", "z", "time")], [*source["point"], source["onset"]])
        self.assertIn("arrival_time", self.arrays("found.vtu"))

    def test_found_sources_are_read_again(self):
        self.square()
        self.write_times("square.msh", [0, 80], [4, 36, 40, 44, 76], init="ball")
        run = "invert square.msh --times times.csv --unknown onsets"
        self.succeed(run, "--shots shots.csv --source-time 0.3 --sources-output found.csv")
        again = self.succeed_json(run, "--shots found.csv")
        self.assertLess(again["start_misfit"], 1e-6)
        self.assertEqual(again["warnings"], [])

    def test_lengths_have_units(self):
        self.square()
        units = "--length-unit cm"
        self.write_times("square.msh", self.LEFT, self.RIGHT, "--speed 3", units)
        found = self.succeed_json("invert square.msh --times times.csv --shots shots.csv --unknown speed --speed 2",
                                  units, "--min-velocity 1 --max-velocity 4 --min-decrease 0.1 -o found.vtk")
        self.assertLess(found["misfit"], 0.1 * found["start_misfit"])
        speed = self.arrays("found.vtk")["speed"]
        self.assertGreater(speed["max"], 2.5)
        self.assertLessEqual(speed["max"], 4 + 1e-9)
        found = self.succeed_json("invert square.msh --times times.csv --shots shots.csv --unknown region-velocities",
                                  units, "--velocity-table 1:2;2:2 --min-velocity 1 --max-velocity 4")
        for row in found["velocities"]:
            self.assertAlmostEqual(row["velocities"][0], 3, 4)

    # ---- images

    def image(self, name="speed.nii", n=8):
        write_nifti(self.folder / name, (n, n, 1), ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0)),
                    [1.0 if v < n * n // 2 else 1.5 for v in range(n * n)])
        return name

    def test_speeds_of_an_image(self):
        image = self.image()
        ring = [v for v in range(64) if v % 8 in (0, 7) or v // 8 in (0, 7)]
        self.write_times(image, [0, 7, 56, 63, 24], ring, "--speed-array values")
        run = f"invert {image} --times times.csv --shots shots.csv --unknown speed --speed 1.2"
        found = self.succeed_json(run, "-o found.vti")
        self.assert_fields(found, element_kind="voxel", vertices=64)
        self.assertNotIn("cut_cells", found)
        self.assertLess(found["misfit"], 0.2 * found["start_misfit"])
        self.assertIn("speed", self.arrays("found.vti"))
        self.succeed(run, "-o found.nii")
        self.assertEqual(len(self.arrays("found.nii")), 1)
        self.expect(2, "invert", image, "--times times.csv --shots shots.csv --unknown region-velocities",
                    "--velocity-table 1:1", words="meshes")

    # ---- tables

    def test_shots_without_partner(self):
        self.cross_times()
        run = "invert square.msh --times times.csv --unknown onsets --speed-array truth"
        rows = self.read_text("shots.csv")
        self.write("more.csv", rows + "other,3\n")
        self.assert_said("left out (other)", self.succeed_json(run, "--shots more.csv")["warnings"])
        self.write("less.csv", "shot,vertex\ns0,0\n")
        self.expect(3, run, "--shots less.csv", words=("times.csv: line 11: shot 's18' has no source in less.csv",))
        self.write("far.csv", "shot,vertex\ns0,81\n")
        self.expect(3, run, "--shots far.csv", words=("far.csv: line 2: source id 81 is out of range", "0…80"))
        self.write("plain.csv", "vertex,time\n8,1\n")
        self.expect(3, "invert square.msh --times plain.csv --unknown onsets --shots shots.csv",
                    words="plain.csv: there is no column 'shot'")

    def test_receivers_of_one_place_are_one(self):
        self.square()
        self.write("times.csv", "x,y,time,weight,colour\n1,0,1,1,red\n1.0,0.0,1.1,2,red\n0.5,0.5,0.7,0,blue\n")
        found = self.succeed_json("invert square.msh --times times.csv --unknown onsets --source 0")
        self.assert_fields(found, receivers=2, times=3, shots=1)
        self.assert_said("a column is not used (colour)", found["warnings"])

    def test_bad_times(self):
        self.square()
        for text, words in (
                ("1,0,1\n", "line 1: there is no line of column names"),
                ("x,y\n1,0\n", "line 1: there is no column 'time'"),
                ("place,time\n1,0\n", "line 1: there are no columns 'x' and 'y' or 'vertex'"),
                ("x,y,time\n1,0,soon\n", "line 2: 'soon' is not a number"),
                ("x,y,time\n1,0,1\n1,nan,1\n", "line 3: a coordinate is nan"),
                ("x,y,time,weight\n1,0,1,-2\n", "line 2: the weight -2 is negative"),
                ("x,y,time\n", "there are no rows"),
                ("x,y,time\n1,0\n", "line 2: the number of values"),
                ("vertex,time\n\n81,1\n", ("line 3: receiver id 81 is out of range", "0…80")),
                ("x,y,time\n1,2,1\n", "receiver 0 at 1,2,0")):
            self.write("bad.csv", text)
            self.expect(3, "invert square.msh --times bad.csv --unknown onsets --source 0", words=words)
        self.expect(3, "invert square.msh --times none.csv --unknown onsets --source 0", words="none.csv")

    def test_bad_requests(self):
        self.square()
        self.write("times.csv", "vertex,time\n8,1\n")
        run = "invert square.msh --times times.csv"
        self.expect(2, run, "--source 0", words="--unknown")
        self.expect(2, "invert square.msh --unknown speed --source 0", words="--times")
        self.expect(2, run, "--unknown weight --source 0", words=("--unknown", "unknown choice 'weight'", "onsets"))
        self.expect(2, run, "--unknown onsets", words="no source")
        self.expect(2, run, "--unknown speed --source 0", words="no output")
        self.expect(2, run, "--unknown speed,tensor-scale --source 0 -o a.vtk", words="cannot be unknown together")
        self.expect(2, run, "--unknown region-velocities --source 0", words="--velocity-table")
        self.expect(2, run, "--unknown onsets --source 0 --velocities-output v.txt", words="nothing to hold")
        self.expect(2, run, "--unknown onsets --source 0 --shots times.csv", words="--shots")
        self.expect(2, run, "--unknown speed --source 0 -o a.stl", words="no place for the array 'speed'")
        self.expect(2, run, "--unknown speed --source 0 -o a.vtk --noise -1", words=("--noise", "negative"))
        self.expect(2, run, "--unknown onsets --source 0 --curve times.csv --force", words="is an input too")
        self.expect(2, run, "--unknown onsets --source 0 --curve a.csv --times-output a.csv", words="two outputs")
        self.expect(2, run, "--unknown onsets --source 0 --mask a.nii", words="--mask")
        self.expect(2, run, "--unknown speed --fibers fiber --velocity 1,0.5 --source 0 -o a.vtk", words="isotropic")
        self.write("a.csv", "old")
        self.expect(3, run, "--unknown onsets --source 0 --curve a.csv", words="exists already")
        warnings = self.succeed_json(run, "--unknown onsets --source 0 --smoothing 1 --min-velocity 1")["warnings"]
        self.assertEqual(len(warnings), 2)

    # ---- checkpoints and the end

    def test_goes_on_from_a_checkpoint(self):
        self.square()
        self.write_times("square.msh", self.LEFT, self.RIGHT, "--velocity-table 1:0.8;2:1.6")
        run = "invert square.msh --times times.csv --shots shots.csv --unknown region-velocities " \
              "--velocity-table 1:1.2;2:1.2 --min-decrease 1e-12"
        whole = self.succeed_json(run)
        done = self.run_isochron(run, "--checkpoint c.npy --max-iterations 2 --json")
        self.assert_failed(done, 4, "not converged")
        first = json.loads(done.stdout)
        self.assert_fields(first, end="max-iterations", iterations=2, notes=[], written=["c.npy"])
        header, values = read_npy(self.folder / "c.npy")
        self.assertEqual(header["shape"], (1, 5))
        self.assertAlmostEqual(math.exp(values[3]), first["velocities"][0]["velocities"][0], 12)
        second = self.succeed_json(run, "--checkpoint c.npy")
        self.assert_said("goes on from c.npy", second["notes"])
        self.assertEqual(second["start_misfit"], first["misfit"])
        for found, expected in zip(second["velocities"], whole["velocities"]):
            self.assertAlmostEqual(found["velocities"][0], expected["velocities"][0], 7)

    def test_bad_checkpoints(self):
        self.cross_times()
        run = "invert square.msh --times times.csv --shots shots.csv"
        self.run_isochron(run, "--unknown speed -o a.vtk --speed 1.2 --checkpoint c.npy --max-iterations 1")
        self.expect(3, run, "--unknown onsets --checkpoint c.npy",
                    words=("c.npy: has 128 unknowns, and this problem 10",))
        whole = self.read_bytes("c.npy")
        self.write("c.npy", whole[:-8])
        self.expect(3, run, "--unknown speed -o b.vtk --checkpoint c.npy", words="error: c.npy: ")
        self.write("c.npy", whole[:-8] + b"\xff" * 8)
        self.expect(3, run, "--unknown speed -o b.vtk --checkpoint c.npy", words="is no checkpoint")
        self.write("c.npy", "text")
        self.expect(3, run, "--unknown speed -o b.vtk --checkpoint c.npy", words="error: c.npy: ")

    def test_an_interrupted_run_keeps_its_checkpoint(self):
        points, triangles = square_mesh(60)
        self.write_msh("large.msh", points, triangles)
        self.write_times("large.msh", [0, 59, 3540, 3599, 1800], range(0, 3600, 7), "--speed 1.3")
        checkpoint = self.folder / "c.npy"

        def wait(_):
            end = time.time() + 60
            while not checkpoint.exists() and time.time() < end:
                time.sleep(0.01)

        self.interrupt(signal.SIGINT, wait, "invert large.msh --times times.csv --shots shots.csv --unknown speed -o a.vtk",
                       "--min-decrease 0 --max-iterations 10000 --smoothing 1e-6 --checkpoint c.npy --speed 1",
                       left=sorted([*self.files(), "c.npy"]))

    # ---- what is said

    def test_json_and_text(self):
        self.cross_times()
        run = "invert square.msh --times times.csv --shots shots.csv --unknown onsets --speed-array truth --force"
        found = self.succeed_json(run, "--curve curve.csv")
        self.assertEqual(sorted(found), sorted(KEYS))
        self.assertEqual(len(found["sources"]), 10)
        text = self.succeed(run, "--curve curve.csv").stdout
        self.assert_has_all(text, "81 vertices, 128 triangles", "90 times at 10 receivers from 10 shots", "onsets",
                            "shot s0: 0 at 0,0,0, onset", "curve.csv")
        done = self.succeed(run, "--quiet")
        self.assertEqual(done.stdout + done.stderr, "")
        self.assert_has_all(self.succeed("invert --help").stdout, "--unknown", "isochron invert ")
