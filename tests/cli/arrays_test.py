"""What an output holds: the times without the mesh, and the arrays of the input that --arrays names."""

import csv
import gzip
import io
import math

from cli_case import TET, TET_POINTS, CliCase, square_mesh
from small_files import read_npy

RESULTS = {"arrival_time", "source", "reached"}
LOOSE = [(9, 9, 9)]  # a vertex of no element


def table(text):
    return list(csv.reader(io.StringIO(text)))


class WithoutMesh(CliCase):
    def setUp(self):
        super().setUp()
        self.write_msh("a.msh", TET_POINTS + LOOSE, tets=TET)

    def test_an_array_for_numpy(self):
        for options, kind in (("", "<f8"), ("--precision single", "<f4")):
            summary = self.succeed_json("solve a.msh --source 0 -o t.npy --force", options)
            self.assertEqual(summary["written"], ["t.npy"])
            header, values = read_npy(self.folder / "t.npy")
            self.assert_fields(header, descr=kind, fortran_order=False, shape=(5,))
            self.assertEqual([values[0], values[4]], [0, math.inf])
            self.assertAlmostEqual(max(values[:4]), summary["max_time"], places=6)
        self.expect(3, "solve a.msh --source 0 -o t.npy", words=("t.npy", "exists"))
        self.expect(2, "solve a.msh --source 0 -o t.npy.gz", words=("t.npy.gz", ".npy.gz"))

    def test_a_table(self):
        self.succeed("solve a.msh --source 0 --source-time 0.5 -o t.csv")
        rows = table(self.read_text("t.csv"))
        self.assertEqual(rows[0], ["id", "x", "y", "z", "arrival_time", "source"])
        self.assertEqual([row[0] for row in rows[1:]], ["0", "1", "2", "3", "4"])
        self.assertEqual([tuple(map(float, row[1:4])) for row in rows[1:]],
                         [tuple(map(float, p)) for p in TET_POINTS + LOOSE])
        self.assertEqual([row[4:] for row in (rows[1], rows[5])], [["0.5", "0"], ["inf", "-1"]])
        self.succeed("solve a.msh --source 0 --source-time 0.5 -o t.csv.gz")
        self.assertEqual(gzip.decompress(self.read_bytes("t.csv.gz")).decode(), self.read_text("t.csv"))

    def test_a_table_of_several_solves(self):
        self.succeed("solve a.msh --source 0,1 --each-source -o t.csv")
        rows = table(self.read_text("t.csv"))
        self.assertEqual(rows[0], ["id", "x", "y", "z", "arrival_time_0", "arrival_time_1"])
        self.assertEqual([float(time) for time in rows[1][4:]], [0, float(rows[2][4])])

    def test_a_table_of_voxels(self):
        self.succeed("generate layers --n 4 -o a.vti")
        self.succeed("solve a.vti --source 0 --speed-array speed -o t.csv")
        rows = table(self.read_text("t.csv"))
        self.assertEqual(rows[0], ["id", "x", "y", "z", "arrival_time", "source"])
        self.assertEqual(len(rows), 17)
        self.assertEqual(rows[1][1:], ["0", "0", "0", "0", "0"])
        self.succeed("solve a.vti --source 0 --speed-array speed -o t.npy")
        header, values = read_npy(self.folder / "t.npy")
        self.assertEqual(header["shape"], (4, 4))  # still an image
        self.expect(2, "solve a.vti --source 0 -o t.dat", words=(".dat", ".npy"))

    def test_what_such_files_do_not_hold(self):
        for name in ("t.npy", "t.csv", "t.dat"):
            warnings = self.succeed_json("solve a.msh --source 0 --weights --arrays none -o", name)["warnings"]
            self.assert_said("--weights has no effect", warnings)
            self.assert_said("--arrays has no effect", warnings)

    def test_they_replace_no_input(self):
        self.write("points.csv", "0 0 0\n")
        self.expect(2, "solve a.msh --source-file points.csv -o points.csv --force", words=("points.csv", "input"))


