"""isochron path on images: paths from solved voxels back to their sources."""

import math
import random
import struct

from cli_case import CliCase
from small_files import write_nifti


class PathImageTest(CliCase):
    """Every test traces on a small block, unless it needs the helix."""

    N = 11

    def image(self, name, values, spacing=1.0, origin=(0.0, 0.0, 0.0)):
        """A block of N³ voxels; the name."""
        rows = [[spacing if axis == row else 0.0 for axis in range(3)] + [origin[row]] for row in range(3)]
        write_nifti(self.folder / name, (self.N,) * 3, rows, values)
        return name

    def voxel(self, i, j, k):
        return i + self.N * (j + self.N * k)

    def solved(self, name="times.nii.gz", *options):
        """Times of speed 2 in a block with its first voxel at (1, 2, 3) and voxels of 0.5."""
        self.image("speed.nii", [2.0] * self.N**3, 0.5, (1.0, 2.0, 3.0))
        self.succeed(f"solve speed.nii -o {name} --speed-array values", *(options or ("--source", "0")))
        return name

    def test_traces_straight_lines_in_every_format(self):
        last = self.N**3 - 1
        exact = 0.5 * 10 * math.sqrt(3)
        formats = ["nii.gz", "nrrd", "npy", "mgz", "vti"]
        for extension in formats:
            name = self.solved(f"times.{extension}")
            grid = 0.5 if extension != "npy" else 1.0  # of voxels of size 1
            done = self.succeed_json(f"path {name} --to {last} -o {extension}.csv --speed", 2 * grid / 0.5,
                                     "--source 0")
            path = done["paths"][0]
            self.assert_fields(path, vertex=last, source=0, onset=0)
            self.assertAlmostEqual(path["length"], exact * grid / 0.5, delta=0.01)
            self.assertAlmostEqual(path["travel_time"], exact / 2, delta=0.01)
            self.assert_fields(done, guessed_sources=False, warnings=[])

    def test_points_and_files_in_the_world(self):
        self.solved("times.nii.gz", "--source-point 3.2,4.1,5.3")
        self.write("ends.txt", "a 1 2 3\nb 6 7 8\n")
        self.write("ends.vtx", "2\nextra\n7\n9\n")
        done = self.succeed_json("path times.nii.gz --to-point 5.6,2.2,4.4 --to-file ends.txt --to-file ends.vtx",
                                 "--speed 2 --source-point 3.2,4.1,5.3 -o p.tck")
        self.assertEqual([p.get("name") for p in done["paths"]], [None, "a", "b", None, None])
        self.assertEqual([p.get("vertex") for p in done["paths"]][3:], [7, 9])
        self.assertAlmostEqual(done["paths"][0]["length"], math.dist((5.6, 2.2, 4.4), (3.2, 4.1, 5.3)), delta=0.02)
        self.assertAlmostEqual(done["paths"][1]["length"], math.dist((1, 2, 3), (3.2, 4.1, 5.3)), delta=0.02)

    def test_tracks_for_trackvis_have_the_points_of_those_for_mrtrix(self):
        self.solved()
        for name in ("p.tck", "p.trk"):
            self.succeed(f"path times.nii.gz --to 77,1330 --speed 2 --source 0 -o {name}")
            self.succeed(f"convert {name} {name}.vtk")
        head = self.read_bytes("p.trk")
        self.assertEqual((head[:5], struct.unpack_from("<3h", head, 6)), (b"TRACK", (self.N,) * 3))
        tck, trk = (self.info(f"{name}.vtk") for name in ("p.tck", "p.trk"))
        self.assert_fields(trk, points=tck["points"], lines=2)
        self.succeed("generate square --n 4 -o a.vtu")
        self.succeed("solve a.vtu --source 0 -o b.vtu")
        self.expect(2, "path b.vtu --to 9 -o c.trk", words=("c.trk", "b.vtu is a mesh", ".tck"))

    def test_takes_sources_from_the_file(self):
        last = self.N**3 - 1
        self.solved("two.nii.gz", f"--source 0,{last}")
        done = self.succeed_json("path two.nii.gz --to", f"1,{last - 1}", "--speed 2 -o p.csv")
        self.assertTrue(done["guessed_sources"])
        self.assertEqual([p["source"] for p in done["paths"]], [0, 1])
        self.solved("two.vti", f"--source {last},0")  # the file has labels, in this order
        done = self.succeed_json("path two.vti --to", f"1,{last - 1}", "--speed-array values -o q.csv")
        self.assertEqual([p["source"] for p in done["paths"]], [1, 0])

    def test_goes_round_a_mask(self):
        wall = [0.0 if v % self.N == 5 and v // self.N % self.N < 9 else 1.0 for v in range(self.N**3)]
        self.image("block.nii", [1.0] * self.N**3)
        self.image("wall.nii", wall)
        start, end = self.voxel(0, 0, 5), self.voxel(10, 0, 5)
        self.succeed(f"solve block.nii -o times.nii --source {start} --mask wall.nii")
        trace = f"path times.nii --source {start} --mask wall.nii"
        path = self.succeed_json(trace, f"--to {end} -o p.csv")["paths"][0]
        self.assertGreater(path["length"], 2 * math.hypot(5, 8.5) - 0.5)
        for row in self.read_text("p.csv").splitlines()[1:]:
            x, y, z = (math.floor(float(c) + 0.5) for c in row.split(",")[1:4])
            self.assertEqual(wall[self.voxel(x, y, z)], 1.0)
        self.expect(3, trace, "--to", self.voxel(5, 0, 5), "-o q.csv", words="outside the mask")

    def test_speeds_of_the_solved_image(self):
        speeds = [1.0 if v % self.N < 5 else 4.0 for v in range(self.N**3)]
        self.image("speed.nii", speeds)
        start, end = self.voxel(7, 0, 5), self.voxel(2, 10, 5)
        self.succeed(f"solve speed.nii -o times.nii --source {start} --speed-array values")
        trace = f"path times.nii --source {start} --to {end} -o"
        done = self.succeed_json(trace, "p.csv --image speed.nii --speed-array values")
        path = done["paths"][0]
        self.assertEqual(done["warnings"], [])
        exact = min(math.hypot(2.5, y / 100) / 4 + math.hypot(2.5, 10 - y / 100) for y in range(1001))  # refracted
        self.assertAlmostEqual(path["travel_time"], exact, delta=0.02 * exact)
        self.assertGreater(path["length"], math.hypot(5, 10) + 0.2)
        self.assertIn("give the options", self.succeed_json(trace, "q.csv --speed 4")["warnings"][0])
        self.assert_has_all(self.succeed_json(trace, "q.trk")["warnings"][0], "no speed was given", "--speed-array",
                            "--image")

    def test_rough_speeds_are_no_reason_for_suspicion(self):
        random.seed(7)
        speeds = [random.choice((1.0, 10.0)) for _ in range(self.N**3)]
        self.image("rough.nii", speeds)
        ends = ",".join(map(str, range(0, self.N**3, 23)))
        voxel, point = ("--source", self.voxel(5, 5, 5)), ("--source-point", "1.3,2.2,3.7")
        for source, order in ((voxel, 1), (point, 1), (voxel, 2)):
            self.succeed("solve rough.nii -o times.nii", *source, f"--speed-array values --order {order} --force")
            trace = ("path", "times.nii", *source, "--to", ends, "--image", "rough.nii", "-o", "p.csv", "--force")
            right = self.succeed_json(*trace, "--speed-array values")
            count = len(right["paths"])
            differ = sum(abs(p["travel_time"] - p["arrival_time"]) > 0.1 * p["arrival_time"] for p in right["paths"])
            self.assertGreater(differ, count / 2)  # they would be suspected by that alone
            self.assertLess(len(right["warnings"]), 1 if order == 1 else count / 20)
            for other in (1, 3, 12):
                self.assertGreater(len(self.succeed_json(*trace, f"--speed {other}")["warnings"]), count / 2)

    def test_unknown_extensions_name_formats_of_lines(self):
        self.solved()
        error = self.expect(2, "path times.nii.gz --to 1 -o p.xyz", words=[".vtp", ".tck", ".csv"]).stderr
        self.assert_has_none(error, ".stl", ".off", ".node", ".lon", ".gii")

    def test_follows_a_helix_of_tensors(self):
        self.succeed("generate helix-tensors --n 32 --turns 1 --across 0.01 -o helix.nii.gz")
        source, end = 32 * 16 + 25, 32 * (16 + 32 * 31) + 25  # in the first slice and above it in the last
        options = "--velocity-tensor-array velocity_tensor"
        self.succeed(f"solve helix.nii.gz -o times.nii.gz --source {source}", options)
        trace = f"path times.nii.gz --image helix.nii.gz --source {source} --to {end} {options}"
        shortened = self.succeed_json(trace, "-o p.vtk")["paths"][0]
        raw = self.succeed_json(trace, "-o q.vtk --raw")["paths"][0]
        self.assertLess(shortened["travel_time"], raw["travel_time"])
        self.assertGreater(shortened["length"], 1.5 * 31)  # once round, not straight up

    def test_what_has_no_path(self):
        wall = [0.0 if v % self.N == 5 else 1.0 for v in range(self.N**3)]
        self.image("block.nii", [1.0] * self.N**3)
        self.image("wall.nii", wall)
        self.succeed("solve block.nii -o times.nii --source 0 --mask wall.nii")
        trace = "path times.nii --source 0 --mask wall.nii -o p.csv"
        self.expect(5, trace, "--to", self.N - 1, words=["no path", "nothing arrives"])
        self.assert_failed(self.run_isochron(trace, "--to", f"1,{self.N - 1}"), 5, ["1 of 2"])
        self.assertTrue((self.folder / "p.csv").exists())
        self.expect(5, "path times.nii --source", self.voxel(4, 9, 9), "--mask wall.nii --to 1 -o q.csv",
                    words=["minimum", "no source"])

    def test_what_is_refused(self):
        self.solved()
        path = "path times.nii.gz -o p.csv --source 0"
        for code, options, words in ((2, "", "no target"), (3, f"--to {self.N**3}", ["1331", "image", "1330"]),
                                     (3, "--to-point 90,0,0", "outside the image"),
                                     (2, "--to 1 --to-tolerance 1", ["--to-tolerance", "meshes"]),
                                     (2, "--to 1 --elements tet", ["--elements", "meshes"]),
                                     (3, "--to 1 --time-array t", ["'t'", "--time-array"]),
                                     (3, "--to 1 --speed-array v", "'v'")):
            self.expect(code, path, options, words=words)
        self.expect(3, "path times.nii.gz -o p.csv --to 1 --source 5000", words=["5000", "image"])
        write_nifti(self.folder / "other.nii", (4, 4, 4), [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], [1.0] * 64)
        self.expect(3, path, "--to 1 --image other.nii", words=["other.nii", "other voxels"])
        self.expect(2, "path times.nii.gz -o speed.csv --to 1 --to-file speed.csv", words="speed.csv")
