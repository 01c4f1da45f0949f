"""isochron path: paths from a solved mesh back to its sources."""

import math
import struct

from cli_case import CliCase, TET, TET_POINTS, square_mesh


class PathTest(CliCase):
    """Every test traces on a small square or a tetrahedron."""

    def solved_square(self, name="solved.vtk", *options):
        self.write_msh("square.msh", *square_mesh(11))
        self.succeed(f"solve square.msh -o {name}", *(options or ("--source", "0")))
        return name

    def test_traces_a_straight_line(self):
        done = self.succeed_json("path", self.solved_square(), "--to 120,115 -o p.vtk --source 0")
        self.assertEqual([p["vertex"] for p in done["paths"]], [120, 115])
        first = done["paths"][0]
        self.assertAlmostEqual(first["length"], math.sqrt(2), delta=0.01)
        self.assertAlmostEqual(first["travel_time"], first["arrival_time"], delta=0.02)
        self.assert_fields(first, onset=0, source=0)
        self.assert_fields(done, guessed_sources=False, written=["p.vtk"], without_path=[])

    def test_takes_sources_from_the_file(self):
        self.solved_square("two.vtk", "--source 0,120")
        done = self.succeed_json("path two.vtk --to 1 --to 119 -o p.vtk")
        self.assertTrue(done["guessed_sources"])
        self.assertEqual([p["source"] for p in done["paths"]], [0, 1])

    def test_without_labels_the_minima_are_the_sources(self):
        points, triangles = square_mesh(5)
        times = [(math.hypot(x, y),) for x, y, _ in points]
        self.write_msh("times.msh", points, triangles, point_arrays={"t": times})
        done = self.succeed_json("path times.msh --time-array t --to 24 -o p.csv")
        self.assertAlmostEqual(done["paths"][0]["length"], math.sqrt(2), delta=0.01)

    def test_points_and_files_of_targets(self):
        self.solved_square()
        self.write("targets.txt", "a 0.5 0.52 0\nb 1 1 0\n")
        self.write("targets.vtx", "2\nextra\n7\n9\n")
        done = self.succeed_json("path solved.vtk --to-point 0.33,0.9,0 --to-file targets.txt --to-file targets.vtx",
                                 "-o p.vtp --source 0")
        self.assertEqual([p.get("name") for p in done["paths"]], [None, "a", "b", None, None])
        self.assertEqual([p.get("vertex") for p in done["paths"]][3:], [7, 9])
        for path in done["paths"]:
            self.assertAlmostEqual(path["travel_time"], path["arrival_time"], delta=0.02)

    def test_ends_at_a_point_source(self):
        self.solved_square("solved.vtk", "--source-point 0.42,0.37,0")
        self.succeed("path solved.vtk --to 120 -o p.csv --source-point 0.42,0.37,0")
        rows = self.read_text("p.csv").splitlines()
        self.assertEqual(rows[0], "path,x,y,z,time")
        start, end = ([float(x) for x in row.split(",")] for row in (rows[1], rows[-1]))
        self.assertEqual(start[:4], [0, 1, 1, 0])
        self.assertAlmostEqual(end[1], 0.42, 9)
        self.assertAlmostEqual(end[2], 0.37, 9)
        self.assertEqual(end[4], 0)
        times = [float(row.split(",")[4]) for row in rows[1:]]
        self.assertEqual(times, sorted(times, reverse=True))

    def test_writes_tracks(self):
        self.succeed("path", self.solved_square(), "--to 120,10 -o p.tck --source 0")
        data = self.read_bytes("p.tck")
        self.assertTrue(data.startswith(b"mrtrix tracks\n"))
        offset = int(data.split(b"file: . ")[1].split(b"\n")[0])
        self.assertTrue(data[:offset].endswith(b"END\n"))
        values = struct.unpack(f"<{(len(data) - offset) // 4}f", data[offset:])
        rows = [values[i:i + 3] for i in range(0, len(values), 3)]
        self.assertEqual(rows[0], (1, 1, 0))
        self.assertEqual(sum(math.isnan(row[0]) for row in rows), 2)
        self.assertTrue(math.isinf(rows[-1][0]))

    def test_lines_carry_arrays(self):
        self.succeed("path", self.solved_square(), "--to 120 -o p.vtk --source 0")
        found = self.info("p.vtk")
        self.assertEqual(found["lines"], 1)
        arrays = {a["name"]: a["on"] for a in found["arrays"]}
        self.assertEqual(arrays["arrival_time"], "points")
        for name in ("path", "vertex", "source", "length", "travel_time"):
            self.assertEqual(arrays[name], "lines")

    def test_warns_when_the_metric_is_another(self):
        self.solved_square("slow.vtk", "--source 0 --speed 0.5")
        done = self.succeed_json("path slow.vtk --to 120 -o p.vtk --source 0")
        self.assertIn("options that the times were solved with", done["warnings"][0])
        done = self.succeed_json("path slow.vtk --to 120 -o q.vtk --source 0 --speed 0.5")
        self.assertEqual(done["warnings"], [])

    def test_text_and_quiet(self):
        self.solved_square()
        done = self.succeed("path solved.vtk --to 120 -o p.vtk")
        self.assert_has_all(done.stdout, "vertex 120: length 1.41", "sources     taken from the file")
        done = self.succeed("path solved.vtk --to 120 -o q.vtk --quiet")
        self.assertEqual(done.stdout + done.stderr, "")

    def test_existing_output_needs_force(self):
        self.solved_square()
        self.write("p.vtk", "old")
        self.expect(3, "path solved.vtk --to 1 -o p.vtk", words="exists already")
        self.succeed("path solved.vtk --to 1 -o p.vtk --force")
        self.expect(2, "path solved.vtk --to 1 -o solved.vtk --force", words="is an input too")

    def test_unreached_target_has_no_path(self):
        points = TET_POINTS + [(x + 9, y, z) for x, y, z in TET_POINTS]
        self.write_msh("two.msh", points, tets=TET + [tuple(v + 4 for v in TET[0])])
        self.succeed("solve two.msh -o solved.vtk --source 0")
        self.expect(5, "path solved.vtk --to 5 -o p.vtk", words=("vertex 5", "nothing arrives there"))
        done = self.run_isochron("path solved.vtk --to 1,5 -o p.vtk")
        self.assert_failed(done, 5, ("1 of 2 targets have no path", "vertex 5"))
        self.assertTrue((self.folder / "p.vtk").exists())

    def test_times_that_are_no_solution(self):
        self.write_msh("flat.msh", *square_mesh(5), point_arrays={"arrival_time": [(3,)] * 25})
        self.expect(5, "path flat.msh --to 24 -o p.vtk --source 0", words="minimum")

    def test_bad_input(self):
        self.write_msh("plain.msh", *square_mesh(3))
        self.solved_square()
        self.expect(3, "path plain.msh --to 1 -o p.vtk", words="no point array 'arrival_time'")
        self.expect(3, "path solved.vtk --to 121 -o p.vtk", words="target id 121 is out of range")
        self.expect(3, "path solved.vtk --to-point 3,3,3 -o p.vtk", words="away from the mesh")
        self.expect(3, "path solved.vtk --to 1 --source 500 -o p.vtk", words="source id 500")
        self.expect(3, "path missing.vtk --to 1 -o p.vtk", words="no such file")

    def test_bad_usage(self):
        self.solved_square()
        self.expect(2, "path solved.vtk -o p.vtk", words="no target")
        self.expect(2, "path solved.vtk --to 1", words="--output")
        self.expect(2, "path solved.vtk --to 1.5,2,3 -o p.vtk", words="--to")
        self.expect(2, "path solved.vtk --to 1 -o p.stl", words="cannot hold")
        self.expect(2, "path solved.vtk --to 1 -o p.xyz", words="unknown extension")