class Arrays(CliCase):
    NAMES = {"cv", "fiber", "depth", "region"}

    def setUp(self):
        super().setUp()
        points, triangles = square_mesh(5)
        count = len(triangles)
        self.write_msh("a.msh", points, triangles, point_arrays={"depth": [(x,) for x, _, _ in points]},
                       cell_arrays={"cv": [(2,)] * count, "region": [(1,)] * count, "fiber": [(1, 0, 0)] * count})
        for name in ("all.vtu", "all.vtk"):
            self.succeed("convert a.msh", name, "--arrays cv,fiber,depth,region")

    def test_only_those_named_are_kept_beside_the_results(self):
        for mesh in ("all.vtu", "all.vtk", "a.msh"):
            for kept in ("none", "fiber", "depth,cv", "region,arrival_time"):
                for output in ("b.vtu", "b.vtk", "b.ply"):
                    self.succeed("solve", mesh, "-o", output, "--source 0 --force --arrays", kept)
                    wanted = {name for name in kept.split(",") if name in self.NAMES}
                    self.assertEqual(set(self.arrays(output)), wanted | RESULTS, (mesh, kept, output))
        self.succeed("solve all.vtu -o c.vtu --source 0 --arrays cv --arrays fiber")
        self.assertEqual(set(self.arrays("c.vtu")), {"cv", "fiber"} | RESULTS)

    def test_arrays_of_the_solve_need_not_be_kept(self):
        self.write("t.txt", "1: 4\n")
        for options in ("--fibers fiber --velocity 2,1", "--speed-array cv", "--source-tag region=1", "--exclude-region 7",
                        "--source-levelset depth", "--velocity-table t.txt", "--speed-array depth --source 24"):
            source = "" if "--source" in options else "--source 0"
            for mesh in ("all.vtu", "all.vtk"):
                whole = self.succeed_json("solve", mesh, "-o b.vtu --force", source, options)
                for kept, output in (("--arrays none", "b.vtu"), ("--arrays fiber", "b.vtu"), ("", "b.npy")):
                    summary = self.succeed_json("solve", mesh, "-o", output, "--force", source, options, kept)
                    for key in ("max_time", "solves_per_vertex", "reached", "warnings"):
                        self.assertEqual(summary[key], whole[key], (options, kept))

    def test_earlier_results_are_no_arrays_to_keep(self):
        self.succeed("solve all.vtu -o b.vtu --source 0 --arrays none")
        self.succeed("solve b.vtu -o c.vtu --source 24 --arrays arrival_time")
        self.assertEqual(set(self.arrays("c.vtu")), RESULTS)
        self.succeed("solve all.vtu -o each.vtu --source 0,1 --each-source --arrays cv")
        self.assertEqual(set(self.arrays("each.vtu")), {"cv", "arrival_time_0", "arrival_time_1"})

    def test_names_that_are_not_there(self):
        for mesh in ("all.vtu", "all.vtk"):
            for output in ("b.vtu", "b.stl"):
                self.expect(3, "solve", mesh, "-o", output, "--source 0 --arrays fiber,fibre",
                            words=(mesh, "no array 'fibre' (--arrays)", "depth", "cv", "fiber", "region"))
            self.expect(3, "convert", mesh, "b.vtu --arrays nothing", words=(mesh, "no array 'nothing'", "depth"))
            # What the solve needs is asked for in the same words as without --arrays.
            for options in ("--speed-array cw", "--fibers fibre --velocity 2,1", "--source-levelset cv",
                            "--source-tag tag=1", "--velocity-table t.txt --region-array no"):
                self.write("t.txt", "1: 4\n")
                source = "" if "--source" in options else "--source 0"
                whole = self.expect(3, "solve", mesh, "-o b.vtu", source, options).stderr
                for kept in ("-o b.vtu --arrays none", "-o b.npy"):
                    self.assertEqual(self.expect(3, "solve", mesh, source, options, kept).stderr, whole)
        for given in (",", "a,,b", ""):
            self.expect(2, ["solve", "all.vtu", "-o", "b.vtu", "--source", "0", "--arrays", given], words="--arrays")

    def test_images(self):
        self.succeed("generate layers --n 4 -o a.vti")
        self.succeed("solve a.vti --source 0 --speed-array speed -o b.vti")
        self.assertEqual(set(self.arrays("b.vti")), {"speed"} | RESULTS)
        self.succeed("solve a.vti --source 0 --speed-array speed -o c.vti --arrays none")
        self.assertEqual(set(self.arrays("c.vti")), RESULTS)
        self.expect(3, "solve a.vti --source 0 -o d.vti --arrays sped", words=("a.vti", "no array 'sped'", "speed"))
        warnings = self.succeed_json("solve a.vti --source 0 -o d.nii --arrays none")["warnings"]
        self.assert_said("--arrays has no effect", warnings)
        self.succeed("convert b.vti e.vti --arrays reached,speed")
        self.assertEqual(set(self.arrays("e.vti")), {"reached", "speed"})
        self.expect(2, "convert b.vti e.nii --arrays reached,speed", words=("e.nii", "one array"))
        self.expect(2, "convert b.vti e.nii --arrays none", words=("e.nii", "nothing to write"))
        for both in ("--arrays none,speed", "--arrays none --arrays speed", "--arrays speed --arrays none"):
            self.expect(2, "convert b.vti f.vti", both, words=("--arrays none", "leaves out all"))

    def test_convert(self):
        summary = self.succeed_json("convert all.vtu b.vtk --arrays depth,cv")
        self.assertEqual(sorted(summary["arrays"]), ["cv", "depth"])
        self.assertEqual(summary["warnings"], [])
        self.assertEqual(self.succeed_json("convert all.vtu c.vtu --arrays none")["arrays"], [])
        self.assertEqual(self.succeed_json("convert all.vtu d.vtu --array cv")["arrays"], ["cv"])  # its old name
