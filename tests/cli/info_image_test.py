"""isochron info on images."""

import itertools
import struct

from cli_case import CliCase
from small_files import npy, write_nifti


class InfoImage(CliCase):
    def nrrd(self, name, kind, values, voxels, space="RAS"):
        head = (f"NRRD0005\ntype: float\ndimension: 4\nspace: {space}\nsizes: {len(values) // voxels} {voxels} 1 1\n"
                f"space directions: none (0,-2,0) (0,0,3) (-4,0,0)\nkinds: {kind} space space space\n"
                "endian: little\nencoding: raw\nspace origin: (1,2,3)\n\n")
        return self.write(name, head.encode() + struct.pack(f"<{len(values)}f", *values))

    def test_shape_place_and_axes(self):
        found = self.info(self.nrrd("a.nrrd", "list", [1, 2, 3, 4], 2))
        self.assert_fields(found, shape=[2, 1, 1], spacing=[2, 3, 4], axes="PSL",
                           affine=[[0, 0, -4, 1], [-2, 0, 0, 2], [0, 3, 0, 3], [0, 0, 0, 1]])
        self.assertEqual(found["arrays"][0]["meaning"], "series of 2 volumes, no tensor")
        self.assertIsNone(found["tensors"])

    def test_what_components_are_taken_to_be(self):
        meanings = {}
        for name, shape, values, code in (("mask", (2, 2), [0, 1, 1, 0], "|u1"),
                                          ("labels", (2, 2), [0, 1, 7, 0], "<i4"),
                                          ("scalar", (2, 2), [0.5, 1, 7, 0], "<f4"),
                                          ("vector", (1, 2, 1, 3), [1, 2, 3, 4, 5, 6], "<f4"),
                                          ("six", (1, 1, 1, 6), [1, 0, 0, 1, 0, 1], "<f4")):
            self.write(f"{name}.npy", npy(shape, values, code))
            meanings[name] = self.info(f"{name}.npy")["arrays"][0]["meaning"]
        self.assertEqual(meanings.pop("six"), "tensor of unknown order: give --tensor-order")
        self.assertEqual(list(meanings.values()), list(meanings))

    def test_tensors_are_summed_up(self):
        nan = float("nan")
        tensors = [[1, 0, 0, 1, 0, 1], [3, 0, 0, 0, 0, 0], [1, 0, 0, 1, 0, -0.5], [0] * 6, [nan, 0, 0, 1, 0, 1]]
        name = self.nrrd("a.nrrd", "3D-symmetric-matrix", sum(tensors, []), 5)
        found = self.info(name)["tensors"]
        self.assert_fields(found, order="row", frame="world", voxels=3, empty=1, not_finite=1, not_positive_definite=2,
                           min_fa=0)
        self.assertGreaterEqual(found["max_fa"], 1)
        text = self.succeed(f"info {name}")
        self.assertIn("order row, world frame", text.stdout)
        self.assertIn("not finite", text.stderr)

    def test_tensor_order_is_taken_from_the_user(self):
        self.write("a.npy", npy((1, 1, 1, 6), [3, 1, 1, 0, 0, 0]))
        for given, order, frame, bad in (("mrtrix", "mrtrix", "world", 0), ("fsl", "row", "fsl", 1)):
            found = self.info(f"a.npy --tensor-order {given}")["tensors"]
            self.assert_fields(found, order=order, frame=frame, not_positive_definite=bad)
        self.expect(2, "info a.npy --tensor-order other", words=("--tensor-order", "mrtrix"))

    def test_no_tensor_to_order(self):
        self.write("a.npy", npy((1, 1, 1, 5), [3, 1, 1, 0, 0]))
        self.expect(3, "info a.npy --tensor-order fsl", words=("a.npy", "no tensors"))

    def test_a_flipped_axis_is_noticed(self):
        # Thin fibres along the diagonals of the voxels, with nothing between them.
        n = 24
        for sign in (1, -1):
            values = []
            for i, j, k in itertools.product(range(n), repeat=3):
                on = (i - k) % 4 == 0 and (j - k) % 4 == 0
                values += [1, 1, 1, 0.9 * sign, 0.9 * sign, 0.9] if on else [1, 1, 1, 0, 0, 0]
            name = self.write(f"fibres{sign}.npy", npy((n, n, n, 6), values))
            done = self.succeed(f"info {name} --tensor-order mrtrix")
            self.assertEqual("x negated (coherence" in done.stderr, sign < 0, done.stderr)

    def test_raw_files(self):
        self.write("model.bin", struct.pack(">6h", 1, 2, 3, 4, 5, 6))
        found = self.info("model.bin --raw-shape 3,2 --raw-type int16be --raw-spacing 10")
        self.assertEqual((found["shape"], found["spacing"][:2]), ([3, 2, 1], [10, 10]))
        self.assert_fields(found["arrays"][0], min=1, max=6)
        self.expect(3, "info model.bin --raw-shape 3,3 --raw-type int16", words="model.bin")
        self.expect(2, "info model.bin --raw-shape 3", words="--raw-shape")
        self.expect(2, "info model.bin --raw-shape 3,2 --raw-type real", words=("real", "float32"))
        self.expect(3, "info model.bin", words=("unknown extension", ".vtk", ".nii", ".nrrd", ".npy"))
        self.write("b.npy", npy((1, 2), [1, 2]))
        self.expect(2, "info b.npy --raw-shape 2,1", words=("--raw-shape", "b.npy"))
        self.assertEqual(len(self.succeed_json("info b.npy model.bin --raw-shape 3,2 --raw-type int16")["files"]), 2)
        self.assertIn("--raw-type has no effect", self.succeed("info b.npy --raw-type int16").stderr)

    def test_missing_affine_is_a_warning_and_a_singular_one_an_error(self):
        write_nifti(self.folder / "b.nii", (2, 2, 1), [[0] * 4] * 3, b"abcd", code=2)
        head = self.read_bytes("b.nii")
        self.write("a.nii", head[:254] + b"\0\0" + head[256:])  # without an sform
        self.write("c.nii", head[:100])
        self.assertIn("affine is missing", self.succeed("info a.nii").stderr)
        self.expect(3, "info b.nii", words=("b.nii", "affine"))
        self.expect(3, "info c.nii", words="c.nii")

    def test_formats_list_images(self):
        listed = self.succeed_json("info --formats")["image_formats"]
        known = {extension for entry in listed for extension in entry["extensions"]}
        self.assert_has_all(known, ".nii.gz", ".nrrd", ".nhdr", ".vti", ".npy", ".mgz")
        self.assertIn(".nii.gz", self.succeed("info --formats").stdout)

    def test_meshes_and_images_together(self):
        self.succeed("generate cube --n 3 -o a.msh")
        self.write("b.npy", npy((1, 2), [1, 2]))
        found = self.succeed_json("info a.msh b.npy")["files"]
        self.assertEqual((found[0]["points"], found[1]["voxels"]), (27, 2))
        self.expect(2, "info a.msh --tensor-order fsl", words=("--tensor-order", "images"))
