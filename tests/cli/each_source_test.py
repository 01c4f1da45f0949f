"""isochron solve --each-source: a solve for every source."""

import math
import resource
import signal

from cli_case import CliCase, square_mesh
from small_files import read_npy


class EachSource(CliCase):
    def setUp(self):
        super().setUp()
        self.points, self.triangles = square_mesh(9)
        corner = [(1 if v in (0, 8, 80) else 0,) for v in range(len(self.points))]
        level = [(x - 0.3,) for x, _, _ in self.points]
        self.write_msh("a.msh", self.points, self.triangles, point_arrays={"corner": corner, "level": level})

    def each(self, *options):
        return self.succeed_json("solve a.msh --each-source --force --verify", *options)

    def read_npy(self, name):
        """The rows of a table."""
        header, numbers = read_npy(self.folder / name)
        self.assert_fields(header, descr="<f8", fortran_order=False)
        rows, columns = header["shape"]
        return [numbers[i * columns:(i + 1) * columns] for i in range(rows)]

    def read_matrix(self, name):
        return [line.split(",") for line in self.read_text(name).splitlines()]

    # ---- results

    def test_an_array_for_each_source_in_the_mesh(self):
        summary = self.each("-o out.msh --source 0,40 --source-point 1,1")
        arrays = self.arrays("out.msh")
        self.assertLessEqual({"arrival_time_0", "arrival_time_1", "arrival_time_2", "corner"}, set(arrays))
        self.assertNotIn("arrival_time", arrays)
        self.assertEqual(len(summary["sources"]), 3)
        for i, source in enumerate(summary["sources"]):
            array = arrays[f"arrival_time_{i}"]
            self.assertEqual(array["min"], 0)
            self.assertAlmostEqual(array["max"], source["max_time"], places=6)
            self.assert_fields(source, reached=81, unreached=0, converged=True)
            self.assertGreaterEqual(source["solve_seconds"], 0)
            self.assertIsNotNone(source["residual"])
        self.assertEqual([source.get("vertex") for source in summary["sources"]], [0, 40, None])
        self.assertEqual(summary["sources"][2]["point"], [1, 1, 0])
        self.assertAlmostEqual(summary["max_time"], max(source["max_time"] for source in summary["sources"]))

    def test_new_results_take_the_place_of_all_earlier_ones(self):
        for suffix in (".msh", ".ply", ".vtk"):
            self.each("-o", "three" + suffix, "--source 0,1,2")
            self.succeed("solve", "three" + suffix, "-o", "two" + suffix, "--force --each-source --source 5,6")
            names = {name for name in self.arrays("two" + suffix) if name.startswith("arrival_time")}
            self.assertEqual(names, {"arrival_time_0", "arrival_time_1"})
            self.succeed("solve", "two" + suffix, "-o", "one" + suffix, "--force --source 5")
            names = {name for name in self.arrays("one" + suffix) if name.startswith("arrival_time")}
            self.assertEqual(names, {"arrival_time"})

    def test_each_is_what_a_solve_from_it_alone_gives(self):
        self.write("s.txt", "0 0.5\n33\n80 2\n")
        summary = self.each("-o t.npy --source-file s.txt --source-time 1")
        self.assertEqual([source["onset"] for source in summary["sources"]], [0.5, 1, 2])
        rows = self.read_npy("t.npy")
        for (vertex, onset), row in zip(((0, 0.5), (33, 1), (80, 2)), rows):
            alone = self.succeed_json(f"solve a.msh -o one.msh --force --source {vertex} --source-time {onset}")
            self.assertAlmostEqual(max(row), alone["max_time"], places=9)
            self.assertEqual((row.index(min(row)), min(row)), (vertex, onset))

    def test_table_for_numpy(self):
        self.assertEqual(self.each("-o t.npy --source-tag corner=1 --precision single")["written"], ["t.npy"])
        rows = self.read_npy("t.npy")
        self.assertEqual([len(row) for row in rows], [81, 81, 81])
        for row, start in zip(rows, (0, 8, 80)):
            self.assertEqual(row[start], 0)
            self.assertAlmostEqual(row[40], 0.5**0.5, delta=0.03)

    def test_matrix_between_the_sources(self):
        summary = self.each("--source 0,8,80 --matrix m.csv -o out.msh")
        self.assertEqual(summary["written"], ["out.msh", "m.csv"])
        rows = self.read_matrix("m.csv")
        self.assertEqual(rows[0], ["vertex", "0", "8", "80"])
        self.assertEqual([row[0] for row in rows[1:]], ["0", "8", "80"])
        times = [[float(text) for text in row[1:]] for row in rows[1:]]
        for i in range(3):
            self.assertEqual(times[i][i], 0)
            for j in range(3):
                self.assertAlmostEqual(times[i][j], times[j][i], delta=0.02)
        self.assertAlmostEqual(times[0][1], 1, places=6)
        self.assertAlmostEqual(times[0][2], 2**0.5, delta=0.02)

    def test_matrix_alone(self):
        self.assertEqual(self.each("--source 0-80 --matrix m.csv")["written"], ["m.csv"])
        self.assertEqual([len(row) for row in self.read_matrix("m.csv")], [82] * 82)

    def test_parts_that_a_source_does_not_reach(self):
        points = self.points + [(x + 5, y, z) for x, y, z in self.points]
        triangles = self.triangles + [tuple(v + 81 for v in triangle) for triangle in self.triangles]
        self.write_msh("two.msh", points, triangles)
        summary = self.succeed_json("solve two.msh --each-source --source 0,81 -o t.npy --matrix m.csv")
        self.assertEqual([source["reached"] for source in summary["sources"]], [81, 81])
        self.assert_fields(summary, reached=162, warnings=[])
        self.assertEqual(self.read_npy("t.npy")[0][81:], (math.inf,) * 81)
        self.assertEqual(self.read_matrix("m.csv")[1:], [["0", "0", "inf"], ["81", "inf", "0"]])

    def test_summary_for_people(self):
        text = self.succeed("solve a.msh -o t.npy --each-source --source 0,1").stdout
        self.assertIn("2, each on its own", text)
        self.assertRegex(text, "start +ball around all sources")

    def test_all_sources_are_counted(self):
        summary = self.succeed_json("solve a.msh -o t.npy --each-source --source 0,1,7")
        self.assert_fields(summary, point_sources=3, source_balls=3)

    def test_threads_do_not_change_the_times(self):
        tables = []
        for threads in (1, 2, 3):
            self.each(f"-o t.npy --source 0-20 --backend threads --threads {threads}")
            tables.append(self.read_npy("t.npy"))
        self.assertEqual(tables, tables[:1] * 3)

    # ---- what cannot be

    def reject(self, *options, code=2, words=()):
        self.expect(code, "solve a.msh", *options, words=words)

    def test_one_source_and_level_sets(self):
        for options, words in (("--source 3", ("only one source", "--each-source")),
                               ("--source-levelset level", "--source-levelset"),
                               ("--source 0,1 --source-levelset level", "--source-levelset")):
            self.reject("-o t.npy --each-source", options, words=words)

    def test_what_goes_with_one_solve(self):
        self.write("p.txt", "0 0 0\n")
        for option, value in (("--weights", ""), ("--picture", "p.png"), ("--probe", "p.txt --probe-output p.csv")):
            self.reject(f"-o t.npy --each-source --source 0,1 {option} {value}", words=(option, "--each-source"))

    def test_what_goes_with_many(self):
        self.reject("-o t.vtu --source 0,1 --matrix m.csv", words=("--matrix", "--each-source"))
        self.reject("--each-source --source 0,1 --source-point 1,1 --matrix m.csv",
                    words=("--matrix", "--source-point"))
        self.reject("-o t.npy.gz --each-source --source 0,1", words="t.npy.gz")

    def test_names_of_outputs(self):
        each = "--each-source --source 0,1"
        self.write("old.npy", "")
        self.reject(each, "-o old.npy", code=3, words=("old.npy", "exists"))
        self.write("old.csv", "")
        self.reject(each, "-o b.msh --matrix old.csv", code=3, words=("old.csv", "exists"))
        self.write("from.csv", "0 0\n1 0\n")
        self.reject("--each-source --source-file from.csv --matrix from.csv --force", words=("from.csv", "input"))
        self.reject(each, "-o none/t.npy", code=1, words="none/t.npy")

    def test_a_matrix_is_csv(self):
        for name in ("m.npy", "m.vtu", "-"):
            self.expect(2, f"solve a.msh --each-source --source 0,1 --matrix {name}", words=".csv")

    def test_a_bad_source_leaves_nothing(self):
        self.write_msh("loose.msh", [*self.points, (9, 9, 9)], self.triangles)
        self.expect(3, "solve loose.msh --each-source --source 0,5,81 -o t.npy --matrix m.csv",
                    words=("loose.msh", "81"))
        self.reject("-o t.npy --each-source --source-point 0,0 --source-point 7,7", code=3, words=("a.msh", "7,7"))

    def test_full_disk(self):
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))}
        for option, name in (("-o", "t.npy"), ("--matrix", "m.csv")):
            self.expect(1, f"solve a.msh --each-source --source 0-80 {option} {name}", words=name, **limit)

    def test_ctrl_c_leaves_nothing(self):
        self.succeed("generate cube --n 24 -o cube.msh --quiet")
        self.interrupt(signal.SIGINT, 2, "solve cube.msh --each-source --source 0-9999 -o t.npy")
