"""isochron info."""

from cli_case import TET, TET_POINTS, CliCase, square_mesh


class Info(CliCase):
    def test_formats(self):
        text = self.succeed("info --formats").stdout
        listed = self.succeed_json("info --formats")["formats"]
        known = {extension for entry in listed for extension in entry["extensions"]}
        for extension in (".msh", ".elem", ".ele", ".mesh", ".off", ".msh.gz", ".vtk", ".ply", ".stl", ".obj"):
            self.assertIn(extension, known)
            self.assertIn(extension, text)
        self.assertEqual([entry["some_arrays"] for entry in listed if entry["name"] == "CARP"],
                         [["region", "fiber", "sheet"]])
        self.assertIn("arrays kept: region, fiber, sheet", text)
        for entry in listed:
            self.assertTrue(entry["reads"], entry["name"])
            only_read = entry["name"] in ("GIFTI", "FreeSurfer surface", "TrackVis tracks")
            only_read = only_read or entry["name"].endswith("pieces")
            self.assertEqual(entry["writes"], not only_read, entry["name"])

    def test_pieces_are_one_mesh(self):
        self.write_foreign_set("a.pvtu", [([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], TET, {}),
                                          ([(1, 1, 1), (0, 1, 0), (1, 0, 0), (0, 0, 1)], TET, {})])
        self.assertIn("nothing wrong", self.succeed("info a.pvtu").stdout)
        done = self.succeed_json("solve a.pvtu --source 0 -o t.vtu")
        self.assert_fields(done, vertices=5, elements=2, reached=5)
        (self.folder / "a.pvtu_1.vtu").unlink()
        self.expect(3, "info a.pvtu", words=("a.pvtu", "piece 1 of 2", "a.pvtu_1.vtu", "missing"))

    def test_text_shows_everything(self):
        self.succeed("generate ventricle --edge 6 -o a.msh")
        text = self.succeed("info a.msh").stdout
        self.assert_has_all(text, "tetrahedra", "box", "edges", "quality", "obtuse", "fiber", "transmural", "--fibers",
                            "nothing wrong")

    def test_several_files(self):
        self.succeed("generate cube --n 3 -o a.msh")
        self.succeed("generate square --n 3 -o b.off")
        found = self.succeed_json("info a.msh b.off")["files"]
        self.assertEqual([entry["file"] for entry in found], ["a.msh", "b.off"])
        self.assertEqual([entry["points"] for entry in found], [27, 9])

    def test_faults_are_counted(self):
        points = TET_POINTS + [(5, 5, 5), (0, 0, 0)]
        tets = [(0, 1, 2, 3), (0, 1, 3, 2), (0, 1, 2, 2)]
        found = self.info(self.write_msh("a.msh", points, tets=tets))["meshes"][0]
        self.assert_fields(found, inverted=1, degenerate=1, duplicate_elements=1, unreferenced_vertices=2,
                           duplicate_points=1, sound=False)

    def test_fmm_is_safe_only_without_obtuse_corners(self):
        self.assertTrue(self.info(self.write_msh("a.msh", *square_mesh(3)))["meshes"][0]["fmm_safe"])
        flat = [(0, 0, 0), (4, 0, 0), (2, 0.5, 0)]
        self.assertFalse(self.info(self.write_msh("b.msh", flat, [(0, 1, 2)]))["meshes"][0]["fmm_safe"])

    def test_quality_of_a_closed_surface(self):
        self.succeed("generate sphere --frequency 8 -o a.off")
        found = self.info("a.off")["meshes"][0]
        surface = found["surface"]
        self.assert_fields(surface, closed=True, manifold=True, oriented=True, component_count=1, genus=0,
                           euler_characteristic=2, self_intersections=0)
        self.assertAlmostEqual(surface["volume"], 4.1, delta=0.1)
        self.assertEqual(surface["components"][0]["triangles"], 1280)
        ratio = found["shape"]["radius_ratio"]
        self.assertGreater(ratio["min"], 0.9)
        self.assertEqual(sum(ratio["histogram"]["counts"]), 1280)
        self.assertEqual(sum(found["shape"]["angles"]["histogram"]["counts"]), 3 * 1280)
        text = self.succeed("info a.off").stdout
        self.assert_has_all(text, "radius ratio mean 0.9",
                            "topology     1 component, genus 0, Euler number 2, closed\n", "volume inside 4.1",
                            "crossings    none\n")
        self.assertNotIn("radius ratios\n", text)
        text = self.succeed("info --report a.off").stdout
        self.assertRegex(text, r"radius ratios\n +0.95 … 1 +100.00 %  #{40}\n")
        self.assertRegex(text, r"angles\n +50 … 60° +[0-9.]+ %  #+\n")

    def test_quality_of_a_broken_surface(self):
        points = [(0, 0, 0), (2, 0, 0), (0, 2, 0), (0.5, 0.5, -1), (0.5, 0.5, 1), (3, 3, 0), (2, 2, 0)]
        found = self.info(self.write_msh("a.msh", points, [(0, 1, 2), (3, 4, 5), (1, 2, 6)]))["meshes"][0]
        surface = found["surface"]
        self.assert_fields(surface, closed=False, oriented=False, genus=None, component_count=2, inconsistent_edges=1,
                           self_intersections=2)
        text = self.succeed("info a.msh").stdout
        self.assert_has_all(text, "2 pairs of triangles that meet", "1 edge between opposite faces")

    def test_quality_of_tetrahedra(self):
        found = self.info(self.write_msh("a.msh", TET_POINTS, tets=TET))["meshes"][0]
        self.assertNotIn("surface", found)
        self.assertAlmostEqual(found["shape"]["dihedral_angles"]["max"], 90)
        self.assertIn("dihedrals", self.succeed("info a.msh").stdout)

    def test_mixed_elements(self):
        found = self.info(self.write_msh("a.msh", TET_POINTS, [(0, 1, 2)], TET))
        self.assertEqual([mesh["elements"] for mesh in found["meshes"]], ["tet", "triangle"])

    def test_nan_values_are_counted(self):
        name = self.write_msh("a.msh", *square_mesh(2), cell_arrays={"cv": [("nan",), (2,)]})
        found = self.info(name)
        self.assert_fields(self.arrays(name)["cv"], min=2, max=2, not_finite=1)
        self.assertNotIn("cv", found["choices"]["speed_array"])

    def test_values_of_regions_are_counted(self):
        regions = [(0,)] * 20 + [(-7,)] * 30
        name = self.write_msh("a.msh", *square_mesh(6), cell_arrays={"cv": [(0.5,)] * 50, "tissue": regions,
                                                                       "id": [(i,) for i in range(50)]})
        arrays = self.arrays(name)
        self.assertEqual(arrays["tissue"]["values"], [{"value": -7, "count": 30}, {"value": 0, "count": 20}])
        self.assertEqual((arrays["id"]["distinct"], len(arrays["id"]["values"])), (50, 20))
        self.assert_fields(arrays["cv"], distinct=None, values=[])
        text = self.succeed(f"info {name}").stdout
        self.assert_has_all(text, "values -7 (30 times), 0 (20)\n", "and 30 more\n")

    def test_meshes_that_do_not_fit_together_are_named(self):
        """Two tetrahedra of a cube's corner on one side of a face, two with the other diagonal on the other side."""
        points = [(0, 0, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1), (1, 0.5, 0.5), (-1, 0.5, 0.5)]
        tets = [(0, 1, 2, 4), (0, 2, 3, 4), (0, 1, 3, 5), (1, 2, 3, 5)]
        found = self.info(self.write_msh("a.msh", points, tets=tets))
        self.assertEqual(found["meshes"][0]["unmatched_facets"], 4)
        self.assertIn("not conforming", found["warnings"][0])
        tets[2:] = [(0, 1, 2, 5), (0, 2, 3, 5)]
        found = self.info(self.write_msh("b.msh", points, tets=tets))
        self.assertEqual((found["meshes"][0]["unmatched_facets"], found["warnings"]), (0, []))

    def test_level_sets_and_tags_are_offered(self):
        points, triangles = square_mesh(3)
        name = self.write_msh("a.msh", points, triangles, point_arrays={"phi": [(x - 0.5,) for x, _, _ in points]})
        choices = self.info(name)["choices"]
        self.assertEqual(choices["source_levelset"], ["phi"])
        self.assertIn("gmsh:physical", choices["source_tag"])

    def test_results_of_solve_are_not_offered(self):
        self.succeed("generate cube --n 3 --random-fibers -o a.msh")
        self.succeed("solve a.msh -o b.vtk --source 0 --source-time 1 --weights")
        choices = self.info("b.vtk")["choices"]
        self.assert_fields(choices, fibers=["fiber"], speed_array=[], source_levelset=[])
        self.assertNotIn("reached", choices["source_tag"])

    def test_only_what_is_named_like_a_speed_is_taken_for_one(self):
        name = self.write_msh("a.msh", *square_mesh(3), cell_arrays={"CV_long": [(0.5,)] * 8},
                              point_arrays={"size": [(0.25,)] * 9})
        self.assert_fields(self.info(name)["choices"], speed_array=["CV_long"], possible_speed_array=["size"])
        self.assertRegex(self.succeed(f"info {name}").stdout, "--speed-array, if it is a speed: +size\n")

    def test_what_surface_wrote_is_no_speed_and_one_iteration_no_plural(self):
        self.succeed("generate phantom --n 20 -o phantom.nii")
        done = self.run_isochron("surface phantom.nii --label 1 --iterations 1 -o s.ply")
        if "CGAL" in done.stderr:
            self.skipTest("built without CGAL")
        self.assertIn(" in 1 iteration (not settled)\n", done.stdout)
        self.assertEqual(self.info("s.ply")["choices"]["speed_array"], [])

    def test_one_is_no_plural(self):
        text = self.succeed("info", self.write_msh("a.msh", TET_POINTS + [(9, 9, 9)], [(0, 1, 2)], TET)).stdout
        self.assert_has_all(text, "  1 tetrahedron\n", "  1 triangle\n", "1 point without an element\n", "3 edges\n")

    def test_missing_file(self):
        self.expect(3, "info nowhere.msh", words="nowhere.msh")

    def test_no_file_is_a_usage_error(self):
        self.expect(2, "info", words="--formats")

    def test_quiet_prints_nothing(self):
        self.succeed("generate cube --n 3 -o a.msh")
        done = self.succeed("info a.msh --quiet")
        self.assertEqual(done.stdout + done.stderr, "")
