"""What solve, path and generate make of images: masks, raw files, several sources, probes, pictures, options."""

import array
import itertools
import math
import struct
import zlib

from cli_case import CliCase
from small_files import read_nifti, write_nrrd

N = 8


def voxel(i, j, k):
    return i + N * (j + N * k)


class ImageOptions(CliCase):
    def setUp(self):
        super().setUp()
        self.image("block.nrrd", [2.0] * N**3)

    def image(self, name, values, shape=(N, N, N), **options):
        write_nrrd(self.folder / name, shape, values, **options)
        return name

    # ---- masks

    def masked_tensors(self, wall):
        """Velocity tensors 4·I behind a confidence that is low in the plane x = 4, up to y < `wall`."""
        values = []
        for _, j, i in itertools.product(range(N), repeat=3):
            values += [0.25 if i == 4 and j < wall else 1.0, 4.0, 0.0, 0.0, 4.0, 0.0, 4.0]
        return values

    def test_the_mask_inside_tensors_counts(self):
        tensors = "--velocity-tensor-array speed"
        for name, kind in (("told.nrrd", "3D-masked-symmetric-matrix"), ("bare.nrrd", "list")):
            self.image(name, self.masked_tensors(N - 1), per_voxel=7, kind=kind)
            done = self.succeed_json(f"solve {name} -o times.nrrd --force --source 0", tensors)
            self.assert_fields(done, unreached_in_no_element=N * (N - 1), unreached_in_parts=0)
            path = self.succeed_json(f"path times.nrrd --image {name} --source 0 --to 7 -o p.csv --force",
                                     tensors)["paths"][0]
            self.assertGreater(path["length"], 2 * math.hypot(3.5, 6.5))  # round the wall, not 7 straight on
            self.assertFalse(any(3.5 < float(x) < 4.5 and float(y) < N - 1.5 for _, x, y, _, _ in self.table("p.csv")))
        half = self.image("half.nrrd", [1.0 if v // N // N < 4 else math.nan for v in range(N**3)])
        both = self.succeed_json("solve told.nrrd -o b.nrrd --source 0", tensors, f"--mask {half}")
        self.assertEqual(both["elements"], N**3 // 2 - 4 * (N - 1))
        free = self.succeed_json("solve told.nrrd -o c.nrrd --source 0")  # no tensors asked for
        self.assertEqual(free["elements"], N**3)

    def test_masks_are_the_same_everywhere(self):
        self.image("empty.nrrd", [0.0, math.nan] * (N**3 // 2))
        self.image("many.nrrd", [1.0] * 2 * N**3, per_voxel=2)
        self.image("other.nrrd", [1.0] * N * N, shape=(N, N))
        self.image("moved.nrrd", [1.0] * N**3, spacing=(1.0, 1.0, 1.5))
        self.succeed("solve block.nrrd -o times.nrrd --source 0")
        for name, word in (("empty", "empty"), ("many", "2 values a voxel"), ("other", "another shape"),
                           ("moved", "another affine")):
            for command in ("solve block.nrrd -o b.nrrd", "path times.nrrd --to 1 -o p.csv"):
                self.expect(3, command, f"--source 0 --mask {name}.nrrd", words=[f"{name}.nrrd", word])

    def test_a_mask_with_several_arrays_is_named(self):
        self.succeed("solve block.nrrd -o times.vti --source 0")  # arrival_time is 0 at the source
        self.succeed("solve block.nrrd -o times.nrrd --source 0")
        for command in ("solve block.nrrd -o b.nrrd", "path times.nrrd --to 1 -o p.csv"):
            self.expect(3, command, "--source 0 --mask times.vti",
                        words=["times.vti has several arrays", "arrival_time, source, reached", "--mask-array"])
            self.expect(3, command, "--source 0 --mask times.vti --mask-array wall",
                        words=["times.vti has no array 'wall'", "arrival_time, source, reached"])
            self.succeed(command, "--source 0 --mask times.vti --mask-array reached")
        self.expect(3, "solve block.nrrd -o b.vti --source 0 --mask times.vti --mask-array arrival_time",
                    words="outside the mask")
        done = self.succeed("solve block.nrrd -o b.nrrd --source 0 --mask-array reached --force")
        self.assertIn("--mask-array", done.stderr)

    # ---- files

    def test_inputs_are_never_replaced(self):
        mask = self.image("mask.nrrd", [1.0] * N**3)
        self.write("start.txt", "0 0\n")
        for output, more in (("block.nrrd", ""), ("./block.nrrd", ""), (mask, f"--mask {mask}")):
            self.expect(2, f"solve block.nrrd -o {output} --force --source 0", more, words="input too")
        self.expect(2, "solve block.nrrd -o b.nrrd --probe start.txt --probe-output block.nrrd --force --source 0",
                    words="input too")
        self.write("model.npy", b"")
        self.expect(2, "generate from-raw model.npy --shape 2,2 -o model.npy --force", words="input too")
        self.write("rows.txt", "1 2\n3 4\n")
        self.expect(2, "generate from-raw rows.txt --type text --skip 2 -o a.npy", words=["--skip", "text"])

    def test_generated_files_come_together(self):
        (self.folder / "a_fa.nii").mkdir()
        self.expect(3, "generate crossing-fibers --n 6 -o a.nii", words="a_fa.nii")
        longest = "x" * 251  # there is no room for "_mask"
        self.expect(1, "generate crossing-fibers --n 6 -o", longest + ".nii", words="cannot be written")

    def test_extensions_in_capitals(self):
        self.succeed("solve block.nrrd -o OUT.VTI --source 0")
        for name in (b"speed", b"arrival_time", b"reached"):
            self.assertIn(b'"' + name + b'"', self.read_bytes("OUT.VTI"))
        self.succeed("solve block.nrrd -o OUT.NII.GZ --source 0,9 --each-source --matrix M.CSV")
        self.assertEqual(read_nifti(self.folder / "OUT.NII.GZ")[0], [N, N, N, 2])

    # ---- raw

    def test_raw_images(self):
        model = array.array("f", [2.0] * N**3)
        self.write("model.bin", model.tobytes())
        raw = ("--raw-shape", f"{N},{N},{N}", "--raw-type", "float32", "--raw-spacing", 0.5, "--speed-array", "values")
        done = self.succeed_json("solve model.bin", *raw, "-o times.nii.gz --source 0")
        self.assertAlmostEqual(done["max_time"], 0.25 * (N - 1) * math.sqrt(3), delta=0.1)
        path = self.succeed_json("path times.nii.gz --image model.bin", *raw, "--source 0 --to", N**3 - 1, "-o p.csv")
        self.assertAlmostEqual(path["paths"][0]["length"], 0.5 * (N - 1) * math.sqrt(3), delta=0.01)
        self.assertEqual(path["warnings"], [])
        self.expect(2, "solve model.bin -o b.nii --source 0", words="--raw-shape")
        self.expect(2, "solve block.nrrd", *raw[:2], "-o b.nii --source 0", words=["--raw-shape", "block.nrrd"])
        self.succeed("generate square --n 3 -o a.msh")
        self.expect(2, "solve a.msh", *raw[:2], "-o b.msh --source 0", words=["--raw-shape", "a.msh"])

    def test_numpy_images_take_a_place(self):
        model = array.array("f", [2.0] * N**3)
        self.write_npy("model.npy", model, (N, N, N))
        place = "--spacing 0.5 --origin 10,20,30"
        affine = [[0.5, 0, 0, 10], [0, 0.5, 0, 20], [0, 0, 0.5, 30], [0, 0, 0, 1]]
        self.assert_fields(self.info("model.npy", place), spacing=[0.5, 0.5, 0.5], affine=affine)
        solve = "solve model.npy --speed-array values --source-point 10,20,30"
        done = self.succeed_json(solve, place, "-o times.nii.gz")
        self.assertAlmostEqual(done["max_time"], 0.25 * (N - 1) * math.sqrt(3), delta=0.1)
        # A mask without a place lies where the image does.
        self.write_npy("mask.npy", array.array("f", [1.0] * N**3), (N, N, N))
        self.assertEqual(self.succeed_json(solve, place, "--mask mask.npy -o m.nii")["max_time"], done["max_time"])
        path = self.succeed_json("path times.nii.gz --image model.npy --speed-array values", place,
                                 "--source 0 --to", N**3 - 1, "-o p.csv")
        self.assertAlmostEqual(path["paths"][0]["length"], 0.5 * (N - 1) * math.sqrt(3), delta=0.01)
        self.expect(2, solve, "--spacing 1,2 -o b.nii", words="spacing")
        self.expect(2, solve, "--spacing 0 -o b.nii", words="spacing")
        self.expect(2, solve, "--origin 1 -o b.nii", words="origin")

    def write_npy(self, name, values, shape):
        header = f"{{'descr': '<f4', 'fortran_order': True, 'shape': {shape}, }}".ljust(117) + "\n"
        self.write(name, b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + values.tobytes())

    # ---- several sources, probes, pictures

    def test_each_source(self):
        ends = (0, voxel(7, 7, 7), voxel(3, 4, 5))
        ids = ",".join(map(str, ends))
        done = self.succeed_json(f"solve block.nrrd -o all.nii.gz --source {ids} --each-source --matrix m.csv",
                                 "--speed-array speed --verify")
        self.assertEqual([s["vertex"] for s in done["sources"]], list(ends))
        self.assert_fields(done, written=["all.nii.gz", "m.csv"], scheme="adaptive", order=1)
        shape, values = read_nifti(self.folder / "all.nii.gz")
        self.assertEqual(shape, [N, N, N, 3])
        for i, source in enumerate(ends):
            self.succeed(f"solve block.nrrd -o one.nii.gz --force --source {source} --speed-array speed")
            alone = read_nifti(self.folder / "one.nii.gz")[1]
            for v in range(N**3):
                self.assertAlmostEqual(values[i * N**3 + v], alone[v], places=12)
        self.assertEqual(self.read_text("m.csv").splitlines()[0], "voxel," + ids)
        rows = self.table("m.csv")
        self.assertAlmostEqual(float(rows[0][2]), values[ends[1]], places=12)
        self.assertAlmostEqual(float(rows[1][1]), float(rows[0][2]), delta=1e-6)
        self.succeed(f"solve block.nrrd -o rows.npy --source {ids} --each-source")
        self.assertIn(f"'shape': (3, {N**3})".encode(), self.read_bytes("rows.npy"))
        self.succeed(f"solve block.nrrd -o all.vti --source {ids} --each-source")
        self.assertIn(b'"arrival_time_2"', self.read_bytes("all.vti"))
        self.expect(2, f"solve block.nrrd -o b.vti --source {ids} --each-source --probe m.csv --probe-output p.csv",
                    words="--probe")

    def test_probes(self):
        wall = self.image("wall.nrrd", [0.0 if v % N == 6 else 1.0 for v in range(N**3)])
        self.write("points.txt", "a 3 4 0\nb 1.5 2 0\nwall 6 1 1\nbehind 7 1 1\nfar 30 0 0\nnear -0.52 0 0\n")
        done = self.succeed_json(f"solve block.nrrd --source 0 --speed-array speed --mask {wall} --probe points.txt",
                                 "--probe-output p.csv")
        self.assertEqual(done["written"], ["p.csv"])
        self.assertIn("2 of 6 points are outside", " ".join(done["warnings"]))
        rows = {row[0]: row[4:] for row in self.table("p.csv")}
        self.assertAlmostEqual(float(rows["a"][0]), 2.5, delta=0.15)
        self.assertAlmostEqual(float(rows["b"][0]), 1.25, delta=0.1)
        self.assertEqual((rows["wall"], rows["behind"], rows["far"][0]), (["", "0"], ["inf", "0"], ""))
        self.assertAlmostEqual(float(rows["far"][1]), 22.5, delta=1e-6)
        self.assertAlmostEqual(float(rows["near"][1]), 0.02, delta=1e-6)
        self.assertNotEqual(rows["near"][0], "")

    def test_pictures_of_flat_images(self):
        if not self.has_vtk():
            self.skipTest("pictures need VTK")
        flat = self.image("flat.nrrd", [1.0] * 144, shape=(16, 9))
        done = self.run_isochron(f"solve {flat} --source 0 -o t.nrrd --picture a.PNG")
        if done.returncode == 1 and "display" in done.stderr:
            self.assertTrue((self.folder / "t.nrrd").exists())
            self.skipTest("there is no display")
        self.assertEqual(done.returncode, 0, done.stderr)
        width, height, colors = png(self.read_bytes("a.PNG"))
        self.assertEqual((width, height), (1400, 1000))
        self.assertGreater(colors, 100)  # a scale of them, not a blank page
        self.expect(2, "solve block.nrrd --source 0 -o b.nrrd --picture b.png", words=["--picture", "8 slices"])

    # ---- options that do nothing

    def test_options_of_meshes(self):
        solve = "solve block.nrrd -o b.nrrd --source 0"
        for option, value in (("--reorder", "always"), ("--split-obtuse", "always"), ("--elements", "tet"),
                              ("--patch-size", 32)):
            self.expect(2, solve, option, value, words=[option, "meshes"])
        for flag in ("--weights", "--hand-over", "--allow-unordered"):
            self.expect(2, solve, flag, words=[flag, "meshes"])

    def test_options_of_images(self):
        self.succeed("generate square --n 3 -o a.msh")
        for option, value in (("--mask", "block.nrrd"), ("--scheme", "godunov"), ("--order", 2), ("--tensor-frame", "world"),
                              ("--tensor-frame", "voxel")):
            self.expect(2, f"solve a.msh -o b.msh --source 0 {option} {value}", words=[option, "images"])
        self.succeed("solve a.msh -o s.msh --source 0")
        for option, value in (("--mask", "block.nrrd"), ("--image", "block.nrrd"), ("--tensor-frame", "fsl")):
            self.expect(2, f"path s.msh --to 1 -o p.vtk {option} {value}", words=[option, "images"])

    def test_options_without_their_partner(self):
        solve = "solve block.nrrd -o b.nrrd --source 0 --force"
        for option, value, partner in (("--tensor-order", "fsl", "--metric-array"),
                                       ("--raw-type", "uint8", "--raw-shape"),
                                       ("--tensor-frame", "voxel", "--metric-array"),
                                       ("--spacing", 2, "--raw-shape")):
            warnings = self.succeed_json(solve, option, value)["warnings"]
            self.assertEqual(len(warnings), 1, warnings)
            self.assertIn(f"{option} has no effect (it goes with {partner}", warnings[0])

    def test_bands_are_of_the_adaptive_scheme(self):
        solve = "solve block.nrrd -o b.nrrd --source 0 --band-width 2 --force"
        self.assertEqual(self.succeed_json(solve)["warnings"], [])
        warnings = self.succeed_json(solve, "--scheme godunov")["warnings"]
        self.assertEqual(warnings, ["--band-width has no effect (it goes with --scheme adaptive)"])

    def test_advice_is_for_images(self):
        # Tensors so thin that the paper's reference does not get there; it must not name a method of meshes.
        n = 24
        self.image("thin.nrrd", [1.0, 0.99999, 0.0, 1.0, 0.0, 1.0] * n**2, shape=(n, n), per_voxel=6,
                   kind="3D-symmetric-matrix")
        done = self.run_isochron("solve thin.nrrd -o b.nrrd --source 0 --velocity-tensor-array speed",
                                 "--scheme lax-friedrichs --tolerance 1e-15")
        self.assert_failed(done, 4, ["not converged", "try --scheme adaptive"])
        self.assertNotIn("--method", done.stderr)


def png(data):
    """Width, height and the number of different bytes triples in the first thousands of a PNG's pixels."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">2I", data[16:24])
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    pixels = zlib.decompress(packed)
    return width, height, len({pixels[i:i + 3] for i in range(1, len(pixels) - 3, 3)})
