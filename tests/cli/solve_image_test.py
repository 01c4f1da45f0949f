"""isochron solve on images: answers, masks, schemes, and what is refused."""

import ast
import math
import struct

from cli_case import CliCase
from nrrd import write_nrrd


class SolveImage(CliCase):
    def image(self, name, shape, values, **options):
        write_nrrd(self.folder / name, shape, values, **options)
        return name

    def numbers(self, name):
        """All values of an .npy file of doubles, in the file's order."""
        data = (self.folder / name).read_bytes()
        length = struct.unpack("<H", data[8:10])[0]
        header = ast.literal_eval(data[10:10 + length].decode())
        self.assertEqual(header["descr"], "<f8")
        count = math.prod(header["shape"])
        return struct.unpack(f"<{count}d", data[10 + length:])

    def test_distances_in_a_small_image(self):
        n = 9
        image = self.image("a.nrrd", (n, n, n), [2.0] * n**3, spacing=(0.5, 0.5, 0.5))
        summary = self.succeed_json("solve", image, "-o", "out.npy", "--speed-array", "speed", "--source-point",
                                    "2,2,2", "--verify")
        self.assertEqual(summary["element_kind"], "voxel")
        self.assertEqual((summary["vertices"], summary["reached"], summary["unreached"]), (n**3, n**3, 0))
        self.assertTrue(summary["converged"])
        self.assertLessEqual(summary["residual"], summary["residual_limit"])
        times = self.numbers("out.npy")  # the source is in the middle: any order of the axes will do
        for k in range(n):
            for j in range(n):
                for i in range(n):
                    exact = 0.25 * math.dist((i, j, k), (4, 4, 4))
                    self.assertAlmostEqual(times[i + n * (j + n * k)], exact, delta=1e-6)

    def test_orders_schemes_and_sources(self):
        n = 12
        image = self.image("a.nrrd", (n, n, n), [1.0 + 0.01 * v for v in range(n**3)])
        last = {}
        for name, options in {"one": (), "two": ("--order", "2"), "godunov": ("--scheme", "godunov"),
                              "sweeps": ("--scheme", "godunov", "--method", "fsm"),
                              "smeared": ("--scheme", "lax-friedrichs"),
                              "factored": ("--order", "2", "--source-init", "factored")}.items():
            summary = self.succeed_json("solve", image, "-o", "out.nii.gz", "--force", "--source", "0",
                                        "--speed-array", "speed", "--verify", *options)
            self.assertEqual(summary["reached"], n**3)
            last[name] = summary["max_time"]
        self.assertAlmostEqual(last["godunov"], last["one"], delta=1e-3)
        self.assertAlmostEqual(last["sweeps"], last["one"], delta=1e-3)
        self.assertAlmostEqual(last["two"], last["factored"], delta=0.1 * last["two"])
        self.assertEqual(self.succeed_json("solve", image, "-o", "out.nrrd", "--source-tag", "speed=1.0")["reached"],
                         n**3)
        self.write("start.txt", "0 1.5\n5 2.5\n")
        self.succeed_json("solve", image, "-o", "again.nrrd", "--source-file", "start.txt")

    def test_masks(self):
        n = 8
        image = self.image("a.nrrd", (n, n, n), [1.0] * n**3)
        wall = self.image("wall.nrrd", (n, n, n), [0.0 if v % n == 4 else 1.0 for v in range(n**3)])
        summary = self.succeed_json("solve", image, "-o", "out.nrrd", "--source", "0", "--mask", wall)
        self.assertEqual(summary["reached"], 4 * n * n)
        self.assertEqual(summary["elements"], 7 * n * n)
        self.assertEqual(summary["unreached_in_no_element"], n * n)
        self.assertEqual((summary["unreached_parts"], summary["unreached_in_parts"]), (1, 3 * n * n))
        other = self.image("other.nrrd", (n, n, n - 1), [1.0] * n * n * (n - 1))
        self.expect(3, "solve", image, "-o", "b.nrrd", "--source", "0", "--mask", other, words=["other voxels"])
        self.expect(3, "solve", image, "-o", "b.nrrd", "--source", "4", "--mask", wall, words=["outside the mask"])

    def test_tensors_need_their_order(self):
        n = 6
        tensor = [1.0, 0.0, 0.0, 4.0, 0.0, 9.0]  # row by row: xx, xy, xz, yy, yz, zz
        bare = self.image("bare.nrrd", (n, n, n), tensor * n**3, per_voxel=6)
        self.expect(3, "solve", bare, "-o", "b.nrrd", "--source", "0", "--velocity-tensor-array", "speed",
                    words=["--tensor-order"])
        summary = self.succeed_json("solve", bare, "-o", "b.nrrd", "--source", "0", "--velocity-tensor-array", "speed",
                                    "--tensor-order", "fsl", "--order", "2", "--source-init", "factored")
        self.assertAlmostEqual(summary["max_time"], (n - 1) * math.sqrt(1 + 1 / 4 + 1 / 9), delta=1e-5)

    def test_what_is_refused(self):
        image = self.image("a.nrrd", (4, 4, 4), [1.0] * 64)
        solve = ("solve", image, "-o", "b.nrrd")
        self.expect(2, *solve, words=["no source"])
        self.expect(2, "solve", image, "--source", "0", words=["no output"])
        self.expect(3, *solve, "--source", "64", words=["64", "image", "63"])
        self.expect(3, *solve, "--source-point", "9,0,0", words=["outside the image"])
        self.expect(2, *solve, "--source", "0", "--order", "3", words=["order 3"])
        self.expect(2, *solve, "--source", "0", "--scheme", "upwind", words=["lax-friedrichs"])
        self.expect(2, *solve, "--source", "0", "--method", "fmm", words=["fmm", "adaptive"])
        self.expect(2, *solve, "--source", "0", "--each-source", words=["only one source"])
        self.expect(2, *solve, "--source-levelset", "speed", words=["--source-levelset", "meshes"])
        self.expect(2, "solve", image, "-o", "b.vtu", "--source", "0", words=["b.vtu"])
        self.expect(3, *solve, "--source", "0", "--speed-array", "v", words=["'v'"])
        bad = self.image("bad.nrrd", (4, 4, 4), [1.0] * 60 + [-1.0] * 4)
        self.expect(3, "solve", bad, "-o", "b.nrrd", "--source", "0", "--speed-array", "speed", words=["4 of 64"])
