"""Where the front starts."""

from cli_case import TET, TET_POINTS, CliCase, square_mesh
from small_files import write_nrrd


class Sources(CliCase):
    def setUp(self):
        super().setUp()
        self.points, self.triangles = square_mesh(11)
        left = [(1 if x == 0 else 0,) for x, _, _ in self.points]
        level = [(x - 0.25,) for x, _, _ in self.points]
        middle = [(x - 0.5,) for x, _, _ in self.points]
        column = [(7 if i // 2 % 10 == 9 else 3,) for i in range(len(self.triangles))]
        self.write_msh("a.msh", self.points, self.triangles,
                       point_arrays={"left": left, "level": level, "middle": middle}, cell_arrays={"column": column})

    def solve(self, *options):
        return self.succeed_json("solve a.msh -o out.msh --force --verify", *options)

    def range_of(self, name):
        array = self.arrays("out.msh")[name]
        return array["min"], array["max"]

    def test_id_lists_and_ranges(self):
        self.assertAlmostEqual(self.solve("--source 0-10")["max_time"], 1, places=6)
        self.assertAlmostEqual(self.solve("--source 0,1,2-9 --source 10")["max_time"], 1, places=6)
        self.assertEqual(self.range_of("source"), (0, 10))

    def test_bad_id_lists(self):
        for text in ("", "1,,2", "a", "1-2-3", "5-3", "1.5", "-", "4294967295", "99999999999999999999"):
            self.expect(2, f"solve a.msh -o b.msh --source={text}", words="--source")
        self.expect(2, "solve a.msh -o b.msh --source -1", words=("'-1'", "count from 0"))
        self.expect(2, "solve a.msh -o b.msh --source 1e3", words=("'1e3'", "like 0,5,10-20"))

    def test_point(self):
        summary = self.solve("--source-point 0.5,0.5")
        self.assertAlmostEqual(summary["max_time"], 0.5**0.5, delta=0.01)
        self.assertAlmostEqual(self.solve("--source-point 0.5,0.5,0")["max_time"], summary["max_time"])

    def test_several_points(self):
        self.solve("--source-point 0,0 --source-point 1,1")
        self.assertEqual(self.range_of("source"), (0, 1))

    def test_the_same_source_twice_is_one(self):
        self.assert_fields(self.solve("--source 60"), point_sources=1, source_balls=1)
        self.assert_fields(self.solve("--source 60,60 --source 60"), point_sources=1, source_balls=1)
        points = "--source-point 0.52,0.53 --source-point 0.52,0.53"
        self.assert_fields(self.solve(points), point_sources=1, source_balls=1)
        self.assert_fields(self.solve("--source 60,70,60"), point_sources=2)
        self.solve("--source 60,60 --source-levelset level")
        self.assertEqual(self.range_of("source")[1], 2)  # numbers are those of what was given
        self.write("later.txt", "60 0\n60 0.5\n")
        self.assert_fields(self.solve("--source-file later.txt"), point_sources=2)
        write_nrrd(self.folder / "a.nrrd", (9, 9, 9), [1.0] * 9**3)
        summary = self.succeed_json("solve a.nrrd -o out.npy --source 364,364 --source-point 4,4,4")
        self.assert_fields(summary, point_sources=1, source_balls=1)

    def test_negative_coordinates(self):
        self.expect(3, "solve a.msh -o b.msh --source-point -5,-5,0", words=("a.msh", "-5"))

    def test_odd_files(self):
        for text in ("\n# c\n0 1\n\n5\n", "0 0\r\n5 1\r\n", "\ufeff0 0\n", "0,0\n5;1\n"):
            self.write("s.txt", text)
            self.solve("--source-file s.txt")
        for text in ("# nothing\n\n", "", "0 1 2 3 4\n", "0 1\n0 1 2\n", "0 1 2\n0 1\n", "1e3 0\n", "-1 0\n", "0 nan\n", "id time\n0 1\n"):
            self.write("s.txt", text)
            self.expect(3, "solve a.msh -o b.msh --source-file s.txt", words=("s.txt", "; "))

    def test_bad_points(self):
        for text in ("1", "1,2,3,4", "a,b,c", "nan,0,0", "inf,0,0"):
            self.expect(2, f"solve a.msh -o b.msh --source-point {text}", words="--source-point")

    def test_file_with_times(self):
        self.write("s.txt", "# id time\n0 0.5\n120 0\n")
        self.solve("--source-file s.txt")
        self.assertEqual(self.range_of("source"), (0, 1))
        self.assertEqual(self.range_of("arrival_time")[0], 0)

    def test_file_of_points(self):
        self.write("points.txt", "# x y z time\n0.5 0.5 0\n0.05 0.05 0 0.2\n")
        found = self.solve("--source-file points.txt --source-time 0.1")
        self.assertEqual(self.range_of("source"), (0, 1))
        for onset, point in ((0.1, "0.5,0.5"), (0.2, "0.05,0.05")):
            alone = self.solve(f"--source-point {point} --source-time {onset}")
            self.assertLessEqual(found["max_time"], alone["max_time"])
        self.assertAlmostEqual(found["max_time"], 0.1 + 0.5**0.5, delta=0.01)
        self.expect(2, "solve a.msh -o b.npy --source-file points.txt --each-source --matrix m.csv", words="--matrix")

    def test_vtx_file(self):
        self.write("s.vtx", "2\nextra\n0\n10\n")
        self.solve("--source-file s.vtx --source-time 3")
        self.assertEqual(self.range_of("arrival_time")[0], 3)

    def test_file_with_a_bad_id(self):
        self.write("s.txt", "0 1\n500 1\n")
        self.expect(3, "solve a.msh -o b.msh --source-file s.txt", words=("s.txt", "500", "0…120"))
        self.expect(3, "solve a.msh -o b.msh --source-file none.txt", words="none.txt")

    def test_tag_on_points(self):
        self.assertAlmostEqual(self.solve("--source-tag left=1")["max_time"], 1, places=6)

    def test_tag_on_cells(self):
        self.assertAlmostEqual(self.solve("--source-tag column=7")["max_time"], 0.9, places=6)

    def test_tag_on_the_other_cells(self):
        self.write_msh("b.msh", TET_POINTS, [(1, 2, 3)], TET, cell_arrays={"patch": [(5,), (0,)]})
        summary = self.succeed_json("solve b.msh -o out.msh --source-tag patch=5")
        self.assertEqual(summary["element_kind"], "tet")
        self.assertEqual(self.range_of("arrival_time")[0], 0)
        self.assertAlmostEqual(summary["max_time"], 3**-0.5, places=6)

    def test_bad_tags(self):
        self.expect(3, "solve a.msh -o b.msh --source-tag left=9", words=("a.msh", "left = 9"))
        self.expect(3, "solve a.msh -o b.msh --source-tag right=1", words=("a.msh", "right"))
        self.expect(2, "solve a.msh -o b.msh --source-tag left", words="--source-tag")

    def test_onset(self):
        self.assertAlmostEqual(self.solve("--source 0 --source-time 10")["max_time"], 10 + 2**0.5, delta=0.05)
        self.assertAlmostEqual(self.solve("--source 0 --source-time -10")["max_time"], -10 + 2**0.5, delta=0.05)

    def test_level_set_between_vertices(self):
        self.assertAlmostEqual(self.solve("--source-levelset level")["max_time"], 0.75, places=5)

    def test_level_set_through_vertices(self):
        self.assertAlmostEqual(self.solve("--source-levelset middle")["max_time"], 0.5, places=5)

    def test_bad_level_sets(self):
        self.expect(3, "solve a.msh -o b.msh --source-levelset none", words=("a.msh", "none", "level"))
        points = [(1.0,)] * len(self.points)
        self.write_msh("c.msh", self.points, self.triangles, point_arrays={"one": points})
        self.expect(3, "solve c.msh -o b.msh --source-levelset one", words="c.msh")
