"""isochron generate, and info on what it made."""

import struct

from cli_case import CliCase
from small_files import read_nifti


class Generate(CliCase):
    def test_every_kind(self):
        for kind, size in (("square", "--n 5"), ("irregular-square", "--n 8"), ("cube", "--n 4"),
                           ("irregular-cube", "--n 5"), ("sphere", "--frequency 4"), ("ventricle", "--edge 5"),
                           ("lens", "--n 12"), ("blobs", "--n 12")):
            with self.subTest(kind):
                made = self.succeed_json(f"generate {kind} {size} -o {kind}.msh")
                found = self.info(kind + ".msh")
                self.assert_fields(found, points=made["vertices"], triangles=made["triangles"],
                                   tetrahedra=made["tetrahedra"])
                self.assertGreater(made["triangles"] + made["tetrahedra"], 0)
                self.assert_fields(found["meshes"][0], sound=True, inverted=0, components=1)

    def test_cube_with_three_sizes(self):
        self.assertEqual(self.succeed_json("generate cube --n 3,4,5 --extent 2,3,4 -o a.msh")["vertices"], 60)
        self.assertEqual(self.info("a.msh")["meshes"][0]["high"], [2, 3, 4])

    def test_carp_files_are_expected_in_other_units(self):
        for kind, size in (("cube", "--n 3"), ("ventricle", "--edge 9")):
            done = self.succeed(f"generate {kind}", size, "-o", kind + ".elem")
            self.assertEqual(done.stderr.count("CARP files are in µm"), 1)
            self.assertIn("--length-unit mm", done.stderr)

    def test_cube_diagonals_differ(self):
        files = {}
        for diagonal in ("ppp", "npp", "pnp", "ppn"):
            self.succeed(f"generate cube --n 3 --diagonal {diagonal} -o", diagonal + ".msh")
            files[self.read_bytes(diagonal + ".msh")] = diagonal
        self.assertEqual(len(files), 4)

    def test_sphere_has_the_paper_count(self):
        self.assertEqual(self.succeed_json("generate sphere --frequency 7 -o a.off")["vertices"], 492)

    def test_same_seed_same_mesh(self):
        for name, seed in (("a.msh", 1), ("b.msh", 1), ("c.msh", 2)):
            self.succeed(f"generate cube --n 5 --jitter 0.2 --seed {seed} -o {name}")
        contents = [self.read_bytes(name) for name in ("a.msh", "b.msh", "c.msh")]
        self.assertEqual(contents[0], contents[1])
        self.assertNotEqual(contents[0], contents[2])

    def test_ventricle_has_fibres(self):
        self.succeed("generate ventricle --edge 5 -o a.msh")
        arrays, choices = self.arrays("a.msh"), self.info("a.msh")["choices"]
        for name in ("fiber", "sheet"):
            self.assert_fields(arrays[name], on="tetrahedra", components=3)
        self.assertEqual(arrays["transmural"]["on"], "points")
        self.assertIn("fiber", choices["fibers"])

    def test_lens_has_regions_and_speeds(self):
        self.succeed("generate lens --n 12 -o a.msh")
        arrays = self.arrays("a.msh")
        self.assert_fields(arrays["region"], min=0, max=1)
        self.assertAlmostEqual(arrays["speed"]["min"], 1 / 2.419, places=6)

    def test_random_fields(self):
        self.succeed("generate cube --n 5 --random-speed 3,0.5,2 --random-tensors 3 --random-fibers -o a.msh")
        arrays, choices = self.arrays("a.msh"), self.info("a.msh")["choices"]
        self.assertGreaterEqual(arrays["speed"]["min"], 0.5)
        self.assertLessEqual(arrays["speed"]["max"], 2)
        self.assertEqual(arrays["metric"]["components"], 9)
        self.assertEqual(arrays["fiber"]["components"], 3)
        self.assertIn("speed", choices["speed_array"])
        self.assertIn("metric", choices["tensor_array"])
        for option in ("--speed-array=speed", "--metric-array=metric"):
            self.succeed(f"solve a.msh -o b.msh --source 0 {option} --verify --force")

    def test_rotating_fibers(self):
        self.succeed("generate cube --n 4 --rotating-fibers 0.5,2 -o a.msh")
        self.assertEqual(self.info("a.msh")["choices"]["fibers"], ["fiber"])
        self.expect(2, "generate cube --n 4 --rotating-fibers 1,3 -o b.msh", words="axis")

    def test_bad_sizes_are_usage_errors(self):
        for arguments in ("square --n 1", "cube --n 2,2", "cube --n 1", "cube --jitter 7",
                          "sphere --frequency 0", "cube --diagonal up", "cube --random-speed a",
                          "cube --n 4 --random-speed 2,-1,1", "ventricle --edge -1"):
            self.expect(2, "generate", arguments, "-o a.msh")

    def test_messages_say_what_to_do(self):
        for arguments, words in (("cube --jitter 0.7", ("jitter", "0.7", "; choose")),
                                 ("square --extent 0", ("extent", "; give a positive number")),
                                 ("sphere --radius=-1", ("radius", "-1", "; give a positive number")),
                                 ("lens --thickness 2", ("thick", "; choose")),
                                 ("blobs --speed-inside 0", ("speed inside", "; give a positive number")),
                                 ("irregular-cube --random-faces 2", ("random faces", "; choose 0 to 1")),
                                 ("ventricle --base 60", ("base", "; choose between")),
                                 ("cube --n 4 --random-speed 1,2,1", ("2 and 1", "; give"))):
            self.expect(2, "generate", arguments, "-o a.msh", words=words)

    def test_output_is_required(self):
        self.expect(2, "generate cube", words="--output")

    def test_existing_output_needs_force(self):
        self.succeed("generate cube --n 3 -o a.msh")
        self.expect(3, "generate cube --n 4 -o a.msh", words=("a.msh", "--force"))
        self.succeed("generate cube --n 4 -o a.msh --force")
        self.assertEqual(self.info("a.msh")["points"], 64)

    def test_surface_format_refuses_tetrahedra(self):
        self.expect(2, "generate cube --n 3 -o a.off", words=("a.off", "tetrahedra"))

    def test_arrays_that_a_format_cannot_hold_are_named(self):
        made = self.succeed_json("generate lens --n 8 -o a.mesh")
        self.assertEqual((made["arrays"], len(made["warnings"])), (["medit:ref"], 1))
        self.assertIn("left out speed", made["warnings"][0])
        self.assertEqual(list(self.arrays("a.mesh")), made["arrays"])
        done = self.succeed("generate ventricle --edge 8 -o a.elem")
        self.assertIn("arrays   fiber, sheet\n", done.stdout)
        self.assertRegex(done.stderr, r"^isochron: warning: a.elem: left out transmural, apicobasal \(.*\n")
        for name in ("a.off", "a.stl", "a.obj"):
            made = self.succeed_json(f"generate sphere --frequency 3 --random-speed 1 -o {name}")
            self.assertEqual((made["arrays"], len(made["warnings"])), ([], 1), name)
        made = self.succeed_json("generate lens --n 8 -o a.ele")
        self.assert_fields(made, arrays=["region", "speed"], warnings=[])

    def test_carp_fibres_need_fibres(self):
        self.expect(2, "generate cube --n 3 -o a.lon", words=("a.lon", "no fibres", "a.elem"))
        self.succeed("generate cube --n 3 --random-fibers -o a.lon")
        self.assertEqual(self.files(), ["a.elem", "a.lon", "a.pts"])

    def test_one_kind_of_fibres(self):
        self.expect(2, "generate cube --n 3 --random-fibers --rotating-fibers 1 -o a.msh",
                    words=("--random-fibers", "--rotating-fibers"))

    def test_text_summary(self):
        done = self.succeed("generate cube --n 3 -o a.msh")
        self.assertIn("27 vertices, 48 tetrahedra", done.stdout)
        self.assertEqual(done.stderr, "")

    def test_every_kind_of_image(self):
        for kind, size, shape, arrays in (("diagonal-tensors", "--n 6,5,4", [6, 5, 4], ["velocity_tensor"]),
                                          ("helix-tensors", "--n 16 --turns 1", [16, 16, 16], ["velocity_tensor"]),
                                          ("crossing-fibers", "--n 12,12,4", [12, 12, 4], ["tensor", "mask", "fa"]),
                                          ("layers", "--n 20,9", [20, 9, 1], ["speed", "layer"]),
                                          ("salt", "--n 20", [20, 20, 1], ["speed", "salt"]),
                                          ("phantom", "--n 20", [20, 20, 20], ["label", "density"])):
            made = self.succeed_json(f"generate {kind} {size} -o {kind}.nii.gz")
            files = [kind + ".nii.gz", *(f"{kind}_{array}.nii.gz" for array in arrays[1:])]
            self.assert_fields(made, shape=shape, arrays=arrays, written=files)
            for file in files:
                found, values = read_nifti(self.folder / file)
                self.assertEqual(found[:3], shape, file)
                self.assertGreater(max(values), 0, file)

    def test_image_of_one_tensor(self):
        self.succeed("generate diagonal-tensors --n 3 -o a.nii")
        shape, values = read_nifti(self.folder / "a.nii")
        self.assertEqual(shape, [3, 3, 3, 6])
        # NIfTI's matrices are lower triangles row by row: xx, xy, yy, xz, yz, zz.
        for component, expected in enumerate((1, 0.9, 1, 0.9, 0.9, 1)):
            self.assertAlmostEqual(values[27 * component + 5], expected, places=6)

    def test_images_are_not_replaced(self):
        self.write("a_fa.nii", "mine")
        self.expect(3, "generate crossing-fibers --n 8 -o a.nii", words=("a_fa.nii", "exists already"))
        self.succeed("generate crossing-fibers --n 8 -o a.nii --force")

    def test_bad_images_are_usage_errors(self):
        for arguments in ("diagonal-tensors --n 1", "diagonal-tensors --n 4,4", "diagonal-tensors --coupling 1",
                          "helix-tensors --tube 0.4", "crossing-fibers --angle 0", "layers --n 4,4,4",
                          "layers --layers 0", "salt --roughness 1", "salt --spacing 0", "phantom --wall 0.3"):
            self.expect(2, "generate", arguments, "-o a.nii")
        self.expect(2, "generate layers -o a.vtu", words=".nii")

    def test_image_from_raw_numbers(self):
        for name, content, options, shape, values in (
                ("a.bin", struct.pack("<6f", *range(6)), "--shape 3,2 --type float32le", [3, 2, 1], (0, 1, 2, 3, 4, 5)),
                ("a.bin", struct.pack("<6f", *range(6)), "--shape 3,2 --swap", [2, 3, 1], (0, 3, 1, 4, 2, 5)),
                ("c.bin", b"skip" + struct.pack(">8h", *range(8)),
                 "--shape 2,2,2 --type int16be --skip 4 --spacing 2,3,4", [2, 2, 2], tuple(range(8))),
                ("d.txt", "1 2 3\n4 5 6\n", "--type text", [3, 2, 1], (1, 2, 3, 4, 5, 6))):
            self.write(name, content)
            made = self.succeed_json(f"generate from-raw {name} {options} -o a.nii --force")
            self.assertEqual(made["arrays"], ["speed"])
            self.assertEqual(read_nifti(self.folder / "a.nii"), (shape, values))

    def test_bad_raw_files(self):
        self.write("a.bin", bytes(24))
        for code, arguments, words in ((3, "--shape 3,3", "a.bin"), (3, "--shape 2,2", "more bytes"),
                                       (2, "", "--shape is required"), (2, "--shape 3,2 --type text", ()),
                                       (2, "--shape 3,2 --type float", "float32"),
                                       (2, "--shape 3,2 --spacing 1,2,3,4", "spacing")):
            self.expect(code, "generate from-raw a.bin", arguments, "-o a.nii", words=words)
        self.expect(3, "generate from-raw none.bin --shape 3,2 -o a.nii", words="none.bin")
