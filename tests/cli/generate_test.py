"""isochron generate, and info on what it made."""

import struct

from cli_case import CliCase
from nifti import read_nifti


class Generate(CliCase):
    def info(self, file):
        return self.succeed_json("info", file)["files"][0]

    def test_every_kind(self):
        sizes = {
            "square": ("--n", "5"),
            "irregular-square": ("--n", "8"),
            "cube": ("--n", "4"),
            "irregular-cube": ("--n", "5"),
            "sphere": ("--frequency", "4"),
            "ventricle": ("--edge", "5"),
            "lens": ("--n", "12"),
            "blobs": ("--n", "12"),
        }
        for kind, size in sizes.items():
            made = self.succeed_json("generate", kind, *size, "-o", kind + ".msh")
            found = self.info(kind + ".msh")
            self.assertEqual(made["vertices"], found["points"], kind)
            self.assertEqual(made["triangles"], found["triangles"], kind)
            self.assertEqual(made["tetrahedra"], found["tetrahedra"], kind)
            self.assertGreater(made["triangles"] + made["tetrahedra"], 0, kind)
            self.assertTrue(found["meshes"][0]["sound"], kind)
            self.assertEqual(found["meshes"][0]["inverted"], 0, kind)
            self.assertEqual(found["meshes"][0]["components"], 1, kind)

    def test_cube_with_three_sizes(self):
        made = self.succeed_json("generate", "cube", "--n", "3,4,5", "--extent", "2,3,4", "-o", "a.msh")
        self.assertEqual(made["vertices"], 60)
        self.assertEqual(self.info("a.msh")["meshes"][0]["high"], [2, 3, 4])

    def test_carp_files_are_expected_in_other_units(self):
        for kind, size in (("cube", ("--n", "3")), ("ventricle", ("--edge", "9"))):
            done = self.succeed("generate", kind, *size, "-o", kind + ".elem")
            self.assertEqual(done.stderr.count("CARP files are in µm"), 1)
            self.assertIn("--length-unit mm", done.stderr)

    def test_cube_diagonals_differ(self):
        files = {}
        for diagonal in ("ppp", "npp", "pnp", "ppn"):
            self.succeed("generate", "cube", "--n", "3", "--diagonal", diagonal, "-o", diagonal + ".msh")
            files[(self.folder / (diagonal + ".msh")).read_bytes()] = diagonal
        self.assertEqual(len(files), 4)

    def test_sphere_has_the_paper_count(self):
        self.assertEqual(self.succeed_json("generate", "sphere", "--frequency", "7", "-o", "a.off")["vertices"], 492)

    def test_same_seed_same_mesh(self):
        for name, seed in (("a.msh", 1), ("b.msh", 1), ("c.msh", 2)):
            self.succeed("generate", "cube", "--n", "5", "--jitter", "0.2", "--seed", seed, "-o", name)
        contents = [(self.folder / name).read_bytes() for name in ("a.msh", "b.msh", "c.msh")]
        self.assertEqual(contents[0], contents[1])
        self.assertNotEqual(contents[0], contents[2])

    def test_ventricle_has_fibres(self):
        self.succeed("generate", "ventricle", "--edge", "5", "-o", "a.msh")
        found = self.info("a.msh")
        arrays = {array["name"]: array for array in found["arrays"]}
        for name in ("fiber", "sheet"):
            self.assertEqual((arrays[name]["on"], arrays[name]["components"]), ("tetrahedra", 3))
        self.assertEqual(arrays["transmural"]["on"], "points")
        self.assertIn("fiber", found["choices"]["fibers"])

    def test_lens_has_regions_and_speeds(self):
        self.succeed("generate", "lens", "--n", "12", "-o", "a.msh")
        arrays = {array["name"]: array for array in self.info("a.msh")["arrays"]}
        self.assertEqual((arrays["region"]["min"], arrays["region"]["max"]), (0, 1))
        self.assertAlmostEqual(arrays["speed"]["min"], 1 / 2.419, places=6)

    def test_random_fields(self):
        self.succeed("generate", "cube", "--n", "5", "--random-speed", "3,0.5,2", "--random-tensors", "3",
                     "--random-fibers", "-o", "a.msh")
        found = self.info("a.msh")
        arrays = {array["name"]: array for array in found["arrays"]}
        self.assertGreaterEqual(arrays["speed"]["min"], 0.5)
        self.assertLessEqual(arrays["speed"]["max"], 2)
        self.assertEqual(arrays["metric"]["components"], 9)
        self.assertEqual(arrays["fiber"]["components"], 3)
        self.assertIn("speed", found["choices"]["speed_array"])
        self.assertIn("metric", found["choices"]["tensor_array"])
        for option in ("--speed-array=speed", "--metric-array=metric"):
            self.succeed("solve", "a.msh", "-o", "b.msh", "--source", "0", option, "--verify", "--force")

    def test_rotating_fibers(self):
        self.succeed("generate", "cube", "--n", "4", "--rotating-fibers", "0.5,2", "-o", "a.msh")
        self.assertEqual(self.info("a.msh")["choices"]["fibers"], ["fiber"])
        self.expect(2, "generate", "cube", "--n", "4", "--rotating-fibers", "1,3", "-o", "b.msh", words=("axis",))

    def test_bad_sizes_are_usage_errors(self):
        for arguments in (("square", "--n", "1"), ("cube", "--n", "2,2"), ("cube", "--n", "1"), ("cube", "--jitter", "7"),
                          ("sphere", "--frequency", "0"), ("cube", "--diagonal", "up"), ("cube", "--random-speed", "a"),
                          ("cube", "--n", "4", "--random-speed", "2,-1,1"), ("ventricle", "--edge", "-1")):
            self.expect(2, "generate", *arguments, "-o", "a.msh")

    def test_messages_say_what_to_do(self):
        for arguments, words in ((("cube", "--jitter", "0.7"), ("jitter", "0.7", "; choose")),
                                 (("square", "--extent", "0"), ("extent", "; give a positive number")),
                                 (("sphere", "--radius=-1"), ("radius", "-1", "; give a positive number")),
                                 (("lens", "--thickness", "2"), ("thick", "; choose")),
                                 (("blobs", "--speed-inside", "0"), ("speed inside", "; give a positive number")),
                                 (("irregular-cube", "--random-faces", "2"), ("random faces", "; choose 0 to 1")),
                                 (("ventricle", "--base", "60"), ("base", "; choose between")),
                                 (("cube", "--n", "4", "--random-speed", "1,2,1"), ("2 and 1", "; give"))):
            self.expect(2, "generate", *arguments, "-o", "a.msh", words=words)

    def test_output_is_required(self):
        self.expect(2, "generate", "cube", words=("--output",))

    def test_existing_output_needs_force(self):
        self.succeed("generate", "cube", "--n", "3", "-o", "a.msh")
        self.expect(3, "generate", "cube", "--n", "4", "-o", "a.msh", words=("a.msh", "--force"))
        self.succeed("generate", "cube", "--n", "4", "-o", "a.msh", "--force")
        self.assertEqual(self.info("a.msh")["points"], 64)

    def test_surface_format_refuses_tetrahedra(self):
        self.expect(2, "generate", "cube", "--n", "3", "-o", "a.off", words=("a.off", "tetrahedra"))

    def test_arrays_that_a_format_cannot_hold_are_named(self):
        made = self.succeed_json("generate", "lens", "--n", "8", "-o", "a.mesh")
        self.assertEqual(made["arrays"], ["medit:ref"])
        self.assertEqual(len(made["warnings"]), 1)
        self.assertIn("left out speed", made["warnings"][0])
        self.assertEqual([array["name"] for array in self.info("a.mesh")["arrays"]], made["arrays"])
        done = self.succeed("generate", "ventricle", "--edge", "8", "-o", "a.elem")
        self.assertIn("arrays   fiber, sheet\n", done.stdout)
        self.assertRegex(done.stderr, r"^isochron: warning: a.elem: left out transmural, apicobasal \(.*\n")
        for name in ("a.off", "a.stl", "a.obj"):
            made = self.succeed_json("generate", "sphere", "--frequency", "3", "--random-speed", "1", "-o", name)
            self.assertEqual((made["arrays"], len(made["warnings"])), ([], 1), name)
        made = self.succeed_json("generate", "lens", "--n", "8", "-o", "a.ele")
        self.assertEqual((made["arrays"], made["warnings"]), (["region", "speed"], []))

    def test_carp_fibres_need_fibres(self):
        self.expect(2, "generate", "cube", "--n", "3", "-o", "a.lon", words=("a.lon", "no fibres", "a.elem"))
        self.succeed("generate", "cube", "--n", "3", "--random-fibers", "-o", "a.lon")
        self.assertEqual(self.files(), ["a.elem", "a.lon", "a.pts"])

    def test_one_kind_of_fibres(self):
        self.expect(2, "generate", "cube", "--n", "3", "--random-fibers", "--rotating-fibers", "1", "-o", "a.msh",
                    words=("--random-fibers", "--rotating-fibers"))

    def test_text_summary(self):
        done = self.succeed("generate", "cube", "--n", "3", "-o", "a.msh")
        self.assertIn("27 vertices, 48 tetrahedra", done.stdout)
        self.assertEqual(done.stderr, "")

    def test_every_kind_of_image(self):
        kinds = {
            "diagonal-tensors": (("--n", "6,5,4"), [6, 5, 4], ["velocity_tensor"]),
            "helix-tensors": (("--n", "16", "--turns", "1"), [16, 16, 16], ["velocity_tensor"]),
            "crossing-fibers": (("--n", "12,12,4"), [12, 12, 4], ["tensor", "mask", "fa"]),
            "layers": (("--n", "20,9"), [20, 9, 1], ["speed", "layer"]),
            "salt": (("--n", "20"), [20, 20, 1], ["speed", "salt"]),
            "phantom": (("--n", "20"), [20, 20, 20], ["label", "density"]),
        }
        for kind, (size, shape, arrays) in kinds.items():
            made = self.succeed_json("generate", kind, *size, "-o", kind + ".nii.gz")
            self.assertEqual((made["shape"], made["arrays"]), (shape, arrays), kind)
            files = [kind + ".nii.gz", *(f"{kind}_{array}.nii.gz" for array in arrays[1:])]
            self.assertEqual(made["written"], files)
            for file in files:
                found, values = read_nifti(self.folder / file)
                self.assertEqual(found[:3], shape, file)
                self.assertGreater(max(values), 0, file)

    def test_image_of_one_tensor(self):
        self.succeed("generate", "diagonal-tensors", "--n", "3", "-o", "a.nii")
        shape, values = read_nifti(self.folder / "a.nii")
        self.assertEqual(shape, [3, 3, 3, 6])
        # NIfTI's matrices are lower triangles row by row: xx, xy, yy, xz, yz, zz.
        for component, expected in enumerate((1, 0.9, 1, 0.9, 0.9, 1)):
            self.assertAlmostEqual(values[27 * component + 5], expected, places=6)

    def test_images_are_not_replaced(self):
        self.write("a_fa.nii", "mine")
        self.expect(3, "generate", "crossing-fibers", "--n", "8", "-o", "a.nii", words=("a_fa.nii", "exists already"))
        self.succeed("generate", "crossing-fibers", "--n", "8", "-o", "a.nii", "--force")

    def test_bad_images_are_usage_errors(self):
        for arguments in (("diagonal-tensors", "--n", "1"), ("diagonal-tensors", "--n", "4,4"),
                          ("diagonal-tensors", "--coupling", "1"), ("helix-tensors", "--tube", "0.4"),
                          ("crossing-fibers", "--angle", "0"), ("layers", "--n", "4,4,4"), ("layers", "--layers", "0"),
                          ("salt", "--roughness", "1"), ("salt", "--spacing", "0"), ("phantom", "--wall", "0.3")):
            self.expect(2, "generate", *arguments, "-o", "a.nii")
        self.expect(2, "generate", "layers", "-o", "a.vtu", words=(".nii",))

    def test_image_from_raw_numbers(self):
        (self.folder / "a.bin").write_bytes(struct.pack("<6f", *range(6)))
        self.succeed("generate", "from-raw", "a.bin", "--shape", "3,2", "--type", "float32le", "-o", "a.nii")
        self.assertEqual(read_nifti(self.folder / "a.nii"), ([3, 2, 1], (0, 1, 2, 3, 4, 5)))
        made = self.succeed_json("generate", "from-raw", "a.bin", "--shape", "3,2", "--swap", "-o", "b.nii")
        self.assertEqual(made["arrays"], ["speed"])
        self.assertEqual(read_nifti(self.folder / "b.nii"), ([2, 3, 1], (0, 3, 1, 4, 2, 5)))
        (self.folder / "c.bin").write_bytes(b"skip" + struct.pack(">8h", *range(8)))
        self.succeed("generate", "from-raw", "c.bin", "--shape", "2,2,2", "--type", "int16be", "--skip", "4", "-o",
                     "c.nii", "--spacing", "2,3,4")
        self.assertEqual(read_nifti(self.folder / "c.nii"), ([2, 2, 2], tuple(range(8))))
        self.write("d.txt", "1 2 3\n4 5 6\n")
        self.succeed("generate", "from-raw", "d.txt", "--type", "text", "-o", "d.nii")
        self.assertEqual(read_nifti(self.folder / "d.nii"), ([3, 2, 1], (1, 2, 3, 4, 5, 6)))

    def test_bad_raw_files(self):
        (self.folder / "a.bin").write_bytes(bytes(24))
        self.expect(3, "generate", "from-raw", "a.bin", "--shape", "3,3", "-o", "a.nii", words=("a.bin",))
        self.expect(3, "generate", "from-raw", "a.bin", "--shape", "2,2", "-o", "a.nii", words=("more bytes",))
        self.expect(2, "generate", "from-raw", "a.bin", "-o", "a.nii", words=("--shape is required",))
        self.expect(2, "generate", "from-raw", "a.bin", "--shape", "3,2", "--type", "text", "-o", "a.nii")
        self.expect(2, "generate", "from-raw", "a.bin", "--shape", "3,2", "--type", "float", "-o", "a.nii",
                    words=("float32",))
        self.expect(2, "generate", "from-raw", "a.bin", "--shape", "3,2", "--spacing", "1,2", "-o", "a.nii")
        self.expect(3, "generate", "from-raw", "none.bin", "--shape", "3,2", "-o", "a.nii", words=("none.bin",))
