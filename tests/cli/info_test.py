"""isochron info."""

from cli_case import TET, TET_POINTS, CliCase, square_mesh


class Info(CliCase):
    def info(self, *files):
        return self.succeed_json("info", *files)["files"]

    def test_formats(self):
        text = self.succeed("info", "--formats").stdout
        listed = self.succeed_json("info", "--formats")["formats"]
        known = {extension for entry in listed for extension in entry["extensions"]}
        for extension in (".msh", ".elem", ".ele", ".mesh", ".off", ".msh.gz", ".vtk", ".ply", ".stl", ".obj"):
            self.assertIn(extension, known)
            self.assertIn(extension, text)
        self.assertEqual([entry["some_arrays"] for entry in listed if entry["name"] == "CARP"],
                         [["region", "fiber", "sheet"]])
        self.assertIn("arrays kept: region, fiber, sheet", text)
        for entry in listed:
            self.assertTrue(entry["reads"], entry["name"])
            only_read = entry["name"] in ("GIFTI", "FreeSurfer surface") or entry["name"].endswith("pieces")
            self.assertEqual(entry["writes"], not only_read, entry["name"])

    def write_piece(self, name, points):
        self.write(name, '<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian"><UnstructuredGrid>'
                   '<Piece NumberOfPoints="4" NumberOfCells="1"><Points>'
                   f'<DataArray type="Float64" NumberOfComponents="3" format="ascii">{points}</DataArray></Points><Cells>'
                   '<DataArray type="Int32" Name="connectivity" format="ascii">0 1 2 3</DataArray>'
                   '<DataArray type="Int32" Name="offsets" format="ascii">4</DataArray>'
                   '<DataArray type="UInt8" Name="types" format="ascii">10</DataArray></Cells>'
                   '</Piece></UnstructuredGrid></VTKFile>')

    def test_pieces_are_one_mesh(self):
        self.write_piece("a_0.vtu", "0 0 0  1 0 0  0 1 0  0 0 1")
        self.write_piece("a_1.vtu", "1 1 1  0 1 0  1 0 0  0 0 1")
        self.write("a.pvtu", '<VTKFile type="PUnstructuredGrid" version="0.1"><PUnstructuredGrid GhostLevel="0"><PPoints>'
                   '<PDataArray type="Float64" NumberOfComponents="3"/></PPoints>'
                   '<Piece Source="a_0.vtu"/><Piece Source="a_1.vtu"/></PUnstructuredGrid></VTKFile>')
        self.assertIn("nothing wrong", self.succeed("info", "a.pvtu").stdout)
        done = self.succeed_json("solve", "a.pvtu", "--source", 0, "-o", "t.vtu")
        self.assertEqual((done["vertices"], done["elements"], done["reached"]), (5, 2, 5))
        (self.folder / "a_1.vtu").unlink()
        self.expect(3, "info", "a.pvtu", words=("a.pvtu", "piece 1 of 2", "a_1.vtu", "missing"))

    def test_text_shows_everything(self):
        self.succeed("generate", "ventricle", "--edge", "6", "-o", "a.msh")
        text = self.succeed("info", "a.msh").stdout
        for word in ("tetrahedra", "box", "edges", "quality", "obtuse", "fiber", "transmural", "--fibers", "nothing wrong"):
            self.assertIn(word, text)

    def test_several_files(self):
        self.succeed("generate", "cube", "--n", "3", "-o", "a.msh")
        self.succeed("generate", "square", "--n", "3", "-o", "b.off")
        found = self.info("a.msh", "b.off")
        self.assertEqual([entry["file"] for entry in found], ["a.msh", "b.off"])
        self.assertEqual([entry["points"] for entry in found], [27, 9])

    def test_faults_are_counted(self):
        points = TET_POINTS + [(5, 5, 5), (0, 0, 0)]
        tets = [(0, 1, 2, 3), (0, 1, 3, 2), (0, 1, 2, 2)]
        found = self.info(self.write_msh("a.msh", points, tets=tets))[0]["meshes"][0]
        self.assertEqual(found["inverted"], 1)
        self.assertEqual(found["degenerate"], 1)
        self.assertEqual(found["duplicate_elements"], 1)
        self.assertEqual(found["unreferenced_vertices"], 2)
        self.assertEqual(found["duplicate_points"], 1)
        self.assertFalse(found["sound"])

    def test_fmm_is_safe_only_without_obtuse_corners(self):
        points, triangles = square_mesh(3)
        self.assertTrue(self.info(self.write_msh("a.msh", points, triangles))[0]["meshes"][0]["fmm_safe"])
        flat = [(0, 0, 0), (4, 0, 0), (2, 0.5, 0)]
        self.assertFalse(self.info(self.write_msh("b.msh", flat, [(0, 1, 2)]))[0]["meshes"][0]["fmm_safe"])

    def test_quality_of_a_closed_surface(self):
        self.succeed("generate", "sphere", "--frequency", "8", "-o", "a.off")
        found = self.info("a.off")[0]["meshes"][0]
        surface = found["surface"]
        self.assertEqual((surface["closed"], surface["manifold"], surface["oriented"]), (True, True, True))
        self.assertEqual((surface["component_count"], surface["genus"], surface["euler_characteristic"]), (1, 0, 2))
        self.assertEqual(surface["self_intersections"], 0)
        self.assertAlmostEqual(surface["volume"], 4.1, delta=0.1)
        self.assertEqual(surface["components"][0]["triangles"], 1280)
        ratio = found["shape"]["radius_ratio"]
        self.assertGreater(ratio["min"], 0.9)
        self.assertEqual(sum(ratio["histogram"]["counts"]), 1280)
        self.assertEqual(sum(found["shape"]["angles"]["histogram"]["counts"]), 3 * 1280)
        text = self.succeed("info", "a.off").stdout
        for line in ("radius ratio mean 0.9", "topology     1 component, genus 0, Euler number 2, closed\n",
                     "volume inside 4.1", "crossings    none\n"):
            self.assertIn(line, text)
        self.assertNotIn("radius ratios\n", text)
        text = self.succeed("info", "--report", "a.off").stdout
        self.assertRegex(text, r"radius ratios\n +0.95 … 1 +100.00 %  #{40}\n")
        self.assertRegex(text, r"angles\n +50 … 60° +[0-9.]+ %  #+\n")

    def test_quality_of_a_broken_surface(self):
        points = [(0, 0, 0), (2, 0, 0), (0, 2, 0), (0.5, 0.5, -1), (0.5, 0.5, 1), (3, 3, 0), (2, 2, 0)]
        found = self.info(self.write_msh("a.msh", points, [(0, 1, 2), (3, 4, 5), (1, 2, 6)]))[0]["meshes"][0]
        surface = found["surface"]
        self.assertEqual((surface["closed"], surface["oriented"], surface["genus"]), (False, False, None))
        self.assertEqual((surface["component_count"], surface["inconsistent_edges"]), (2, 1))
        self.assertEqual(surface["self_intersections"], 2)
        text = self.succeed("info", "a.msh").stdout
        self.assertIn("2 pairs of triangles that meet", text)
        self.assertIn("1 edge between opposite faces", text)

    def test_quality_of_tetrahedra(self):
        found = self.info(self.write_msh("a.msh", TET_POINTS, tets=TET))[0]["meshes"][0]
        self.assertNotIn("surface", found)
        self.assertAlmostEqual(found["shape"]["dihedral_angles"]["max"], 90)
        self.assertIn("dihedrals", self.succeed("info", "a.msh").stdout)

    def test_mixed_elements(self):
        found = self.info(self.write_msh("a.msh", TET_POINTS, [(0, 1, 2)], TET))[0]
        self.assertEqual([mesh["elements"] for mesh in found["meshes"]], ["tet", "triangle"])

    def test_nan_values_are_counted(self):
        points, triangles = square_mesh(2)
        name = self.write_msh("a.msh", points, triangles, cell_arrays={"cv": [("nan",), (2,)]})
        found = self.info(name)[0]
        array = [entry for entry in found["arrays"] if entry["name"] == "cv"][0]
        self.assertEqual((array["min"], array["max"], array["not_finite"]), (2, 2, 1))
        self.assertNotIn("cv", found["choices"]["speed_array"])

    def test_values_of_regions_are_counted(self):
        points, triangles = square_mesh(6)
        regions = [(0,)] * 20 + [(-7,)] * 30
        name = self.write_msh("a.msh", points, triangles, cell_arrays={"cv": [(0.5,)] * 50, "tissue": regions,
                                                                       "id": [(i,) for i in range(50)]})
        arrays = {array["name"]: array for array in self.info(name)[0]["arrays"]}
        self.assertEqual(arrays["tissue"]["values"], [{"value": -7, "count": 30}, {"value": 0, "count": 20}])
        self.assertEqual((arrays["id"]["distinct"], len(arrays["id"]["values"])), (50, 20))
        self.assertEqual((arrays["cv"]["distinct"], arrays["cv"]["values"]), (None, []))
        text = self.succeed("info", name).stdout
        self.assertIn("values -7 (30 times), 0 (20)\n", text)
        self.assertIn("and 30 more\n", text)

    def test_meshes_that_do_not_fit_together_are_named(self):
        """Two tetrahedra of a cube's corner on one side of a face, two with the other diagonal on the other side."""
        points = [(0, 0, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1), (1, 0.5, 0.5), (-1, 0.5, 0.5)]
        tets = [(0, 1, 2, 4), (0, 2, 3, 4), (0, 1, 3, 5), (1, 2, 3, 5)]
        found = self.info(self.write_msh("a.msh", points, tets=tets))[0]
        self.assertEqual(found["meshes"][0]["unmatched_facets"], 4)
        self.assertIn("not conforming", found["warnings"][0])
        tets[2:] = [(0, 1, 2, 5), (0, 2, 3, 5)]
        found = self.info(self.write_msh("b.msh", points, tets=tets))[0]
        self.assertEqual((found["meshes"][0]["unmatched_facets"], found["warnings"]), (0, []))

    def test_level_sets_and_tags_are_offered(self):
        points, triangles = square_mesh(3)
        name = self.write_msh("a.msh", points, triangles, point_arrays={"phi": [(x - 0.5,) for x, _, _ in points]})
        choices = self.info(name)[0]["choices"]
        self.assertEqual(choices["source_levelset"], ["phi"])
        self.assertIn("gmsh:physical", choices["source_tag"])

    def test_results_of_solve_are_not_offered(self):
        self.succeed("generate", "cube", "--n", "3", "--random-fibers", "-o", "a.msh")
        self.succeed("solve", "a.msh", "-o", "b.vtk", "--source", "0", "--source-time", "1", "--weights")
        choices = self.info("b.vtk")[0]["choices"]
        self.assertEqual(choices["fibers"], ["fiber"])
        self.assertEqual((choices["speed_array"], choices["source_levelset"]), ([], []))
        self.assertNotIn("reached", choices["source_tag"])

    def test_only_what_is_named_like_a_speed_is_taken_for_one(self):
        points, triangles = square_mesh(3)
        name = self.write_msh("a.msh", points, triangles, cell_arrays={"CV_long": [(0.5,)] * 8},
                              point_arrays={"size": [(0.25,)] * 9})
        choices = self.info(name)[0]["choices"]
        self.assertEqual((choices["speed_array"], choices["possible_speed_array"]), (["CV_long"], ["size"]))
        self.assertRegex(self.succeed("info", name).stdout, "--speed-array, if it is a speed: +size\n")

    def test_what_surface_wrote_is_no_speed_and_one_iteration_no_plural(self):
        self.succeed("generate", "phantom", "--n", 20, "-o", "phantom.nii")
        done = self.run_isochron("surface", "phantom.nii", "--label", 1, "--iterations", 1, "-o", "s.ply")
        if "CGAL" in done.stderr:
            self.skipTest("built without CGAL")
        self.assertIn(" in 1 iteration (not settled)\n", done.stdout)
        self.assertEqual(self.info("s.ply")[0]["choices"]["speed_array"], [])

    def test_one_is_no_plural(self):
        text = self.succeed("info", self.write_msh("a.msh", TET_POINTS + [(9, 9, 9)], [(0, 1, 2)], TET)).stdout
        for line in ("  1 tetrahedron\n", "  1 triangle\n", "1 point without an element\n", "3 edges\n"):
            self.assertIn(line, text)

    def test_missing_file(self):
        self.expect(3, "info", "nowhere.msh", words=("nowhere.msh",))

    def test_no_file_is_a_usage_error(self):
        self.expect(2, "info", words=("--formats",))

    def test_quiet_prints_nothing(self):
        self.succeed("generate", "cube", "--n", "3", "-o", "a.msh")
        done = self.succeed("info", "a.msh", "--quiet")
        self.assertEqual(done.stdout + done.stderr, "")
