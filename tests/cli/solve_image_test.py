"""isochron solve on images: answers, masks, schemes, and what is refused."""

import itertools
import math

from cli_case import CliCase, square_mesh
from small_files import read_npy, write_nifti, write_nrrd


class SolveImage(CliCase):
    def image(self, name, shape, values, **options):
        write_nrrd(self.folder / name, shape, values, **options)
        return name

    def numbers(self, name):
        """All values of an .npy file of doubles, in the file's order."""
        header, values = read_npy(self.folder / name)
        self.assertEqual(header["descr"], "<f8")
        return values

    def test_distances_in_a_small_image(self):
        n = 9
        image = self.image("a.nrrd", (n, n, n), [2.0] * n**3, spacing=(0.5, 0.5, 0.5))
        summary = self.succeed_json(f"solve {image} -o out.npy --speed-array speed --source-point 2,2,2 --verify")
        self.assert_fields(summary, element_kind="voxel", vertices=n**3, reached=n**3, unreached=0, converged=True)
        self.assertLessEqual(summary["residual"], summary["residual_limit"])
        times = self.numbers("out.npy")  # the source is in the middle: any order of the axes will do
        for voxel, time in zip(itertools.product(range(n), repeat=3), times):
            self.assertAlmostEqual(time, 0.25 * math.dist(voxel, (4, 4, 4)), delta=1e-6)

    def test_orders_schemes_and_sources(self):
        n = 12
        image = self.image("a.nrrd", (n, n, n), [1.0 + 0.01 * v for v in range(n**3)])
        last = {}
        for name, options in {"one": (), "two": ("--order", "2"), "godunov": ("--scheme", "godunov"),
                              "sweeps": ("--scheme", "godunov", "--method", "fsm"),
                              "smeared": ("--scheme", "lax-friedrichs"),
                              "factored": ("--order", "2", "--source-init", "factored")}.items():
            summary = self.succeed_json(f"solve {image} -o out.nii.gz --force --source 0 --speed-array speed --verify",
                                        *options)
            self.assertEqual(summary["reached"], n**3)
            last[name] = summary["max_time"]
        self.assertAlmostEqual(last["godunov"], last["one"], delta=1e-3)
        self.assertAlmostEqual(last["sweeps"], last["one"], delta=1e-3)
        self.assertAlmostEqual(last["two"], last["factored"], delta=0.1 * last["two"])
        self.assertEqual(self.succeed_json(f"solve {image} -o out.nrrd --source-tag speed=1.0")["reached"], n**3)
        self.write("start.txt", "0 1.5\n5 2.5\n")
        self.succeed_json(f"solve {image} -o again.nrrd --source-file start.txt")

    def test_masks(self):
        n = 8
        image = self.image("a.nrrd", (n, n, n), [1.0] * n**3)
        wall = self.image("wall.nrrd", (n, n, n), [0.0 if v % n == 4 else 1.0 for v in range(n**3)])
        summary = self.succeed_json(f"solve {image} -o out.nrrd --source 0 --mask {wall}")
        self.assert_fields(summary, reached=4 * n * n, elements=7 * n * n, unreached_in_no_element=n * n,
                           unreached_parts=1, unreached_in_parts=3 * n * n)
        other = self.image("other.nrrd", (n, n, n - 1), [1.0] * n * n * (n - 1))
        self.expect(3, f"solve {image} -o b.nrrd --source 0 --mask {other}", words="other voxels")
        self.expect(3, f"solve {image} -o b.nrrd --source 4 --mask {wall}", words="outside the mask")
        self.expect(3, f"solve {wall} --speed-array speed -o b.nrrd --source 4", words=("4,0,0", "does not conduct"))

    def test_what_does_not_conduct(self):
        """A wall with a gap: as a mask, as speed 0, as a region."""
        n = 9
        wall = [4 == i and j < 7 for k, j, i in itertools.product(range(n), repeat=3)]
        self.image("mask.nrrd", (n, n, n), [0.0 if closed else 1.0 for closed in wall])
        self.image("speed.nrrd", (n, n, n), [0.0 if closed else 2.0 for closed in wall])
        self.image("region.nrrd", (n, n, n), [13.0 if closed else 1.0 for closed in wall], content="tissue")
        far = self.succeed_json("solve speed.nrrd -o a.npy --speed 2 --source 0 --mask mask.nrrd")["max_time"]
        for options in ("speed.nrrd --speed-array speed",
                        "region.nrrd --speed 2 --exclude-region 13 --region-array tissue"):
            summary = self.succeed_json(f"solve {options} -o b.npy --force --source 0")
            self.assert_fields(summary, max_time=far, not_conducting=sum(wall), unreached=sum(wall))
        self.expect(3, "solve speed.nrrd -o c.npy --speed-array speed --source 4", words="voxel 4,0,0")

    def test_tensors_need_their_order(self):
        n = 6
        tensor = [1.0, 0.0, 0.0, 4.0, 0.0, 9.0]  # row by row: xx, xy, xz, yy, yz, zz
        bare = self.image("bare.nrrd", (n, n, n), tensor * n**3, per_voxel=6)
        self.expect(3, f"solve {bare} -o b.nrrd --source 0 --velocity-tensor-array speed", words="--tensor-order")
        summary = self.succeed_json(f"solve {bare} -o b.nrrd --source 0 --velocity-tensor-array speed",
                                    "--tensor-order fsl --order 2 --source-init factored")
        self.assertAlmostEqual(summary["max_time"], (n - 1) * math.sqrt(1 + 1 / 4 + 1 / 9), delta=1e-5)

    def test_a_few_bad_tensors_are_mended(self):
        n = 6
        good, nothing, broken = [1.0, 0.0, 0.0, 1.0, 0.0, 1.0], [0.0] * 6, [math.nan] * 6
        tensors = [good] * n**3
        tensors[7] = [1.0, 0.0, 0.0, 1.0, 0.0, -0.5]
        tensors[8] = [1.0, 2.0, 0.0, 1.0, 0.0, 1.0]
        tensors[9] = [1.0, 0.0, 0.0, 1.0, 0.0, 1e-30]
        tensors[100], tensors[200] = nothing, broken
        image = self.image("bad.nrrd", (n, n, n), sum(tensors, []), per_voxel=6)
        plain = self.image("good.nrrd", (n, n, n), good * n**3, per_voxel=6)
        for kind in ("--velocity-tensor-array", "--metric-array"):
            solve = ("--source", n**3 - 1, kind, "speed", "--tensor-order", "row", "--force", "--verify")
            exact = self.succeed_json(f"solve {plain} -o good.npy", *solve)
            self.assertEqual(exact["tensors"]["floored_voxels"], 0)
            summary = self.succeed_json(f"solve {image} -o bad.npy", *solve)
            counts = summary["tensors"]
            self.assert_fields(counts, usable_voxels=n**3 - 2, empty_voxels=1, not_finite_voxels=1,
                               not_positive_definite_voxels=3, floored_voxels=3, eigenvalue_floor=0.01)
            self.assert_fields(summary, elements=n**3 - 2, reached=n**3 - 2)
            self.assertEqual(len(summary["warnings"]), 2)
            self.assertIn("3 voxels of 214 have tensors that are not positive definite", summary["warnings"][1])
            times = self.numbers("bad.npy"), self.numbers("good.npy")
            self.assertEqual(sum(math.isinf(t) for t in times[0]), 2)
            self.assertAlmostEqual(times[0][n**3 - 2], times[1][n**3 - 2], delta=1e-6)  # far from the bad ones
        slow = self.succeed_json(f"solve {image} -o slow.npy", *solve, "--eigenvalue-floor 0.5")
        self.assertEqual(slow["tensors"]["eigenvalue_floor"], 0.5)
        text = self.succeed(f"solve {image} -o bad.npy", *solve).stdout
        self.assertIn("214 used, 2 left out (1 zero, 1 not finite); 3 not positive definite", text)
        path = self.succeed_json(f"path bad.npy --image {image} --to 0", *solve[:6], "-o p.csv")
        self.assertEqual(len(path["paths"]), 1)
        self.assert_said("1 of 1 voxel at the sources has a tensor that is not positive definite", self.succeed_json(
            f"solve {image} -o at.npy --source 8", *solve[2:])["warnings"])
        path = self.succeed_json(f"path bad.npy --image {image} --to 8", *solve[:6], "-o q.csv")
        self.assert_said("along the paths", path["warnings"])

    def test_tensors_that_are_not_symmetric_are_refused(self):
        n = 4
        good, lopsided = [1.0, 0.1, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0, 1.0], [1.0, 0.4, 0.0, -0.3, 1.0, 0.0, 0.0, 0.0, 1.0]
        values = good * 7 + lopsided + good * (n**3 - 8)
        solve = "-o b.npy --source 0 --force --velocity-tensor-array"
        for kind in (None, "3D-matrix"):
            self.succeed("solve", self.image("good.nrrd", (n, n, n), good * n**3, per_voxel=9, kind=kind), solve, "speed")
            image = self.image("bad.nrrd", (n, n, n), values, per_voxel=9, kind=kind)
            for command in (f"solve {image} {solve} speed", f"connect {image} --from voxels:0,0,0 --to voxels:3,3,3 -o c"):
                self.expect(3, command, words=("bad.nrrd", "not symmetric on 1 of 64 voxels (first: voxel 7)"))
        mask = self.image("mask.nrrd", (n, n, n), [1.0] * 7 + [0.0] + [1.0] * (n**3 - 8))
        self.succeed(f"solve {image} {solve} speed --mask {mask}")

    def test_small_eigenvalues_of_good_tensors_stay(self):
        n = 5
        flat = self.image("flat.nrrd", (n, n, n), [1.0, 0.0, 0.0, 1.0, 0.0, 1e-4] * n**3, per_voxel=6)
        summary = self.succeed_json(f"solve {flat} -o t.npy --source 0 --velocity-tensor-array speed",
                                    "--tensor-order row")
        self.assertAlmostEqual(self.numbers("t.npy")[n * n], 100, delta=1e-3)
        self.assertEqual((summary["tensors"]["floored_voxels"], summary["warnings"]), (0, []))

    def test_mostly_bad_tensors_are_refused(self):
        bad = self.image("bad.nrrd", (4, 4, 4), [1.0, 0.0, 0.0, 1.0, 0.0, -1.0] * 64, per_voxel=6)
        solve = f"solve {bad} -o t.npy --source 0 --velocity-tensor-array speed --tensor-order row"
        self.expect(3, solve, words=["64 of 64", "--tensor-order"])
        self.assertIn(" 100 % not positive definite (64 voxels)", self.succeed(f"info {bad} --tensor-order row").stdout)
        self.expect(2, solve, "--eigenvalue-floor 2", words="eigenvalue floor 2")
        image = self.image("a.nrrd", (4, 4, 4), [1.0] * 64)
        done = self.succeed(f"solve {image} -o t.npy --source 0 --eigenvalue-floor 0.1")
        self.assertIn("--eigenvalue-floor has no effect", done.stderr)
        self.write_msh("m.msh", *square_mesh(3))
        self.expect(2, "solve m.msh -o m.vtk --source 0 --eigenvalue-floor 0.1", words="images")

    def test_unknown_extensions_name_what_can_be_written(self):
        image = self.image("a.nrrd", (4, 4, 4), [1.0] * 64)
        error = self.expect(2, f"solve {image} -o t.xyz --source 0", words=[".nii", ".mgz"]).stderr
        self.assert_has_none(error, ".hdr", ".nhdr", ".vtk", ".stl")
        self.write_msh("m.msh", *square_mesh(3))
        error = self.expect(2, "solve m.msh -o m.xyz --source 0", words=[".vtu", ".stl"]).stderr
        self.assert_has_none(error, ".gii", ".pial", ".tck", ".nii")

    def test_images_without_voxels_are_refused(self):
        shapes = {"a.nrrd": (0, 4, 4), "b.nrrd": (4, 4, 0), "c.nii": (4, 0, 4), "d.nii": (4, 4, 4, 0)}
        for name, shape in shapes.items():
            if name.endswith(".nii"):
                write_nifti(self.folder / name, shape, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], [])
            else:
                self.image(name, shape, [])
            for command in (f"info {name}", f"solve {name} -o t.npy --source 0"):
                self.expect(3, command, words=[name, "nothing in the image", " x ".join(map(str, shape[:3]))])
        self.write("e.vti", '<VTKFile type="ImageData" version="0.1"><ImageData WholeExtent="0 -1 0 3 0 3" Origin="0 0 0"'
                   ' Spacing="1 1 1"><Piece Extent="0 -1 0 3 0 3"><PointData/></Piece></ImageData></VTKFile>')
        self.expect(3, "info e.vti", words="nothing in the image")

    def test_what_is_refused(self):
        image = self.image("a.nrrd", (4, 4, 4), [1.0] * 64)
        solve = f"solve {image} -o b.nrrd"
        for code, options, words in ((2, "", "no source"), (3, "--source 64", ["64", "image", "63"]),
                                     (3, "--source-point 9,0,0", "outside the image"),
                                     (2, "--source 0 --order 3", "order 3"),
                                     (2, "--source 0 --scheme upwind", "lax-friedrichs"),
                                     (2, "--source 0 --method fmm", ["fmm", "adaptive"]),
                                     (2, "--source 0 --each-source", "only one source"),
                                     (2, "--source-levelset speed", ["--source-levelset", "meshes"]),
                                     (3, "--source 0 --speed-array v", "'v'")):
            self.expect(code, solve, options, words=words)
        self.expect(2, f"solve {image} --source 0", words="no output")
        self.expect(2, f"solve {image} -o b.vtu --source 0", words="b.vtu")
        bad = self.image("bad.nrrd", (4, 4, 4), [1.0] * 60 + [-1.0] * 4)
        self.expect(3, f"solve {bad} -o b.nrrd --source 0 --speed-array speed", words="4 of 64")
