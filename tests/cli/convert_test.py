"""isochron convert: the same mesh or image in another format."""

from cli_case import TET, TET_POINTS, CliCase, square_mesh

TAGS = ("gmsh:geometrical", "gmsh:physical")  # which Gmsh files have


class Convert(CliCase):
    def make_mesh(self):
        points, triangles = square_mesh(4)
        return self.write_msh("a.msh", points, triangles, point_arrays={"depth": [(x,) for x, _, _ in points]},
                              cell_arrays={"cv": [(2,)] * len(triangles), "fiber": [(1, 0, 0)] * len(triangles)})

    def test_meshes_keep_everything_in_formats_that_hold_it(self):
        name = self.make_mesh()
        for output in ("b.vtu", "b.vtp", "b.vtk.gz", "b.ply", "b.node", "c.msh"):
            summary = self.succeed_json("convert", name, output)
            self.assert_fields(summary, file=output, input=name, vertices=16, triangles=18, tetrahedra=0, lines=0,
                               dropped=[], warnings=[])
            self.assertEqual(sorted(summary["arrays"]), ["cv", "depth", "fiber", *TAGS])
            self.assertEqual({key: (array["on"], array["max"]) for key, array in self.arrays(output).items()},
                             {"depth": ("points", 1), "cv": ("triangles", 2), "fiber": ("triangles", 1),
                              TAGS[0]: ("triangles", 1), TAGS[1]: ("triangles", 1)})
            name = output  # the next one starts from this one

    def test_what_a_format_cannot_hold_is_named(self):
        self.make_mesh()
        done = self.succeed("convert a.msh b.stl")
        self.assertIn(f"b.stl: left out depth, cv, fiber, {TAGS[1]}, {TAGS[0]} (the format has no place for them); write .vtu", done.stderr)
        self.assertEqual(self.succeed_json("convert a.msh b.elem")["dropped"], ["depth", "cv", TAGS[0]])
        self.write_msh("mixed.msh", TET_POINTS, triangles=[(0, 1, 2)], tets=TET, cell_arrays={"q": [(1,), (2,)]})
        summary = self.succeed_json("convert mixed.msh mixed.node")
        self.assert_fields(summary, triangles=0, tetrahedra=1)
        self.assert_said("left out 1 triangle", summary["warnings"])
        self.expect(2, "convert mixed.msh mixed.off", words=["OFF files cannot hold these cells", "tetrahedra: 1"])

    def test_an_array_named_like_a_coordinate_is_kept(self):
        hostile = self.data_file("hostile/array_named_x.vtp")
        self.succeed("convert", [hostile], "b.ply")
        self.succeed("convert b.ply c.vtp")
        self.assertEqual((self.arrays("c.vtp")["x"]["min"], self.arrays("c.vtp")["x"]["max"]), (10, 40))
        self.assertIn(b"property float x_array\n", self.read_bytes("b.ply"))

    def test_images(self):
        self.succeed("generate salt --n 12 -o speed.vti --quiet")
        for output in ("a.nii.gz", "a.nrrd", "a.mgz", "a.vti"):
            summary = self.succeed_json("convert speed.vti", output)
            self.assert_fields(summary, file=output, shape=[12, 12, 1], dropped=[])
            self.assertAlmostEqual(self.info(output)["arrays"][0]["max"], self.info("speed.vti")["arrays"][0]["max"],
                                   places=5)

    def test_images_of_several_arrays(self):
        self.succeed("generate layers --n 8 -o speed.vti --quiet")
        self.succeed("solve speed.vti --source-point 0,0,0 --speed-array speed -o times.vti --quiet")
        done = self.succeed("convert times.vti a.nii")
        self.assertIn("a.nii: left out arrival_time, ", done.stderr)
        self.assertEqual(self.succeed_json("convert times.vti b.nii --array arrival_time")["arrays"], ["arrival_time"])
        self.expect(3, "convert times.vti c.nii --array nothing", words=["times.vti", "nothing", "arrival_time"])

    def test_what_makes_no_sense_is_refused(self):
        self.make_mesh()
        self.succeed("generate salt --n 6 -o speed.vti --quiet")
        self.expect(2, "convert a.msh b.nii", words=["a.msh is a mesh and b.nii an image"])
        self.expect(2, "convert speed.vti b.vtu", words=["speed.vti is an image and b.vtu a mesh"])
        self.expect(2, "convert a.msh b.xyz", words=["unknown extension '.xyz'"])
        self.expect(2, "convert a.msh b.gii", words=["only read"])
        self.expect(3, "convert none.msh b.vtu", words=["no such file"])
        self.expect(2, "convert a.msh", words=["OUTPUT"])
        self.write("b.vtu", "precious")
        self.expect(3, "convert a.msh b.vtu", words=["exists already", "--force"])
        self.succeed("convert a.msh b.vtu --force")
