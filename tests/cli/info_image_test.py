"""isochron info on images."""

import struct

from cli_case import CliCase


def npy(shape, values, code="<f4", letter="f"):
    """The bytes of a NumPy array in C order."""
    text = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {shape}, }}\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + struct.pack(f"<{len(values)}{letter}", *values)


class InfoImage(CliCase):
    def save(self, name, data):
        (self.folder / name).write_bytes(data)
        return name

    def info(self, *arguments):
        return self.succeed_json("info", *arguments)["files"]

    def nrrd(self, name, kind, values, voxels, space="RAS"):
        head = (f"NRRD0005\ntype: float\ndimension: 4\nspace: {space}\nsizes: {len(values) // voxels} {voxels} 1 1\n"
                f"space directions: none (0,-2,0) (0,0,3) (-4,0,0)\nkinds: {kind} space space space\n"
                "endian: little\nencoding: raw\nspace origin: (1,2,3)\n\n")
        return self.save(name, head.encode() + struct.pack(f"<{len(values)}f", *values))

    def test_shape_place_and_axes(self):
        found = self.info(self.nrrd("a.nrrd", "list", [1, 2, 3, 4], 2))[0]
        self.assertEqual(found["shape"], [2, 1, 1])
        self.assertEqual(found["spacing"], [2, 3, 4])
        self.assertEqual(found["axes"], "PSL")
        self.assertEqual(found["affine"], [[0, 0, -4, 1], [-2, 0, 0, 2], [0, 3, 0, 3], [0, 0, 0, 1]])
        self.assertEqual(found["arrays"][0]["meaning"], "series of 2 volumes, no tensor")
        self.assertIsNone(found["tensors"])

    def test_what_components_are_taken_to_be(self):
        meanings = {}
        for name, shape, values, code, letter in (("mask", (2, 2), [0, 1, 1, 0], "|u1", "B"),
                                                  ("labels", (2, 2), [0, 1, 7, 0], "<i4", "i"),
                                                  ("scalar", (2, 2), [0.5, 1, 7, 0], "<f4", "f"),
                                                  ("vector", (1, 2, 1, 3), [1, 2, 3, 4, 5, 6], "<f4", "f"),
                                                  ("six", (1, 1, 1, 6), [1, 0, 0, 1, 0, 1], "<f4", "f")):
            self.save(f"{name}.npy", npy(shape, values, code, letter))
            meanings[name] = self.info(f"{name}.npy")[0]["arrays"][0]["meaning"]
        self.assertEqual(meanings.pop("six"), "tensor of unknown order: give --tensor-order")
        for name, meaning in meanings.items():
            self.assertEqual(meaning, name)

    def test_tensors_are_summed_up(self):
        nan = float("nan")
        tensors = [[1, 0, 0, 1, 0, 1], [3, 0, 0, 0, 0, 0], [1, 0, 0, 1, 0, -0.5], [0] * 6, [nan, 0, 0, 1, 0, 1]]
        name = self.nrrd("a.nrrd", "3D-symmetric-matrix", sum(tensors, []), 5)
        found = self.info(name)[0]["tensors"]
        self.assertEqual((found["order"], found["frame"]), ("row", "world"))
        self.assertEqual((found["voxels"], found["empty"], found["not_finite"]), (3, 1, 1))
        self.assertEqual(found["not_positive_definite"], 2)
        self.assertEqual(found["min_fa"], 0)
        self.assertGreaterEqual(found["max_fa"], 1)
        text = self.succeed("info", name)
        self.assertIn("order row, world frame", text.stdout)
        self.assertIn("not finite", text.stderr)

    def test_tensor_order_is_taken_from_the_user(self):
        self.save("a.npy", npy((1, 1, 1, 6), [3, 1, 1, 0, 0, 0]))
        found = self.info("a.npy", "--tensor-order", "mrtrix")[0]["tensors"]
        self.assertEqual((found["order"], found["frame"], found["not_positive_definite"]), ("mrtrix", "world", 0))
        found = self.info("a.npy", "--tensor-order", "fsl")[0]["tensors"]
        self.assertEqual((found["order"], found["frame"], found["not_positive_definite"]), ("row", "fsl", 1))
        self.expect(2, "info", "a.npy", "--tensor-order", "other", words=("--tensor-order", "mrtrix"))

    def test_no_tensor_to_order(self):
        self.save("a.npy", npy((1, 1, 1, 5), [3, 1, 1, 0, 0]))
        self.expect(3, "info", "a.npy", "--tensor-order", "fsl", words=("a.npy", "no tensors"))

    def test_a_flipped_axis_is_noticed(self):
        # Thin fibres along the diagonals of the voxels, with nothing between them.
        n, values = 24, {1: [], -1: []}
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    on = (i - k) % 4 == 0 and (j - k) % 4 == 0
                    for sign in (1, -1):
                        values[sign] += [1, 1, 1, 0.9 * sign, 0.9 * sign, 0.9] if on else [1, 1, 1, 0, 0, 0]
        for sign in (1, -1):
            name = self.save(f"fibres{sign}.npy", npy((n, n, n, 6), values[sign]))
            done = self.succeed("info", name, "--tensor-order", "mrtrix")
            self.assertEqual("x negated (coherence" in done.stderr, sign < 0, done.stderr)

    def test_raw_files(self):
        self.save("model.bin", struct.pack(">6h", 1, 2, 3, 4, 5, 6))
        found = self.info("model.bin", "--raw-shape", "3,2", "--raw-type", "int16be", "--raw-spacing", "10")[0]
        self.assertEqual((found["shape"], found["spacing"][:2]), ([3, 2, 1], [10, 10]))
        self.assertEqual((found["arrays"][0]["min"], found["arrays"][0]["max"]), (1, 6))
        self.expect(3, "info", "model.bin", "--raw-shape", "3,3", "--raw-type", "int16", words=("model.bin",))
        self.expect(2, "info", "model.bin", "--raw-shape", "3", words=("--raw-shape",))
        self.expect(2, "info", "model.bin", "--raw-shape", "3,2", "--raw-type", "real", words=("real", "float32"))
        self.expect(3, "info", "model.bin", words=("unknown extension", ".vtk", ".nii", ".nrrd", ".npy"))
        self.save("b.npy", npy((1, 2), [1, 2]))
        self.expect(2, "info", "b.npy", "--raw-shape", "2,1", words=("--raw-shape", "b.npy"))
        self.assertEqual(len(self.info("b.npy", "model.bin", "--raw-shape", "3,2", "--raw-type", "int16")), 2)
        self.assertIn("--raw-type has no effect", self.succeed("info", "b.npy", "--raw-type", "int16").stderr)

    def test_missing_affine_is_a_warning_and_a_singular_one_an_error(self):
        head = bytearray(352)
        struct.pack_into("<i", head, 0, 348)
        struct.pack_into("<8h", head, 40, 3, 2, 2, 1, 1, 1, 1, 1)
        struct.pack_into("<2h", head, 70, 2, 8)
        struct.pack_into("<8f", head, 76, 1, 2, 2, 2, 1, 1, 1, 1)
        struct.pack_into("<f", head, 108, 352)
        head[344:347] = b"n+1"
        done = self.succeed("info", self.save("a.nii", bytes(head) + b"abcd"))
        self.assertIn("affine is missing", done.stderr)
        struct.pack_into("<h", head, 254, 1)
        self.expect(3, "info", self.save("b.nii", bytes(head) + b"abcd"), words=("b.nii", "affine"))
        self.expect(3, "info", self.save("c.nii", bytes(head[:100])), words=("c.nii",))

    def test_formats_list_images(self):
        listed = self.succeed_json("info", "--formats")["image_formats"]
        known = {extension for entry in listed for extension in entry["extensions"]}
        for extension in (".nii.gz", ".nrrd", ".nhdr", ".vti", ".npy", ".mgz"):
            self.assertIn(extension, known)
        self.assertIn(".nii.gz", self.succeed("info", "--formats").stdout)

    def test_meshes_and_images_together(self):
        self.succeed("generate", "cube", "--n", "3", "-o", "a.msh")
        self.save("b.npy", npy((1, 2), [1, 2]))
        found = self.info("a.msh", "b.npy")
        self.assertEqual((found[0]["points"], found[1]["voxels"]), (27, 2))
        self.expect(2, "info", "a.msh", "--tensor-order", "fsl", words=("--tensor-order", "images"))
