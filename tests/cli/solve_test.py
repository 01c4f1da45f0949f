"""isochron solve: answers, options, outputs and the summary."""

import json
import math
import os
import struct

from cli_case import TET, TET_POINTS, CliCase, square_mesh

SUMMARY_KEYS = ("vertices", "elements", "method", "backend", "threads", "precision", "setup_seconds", "solve_seconds",
                "read_seconds", "write_seconds", "solves_per_vertex", "rounds", "reached", "unreached", "max_time",
                "converged", "residual", "peak_bytes", "notes", "warnings")


class Solve(CliCase):
    def make(self, kind, *options, name="a.msh"):
        self.succeed(f"generate {kind}", *options, f"-o {name} --quiet")
        return name

    def solve(self, mesh, *options, output="out.msh"):
        """The summary of a solve that must succeed."""
        return self.succeed_json(f"solve {mesh} -o {output} --force", *options)

    def test_peak_memory_is_that_of_the_command(self):
        self.make("square", "--n 5")
        large = b"x" * 400_000_000  # of the process that starts it
        self.assertLess(self.solve("a.msh", "--source 0")["peak_bytes"], len(large) // 2)

    def test_onsets_that_hide_travel_times_are_refused(self):
        self.make("cube", "--n 5")
        self.make("phantom", "--n 12", name="image.vti")
        self.write("far.txt", "0 0\n1 1e7\n")
        for mesh, output in (("a.msh", "out.msh"), ("image.vti", "out.vti")):
            solve = f"solve {mesh} -o {output}"
            self.expect(3, solve, "--source 0 --source-time=-1e15",
                        words=["onset times from -1e+15 to", "double precision has 15", "from nearer 0"])
            self.expect(3, solve, "--source-file far.txt --precision single",
                        words=["onset times from 0 to", "single precision has 6", "use --precision double"])
            self.succeed(solve, "--source-file far.txt --precision double")
            done = self.succeed(solve, "--source 0 --source-time=1e7 --precision single --force")
            self.assertIn(f"{output}: the times are rounded to about 0.6 (32-bit numbers", done.stderr)
            self.assertEqual(self.succeed(solve, "--source 0 --source-time=1e3 --precision single --force").stderr, "")

    # ---- files

    def test_round_trip_in_every_format(self):
        self.make("cube", "--n 5", name="tets.msh")
        self.make("square", "--n 5", name="triangles.msh")
        self.make("cube", "--n 5 --random-fibers", name="fibres.msh")
        tried = set()
        for entry in self.succeed_json("info --formats")["formats"]:
            if not (entry["reads"] and entry["writes"]) or ".tck" in entry["extensions"]:  # tracks hold lines alone
                continue
            for extension in entry["extensions"]:
                surface = extension.removesuffix(".gz") in (".vtp", ".ply", ".stl", ".obj", ".off")
                mesh, file, again = "triangles.msh" if surface else "tets.msh", "mesh" + extension, "again" + extension
                if extension.startswith(".lon"):
                    mesh = "fibres.msh"
                far = self.solve(mesh, "--source-point 0,0,0", output=file)["max_time"]
                back = self.solve(file, "--source-point 0,0,0", output=again)
                self.assertAlmostEqual(back["max_time"], far, places=5, msg=extension)
                self.assertEqual(back["vertices"], 25 if surface else 125, extension)
                if entry["keeps_arrays"]:
                    for name in ("arrival_time", "source", "reached"):
                        self.assertEqual(self.arrays(again)[name]["on"], "points", extension)
                    self.assertAlmostEqual(self.arrays(again)["arrival_time"]["max"], far, places=5)
                tried.add(extension)
        self.assertLessEqual({".msh", ".pts", ".elem", ".node", ".ele", ".mesh", ".off", ".vtk", ".ply", ".stl", ".obj",
                              ".vtu", ".vtp"}, tried)

    def test_arrays_of_the_input_survive(self):
        points, triangles = square_mesh(4)
        name = self.write_msh("a.msh", points, triangles, point_arrays={"depth": [(x,) for x, _, _ in points]},
                              cell_arrays={"cv": [(2,)] * len(triangles)})
        self.solve(name, "--source 0 --speed-array cv")
        self.assertEqual(self.arrays("out.msh")["depth"]["max"], 1)
        self.assertEqual(self.arrays("out.msh")["cv"]["on"], "triangles")

    def test_output_types_follow_the_precision(self):
        self.make("cube", "--n 4")
        for precision, array_type in {"single": "float32", "double": "float64"}.items():
            summary = self.solve("a.msh", f"--source 0 --precision {precision}", output="out.vtk")
            self.assertEqual(summary["precision"], precision)
            self.assertEqual(self.arrays("out.vtk")["arrival_time"]["type"], array_type)

    def test_existing_output_needs_force(self):
        self.make("cube", "--n 3")
        self.write("out.msh", "precious")
        self.expect(3, "solve a.msh -o out.msh --source 0", words=("out.msh", "--force"))
        self.assertEqual(self.read_text("out.msh"), "precious")
        self.solve("a.msh", "--source 0")

    def test_input_may_be_replaced_with_force(self):
        self.make("cube", "--n 3")
        self.expect(3, "solve a.msh -o a.msh --source 0")
        self.solve("a.msh", "--source 0", output="a.msh")
        self.assertEqual(self.arrays("a.msh")["reached"]["min"], 1)

    # ---- summary

    def test_json_has_all_keys(self):
        self.make("cube", "--n 5")
        summary = self.solve("a.msh", "--source 0 --verify")
        for key in SUMMARY_KEYS:
            self.assertIn(key, summary)
        self.assert_fields(summary, vertices=125, elements=384, reached=125, unreached=0, converged=True)
        self.assertLessEqual(summary["residual"], summary["residual_limit"])
        self.assertAlmostEqual(summary["max_time"], math.sqrt(3), delta=0.1)

    def test_json_is_one_object_and_the_only_output(self):
        self.make("cube", "--n 3")
        done = self.succeed("solve a.msh -o out.msh --source 0 --json")
        self.assertIsInstance(json.loads(done.stdout), dict)
        self.assertEqual(done.stderr, "")

    def test_text_summary(self):
        self.make("cube", "--n 3")
        text = self.succeed("solve a.msh -o out.msh --source 0 --verify").stdout
        self.assert_has_all(text, "27 vertices", "48 tetrahedra", "banded", "residual", "passed", "out.msh")

    def test_quiet_is_silent(self):
        self.write_msh("a.msh", TET_POINTS, [(0, 1, 2)], TET)
        done = self.succeed("solve a.msh -o out.msh --source 0 --quiet")
        self.assertEqual(done.stdout + done.stderr, "")

    # ---- methods

    def test_methods_agree(self):
        self.make("cube", "--n 7 --jitter 0.2")
        times = {}
        for method in ("auto", "banded", "fim", "fsm", "relabel-sync", "relabel-async"):
            times[method] = self.solve("a.msh", f"--source 3 --method {method} --verify")["max_time"]
        for precision in ("single", "double"):
            times[precision] = self.solve("a.msh", f"--source 3 --precision {precision}")["max_time"]
        for name, time in times.items():
            self.assertAlmostEqual(time, times["banded"], delta=1e-4, msg=name)

    def test_threads_agree(self):
        self.make("square", "--n 150")
        serial = self.solve("a.msh", "--source 7 --backend serial")
        threaded = self.solve("a.msh", "--source 7 --backend threads --threads 3")
        self.assert_fields(serial, threads=1, backend="serial")
        self.assert_fields(threaded, threads=3, backend="threads")
        self.assertAlmostEqual(serial["max_time"], threaded["max_time"], places=5)

    def test_fewer_threads_than_asked_for(self):
        """The system may grant fewer; the solve says how many ran."""
        self.make("cube", "--n 9")
        done = self.run_isochron("solve a.msh -o out.msh --source 0 --backend threads --threads 4 --json",
                                 env={**os.environ, "OMP_THREAD_LIMIT": "1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["threads"], 1)

    def test_methods_on_one_thread_say_so(self):
        self.make("square", "--n 20")
        for method, notes in (("fsm", 1), ("fmm", 1), ("relabel-sync", 1), ("fim", 0), ("banded", 0)):
            summary = self.solve("a.msh", f"--source 0 --method {method} --backend threads --threads 2")
            self.assertEqual(len(summary["notes"]), notes, method)
        self.assertIn("fsm runs on one thread",
                      self.succeed("solve a.msh -o b.msh --source 0 --method fsm --backend threads --threads 2").stdout)
        self.assertEqual(self.solve("a.msh", "--source 0 --method fsm --threads 2")["notes"], [])

    def test_options_without_their_partner_are_named(self):
        self.make("square", "--n 5")
        for options in ("--hand-over", "--allow-unordered", "--method fsm --band-width 2",
                        "--source-init plain --ball-rings 3",
                        "--region-array gmsh:physical", "--probe-tolerance 1", "--picture-title Square",
                        "--allow-zero-fibers"):
            warnings = self.solve("a.msh", "--source 0", options)["warnings"]
            self.assertEqual(len(warnings), 1, options)
            self.assertIn("no effect", warnings[0])
        for option, value, method in (("--patch-size", "32", "patch-fim"), ("--inner-iterations", "2", "patch-fim"),
                                      ("--layout", "cell-assembly", "patch-fim"), ("--storage", "products", "active-list"),
                                      ("--subdomains", "4", "domain-decomposition"),
                                      ("--subdomain-blocks", "several", "domain-decomposition"),
                                      ("--partitioner", "curve", "patch-fim or domain-decomposition")):
            warnings = self.solve("a.msh", f"--source 0 {option} {value}")["warnings"]
            self.assertEqual(warnings, [f"{option} has no effect (it goes with --method {method})"])
        self.make("cube", "--n 3 --random-fibers", name="b.msh")
        warnings = self.solve("b.msh", "--source 0 --fibers fiber --velocity 3,2,1")["warnings"]
        self.assertEqual(warnings, ["the third velocity has no effect (it goes with --sheets)"])

    def test_fmm_refuses_where_its_order_does_not_hold(self):
        points = [(0, 0, 0), (4, 0, 0), (2, 0.5, 0), (2, -0.5, 0)]
        self.write_msh("a.msh", points, [(0, 1, 2), (0, 3, 1)])
        self.expect(3, "solve a.msh -o b.msh --source 0 --method fmm",
                    words=("a.msh", "--hand-over", "--allow-unordered"))
        for option in ("--hand-over", "--allow-unordered"):
            summary = self.solve("a.msh", f"--source 0 --method fmm {option}")
            self.assertEqual(summary["method"], "fmm")
            self.assertTrue(summary["notes"])
        self.expect(2, "solve a.msh -o b.msh --source 0 --hand-over --allow-unordered")

    def test_fmm_on_an_acute_mesh(self):
        self.make("square", "--n 20")
        marched = self.solve("a.msh", "--source 0 --method fmm --verify")
        self.assertAlmostEqual(marched["max_time"], self.solve("a.msh", "--source 0")["max_time"], places=5)

    def test_missing_back_ends_say_so(self):
        self.make("cube", "--n 3")
        gpu = self.run_isochron("solve a.msh -o c.msh --source 0 --backend cuda --json")
        if gpu.returncode == 0:  # this machine and this build have one
            self.assertEqual(json.loads(gpu.stdout)["backend"], "cuda")
        else:
            self.assert_failed(gpu, 1, ("GPU", "--backend threads"))
        if "with MPI" not in self.succeed("--version").stdout:
            self.expect(1, "solve a.msh -o b.msh --source 0 --backend mpi", words="no MPI back end")
        self.expect(2, "solve a.msh -o b.msh --source 0 --backend abacus", words=("abacus", "serial"))

    GPU_SCHEMES = (("patch-fim", "--patch-size", "32", "--inner-iterations", "2", "--layout", "cell-assembly"),
                   ("active-list", "--storage", "products"), ("active-list", "--storage", "gray-code"),
                   ("active-list", "--storage", "coordinates"),
                   ("domain-decomposition", "--subdomains", "5", "--subdomain-blocks", "several", "--partitioner", "curve"),
                   ("domain-decomposition", "--subdomain-blocks", "one", "--partitioner", "auto"))

    def test_gpu_schemes_run_or_say_what_is_missing(self):
        self.make("cube", "--n 6")
        usual = self.solve("a.msh", "--source 0")["max_time"]
        for scheme in self.GPU_SCHEMES:
            command = ("solve", "a.msh", "-o", "c.msh", "--force", "--source", "0", "--method", *scheme)
            done = self.run_isochron(*command, "--backend cuda --verify --json")
            if done.returncode == 0:  # this machine and this build have a GPU
                summary = json.loads(done.stdout)
                self.assert_fields(summary, method=scheme[0], warnings=[])
                self.assertAlmostEqual(summary["max_time"], usual, places=3)
            else:
                self.assert_failed(done, 1, ("GPU", "--backend threads"))
            self.expect(2, *command, "--backend serial", words=(scheme[0], "--backend cuda"))

    def test_options_of_gpu_schemes_are_checked(self):
        self.make("cube", "--n 3")
        for option, value in (("--patch-size", "0"), ("--patch-size", "x"), ("--inner-iterations", "-1"), ("--layout", "heap"),
                              ("--storage", "none"), ("--subdomains", "0"), ("--subdomains", "-7"),
                              ("--subdomain-blocks", "two"), ("--partitioner", "scotch")):
            self.expect(2, f"solve a.msh -o b.msh --source 0 {option} {value}", words=option)

    def test_source_init_improves_the_answer(self):
        self.make("cube", "--n 13 --jitter 0.2")
        exact = math.sqrt(0.75)
        errors = {}
        for init in ("plain", "ball", "factored"):
            far = self.solve("a.msh", f"--source-point 0.5,0.5,0.5 --source-init {init}")["max_time"]
            errors[init] = abs(far - exact)
        self.assertLess(errors["ball"], errors["plain"])
        self.assertLess(errors["factored"], errors["ball"])

    def test_other_options_are_taken(self):
        self.make("cube", "--n 5 --jitter 0.3")
        usual = self.solve("a.msh", "--source 0")["max_time"]
        for options in (("--split-obtuse", "always"), ("--split-obtuse", "never"), ("--reorder", "always"), ("--reorder", "never"), ("--band-width", "2"),
                        ("--tolerance", "1e-9"), ("--ball-rings", "2")):
            self.assertAlmostEqual(self.solve("a.msh", "--source 0", *options)["max_time"], usual, delta=0.1)
        for options in (("--tolerance", "0"), ("--tolerance", "2"), ("--band-width", "-1"), ("--reorder", "maybe"),
                        ("--precision", "half"), ("--method", "guess"), ("--source-init", "magic")):
            self.expect(2, "solve a.msh -o b.msh --source 0", *options, words=options[0])

    def test_not_converged_is_exit_4_and_still_written(self):
        self.make("irregular-square", "--n 40 --jitter 0.45")
        done = self.run_isochron("solve a.msh -o out.msh --source 0 --method fmm --allow-unordered --verify --json")
        self.assert_failed(done, 4, ("a.msh", "not converged", "written", "try --method banded"))
        self.assertNotIn("--precision double", done.stderr)
        self.assertFalse(json.loads(done.stdout)["converged"])
        self.assertEqual(self.arrays("out.msh")["reached"]["min"], 1)

    def test_weights(self):
        self.make("cube", "--n 3")
        self.solve("a.msh", "--source 0 --weights")
        self.assertEqual(self.arrays("out.msh")["upwind_vertices"]["components"], 3)
        self.assertLessEqual(self.arrays("out.msh")["upwind_weights"]["max"], 1)

    # ---- metric

    def test_speed_scales_the_times(self):
        self.make("cube", "--n 4")
        slow = self.solve("a.msh", "--source 0")["max_time"]
        self.assertAlmostEqual(self.solve("a.msh", "--source 0 --speed 4")["max_time"], slow / 4, places=6)

    def test_fibres_are_faster_along(self):
        points, triangles = square_mesh(21)
        name = self.write_msh("a.msh", points, triangles, cell_arrays={"fiber": [(1, 0, 0)] * len(triangles)})
        self.write("probes.txt", "1 0 0\n0 1 0\n")
        self.succeed(f"solve {name} --source 0 --fibers fiber --velocity 0.6,0.3 --probe probes.txt",
                     "--probe-output out.csv")
        along, across = (float(row["time"]) for row in self.rows("out.csv"))
        self.assertAlmostEqual(along, 1 / 0.6, delta=0.01)
        self.assertAlmostEqual(across, 1 / 0.3, delta=0.01)

    def test_tensors(self):
        points, triangles = square_mesh(21)
        count = len(triangles)
        arrays = {"M6": [(1, 4, 1, 0, 0, 0)] * count, "M9": [(1, 0, 0, 0, 4, 0, 0, 0, 1)] * count,
                  "D6": [(1, 0.25, 1, 0, 0, 0)] * count, "Mrow": [(1, 0, 0, 4, 0, 1)] * count}
        name = self.write_msh("a.msh", points, triangles, cell_arrays=arrays)
        self.write("probes.txt", "1 0 0\n0 1 0\n")
        for options in ("--metric-array M6", "--metric-array M9", "--velocity-tensor-array D6",
                        "--metric-array Mrow --tensor-order row"):
            self.succeed(f"solve {name} --source 0", options, "--probe probes.txt --probe-output out.csv --force")
            times = [float(row["time"]) for row in self.rows("out.csv")]
            self.assertAlmostEqual(times[0], 1, delta=0.01, msg=options)
            self.assertAlmostEqual(times[1], 2, delta=0.01, msg=options)

    def test_velocity_table_inline_and_from_a_file(self):
        self.make("lens", "--n 10")
        wanted = self.solve("a.msh", "--source 0 --speed-array speed")["max_time"]
        rows = f"0:1; 1:{1 / 2.419}"
        self.write("table.txt", rows.replace(";", "\n"))
        for table in (rows, "table.txt"):
            far = self.solve("a.msh", "--source 0 --region-array region --velocity-table", [table])["max_time"]
            self.assertAlmostEqual(far, wanted, places=5)
        self.expect(3, "solve a.msh -o b.msh --source 0 --velocity-table 0:1", words=("region", "1"))

    def test_one_velocity_is_not_enough_for_fibres(self):
        self.make("lens", "--n 6 --random-fibers")
        fibres = "--source 0 --fibers fiber"
        self.expect(2, "solve a.msh -o b.msh", fibres, "--velocity 0.6", words=("0.6", "two", "--speed"))
        notes = self.solve("a.msh", fibres, "--velocity-table 0:0.6,0.3;1:0.2 --region-array region")["notes"]
        self.assertEqual(notes, ["the fibres have no effect in region 1 (one velocity for all directions)"])
        self.expect(2, "solve a.msh -o b.msh --source 0 --velocity 0.6,0.3", words=("--velocity", "--fibers"))

    def test_what_does_not_conduct(self):
        """A wall across a square, with a gap at its upper end: the same times however it is said."""
        points, triangles = square_mesh(11)
        middle = [[sum(points[v][k] for v in triangle) / 3 for k in (0, 1)] for triangle in triangles]
        wall = [0.4 < x < 0.6 and y < 0.8 for x, y in middle]
        open_ones = [triangle for triangle, closed in zip(triangles, wall) if not closed]
        name = self.write_msh("wall.msh", points, triangles, cell_arrays={
            "tissue": [(13 if closed else 1,) for closed in wall], "cv": [(0 if closed else 2,) for closed in wall],
            "open": [(0 if closed else 5,) for closed in wall], "bad": [(-1 if closed else 2,) for closed in wall],
            "fiber": [(1, 0, 0)] * len(triangles)})
        self.write_msh("open.msh", points, open_ones)
        far = self.solve("open.msh", "--source 0 --speed 2")["max_time"]
        for options in ("--speed-array cv", "--speed 2 --exclude-region 13 --region-array tissue",
                        "--speed 2 --mask-array open", "--velocity-table 1:2;13:0 --region-array tissue",
                        "--velocity-table 1:2 --exclude-region 13 --region-array tissue",
                        "--fibers fiber --velocity-table 1:2,2;13:0,0 --region-array tissue"):
            found = self.solve(name, "--source 0", options)
            self.assertAlmostEqual(found["max_time"], far, places=5, msg=options)
            self.assertEqual(found["not_conducting"], sum(wall), options)
        self.assertEqual(self.solve("open.msh", "--source 0")["not_conducting"], 0)
        self.expect(3, f"solve {name} -o b.msh --source 0 --speed-array bad", words=("bad", f"{sum(wall)} of 200"))
        self.expect(3, f"solve {name} -o b.msh --source-point 0.5,0.3,0 --speed-array cv", words="not conduct")
        warnings = self.solve(name, "--source 0 --exclude-region 14 --region-array tissue")["warnings"]
        self.assertIn("leaves nothing out", warnings[0])
        self.solve(name, "--source 0 --speed-array cv", output="times.msh")
        path = self.succeed_json("path times.msh --speed-array cv --source 0 --to 10 -o path.vtp")["paths"][0]
        self.assertAlmostEqual(path["travel_time"], far, delta=0.05 * far)

    def test_velocity_table_may_be_long(self):
        self.succeed("generate square --n 4 -o a.vtu")
        rows = ";".join(f"{region}:1" for region in range(2000))
        self.expect(3, "solve a.vtu -o b.vtu --source 0 --velocity-table", [rows], words="no region array")

    def test_velocity_table_lists_what_is_missing(self):
        name = self.write_msh("a.msh", *square_mesh(6), cell_arrays={"tissue": [(i % 25,) for i in range(50)]})
        self.expect(3, f"solve {name} -o b.msh --source 0 --region-array tissue --velocity-table 0:1;3:1",
                    words=("1, 2, 4, 5, 6", "21 and 3 more"))
        self.expect(2, f"solve {name} -o b.msh --source 0 --velocity-table 0=0.6,0.3",
                    words=("0=0.6,0.3", "0:0.6,0.3;1:0.2,0.1"))

    def test_length_unit(self):
        self.make("cube", "--n 4", name="a.pts")
        self.assertIn("µm", self.succeed("solve a.pts -o b.msh --source 0").stderr)
        plain = self.solve("a.pts", "--source 0")
        scaled = self.succeed("solve a.pts -o c.msh --source-point 0,0,0 --length-unit um --json")
        self.assertEqual(scaled.stderr, "")
        self.assertAlmostEqual(json.loads(scaled.stdout)["max_time"], plain["max_time"] / 1000, places=8)
        self.assertEqual(self.info("c.msh")["meshes"][0]["high"], [1, 1, 1])

    def test_length_unit_with_every_kind_of_speed(self):
        points, triangles = square_mesh(5)
        count = len(triangles)
        name = self.write_msh("a.msh", points, triangles, cell_arrays={
            "cv": [(2,)] * count, "fiber": [(1, 0, 0)] * count, "M": [(1, 4, 1, 0, 0, 0)] * count})
        for options in ("--speed 2", "--speed-array cv", "--fibers fiber --velocity 2,1", "--metric-array M"):
            plain = self.solve(name, "--source 0", options)["max_time"]
            metres = self.solve(name, "--source 0", options, "--length-unit m --verify")["max_time"]
            self.assertAlmostEqual(metres / plain, 1000, places=3, msg=options)
            centimetres = self.solve(name, "--source 0", options, "--length-unit cm")["max_time"]
            self.assertAlmostEqual(centimetres / plain, 10, places=3, msg=options)

    def test_messages_are_in_the_unit_of_the_file(self):
        self.make("square", "--n 5 --extent 1000")
        self.expect(3, "solve a.msh -o b.msh --source-point 1500,0,0 --length-unit um",
                    words=("a.msh", "source point 1500,0,0 is 500 away", "nearest point 1000,0,0"))

    # ---- elements

    def test_mixed_elements_are_picked(self):
        self.write_msh("a.msh", TET_POINTS, [(0, 1, 2)], TET)
        done = self.succeed("solve a.msh -o out.msh --source 0")
        self.assertIn("isochron: warning: a.msh: 1 triangle", done.stderr)
        self.assert_fields(self.info("out.msh"), tetrahedra=1, triangles=0)
        summary = self.solve("a.msh", "--source 0 --elements triangle")
        self.assert_fields(summary, element_kind="triangle", reached=3, unreached=1)

    def test_inverted_tetrahedra_do_not_matter(self):
        self.write_msh("a.msh", TET_POINTS, tets=TET)
        self.write_msh("b.msh", TET_POINTS, tets=[(0, 1, 3, 2)])
        self.assertEqual(self.solve("a.msh", "--source 1")["max_time"], self.solve("b.msh", "--source 1")["max_time"])

    def test_times_for_opencarp(self):
        self.write("a.pts", "5\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n9 9 9\n")
        self.write("a.elem", "1\nTt 0 1 2 3 1\n")
        solve = "solve a.pts --source 0 --length-unit mm"
        self.assertEqual(self.succeed_json(solve, "-o times.dat")["written"], ["times.dat"])
        times = [float(line) for line in self.read_text("times.dat").splitlines()]
        self.assertEqual(times, [0, 1, 1, 1, -1])  # the last one belongs to no element
        self.succeed(solve, "-o times.igb")
        header, values = self.read_bytes("times.igb")[:1024], self.read_bytes("times.igb")[1024:]
        self.assertTrue(header.startswith(b"x:5 y:1 z:1 t:1 type:float systeme:little_endian "), header)
        self.assertTrue(header.endswith(b"\r\n\f"))
        self.assertLess(max(map(len, header.split(b"\r\n"))), 80)
        self.assertEqual(struct.unpack("<5f", values), (0, 1, 1, 1, -1))
        self.expect(3, solve, "-o times.dat", words=("times.dat", "exists"))
        self.expect(2, solve, "--source 1 --each-source -o each.igb", words=("each.igb", "--each-source"))

    def test_one_is_no_plural(self):
        self.write("a.mesh", "MeshVersionFormatted 2 Dimension 2 Vertices 5 0 0 0 1 0 0 1 1 0 0 1 0 3 3 0\n"
                             "Triangles 1 1 2 3 0 Quadrilaterals 1 1 2 2 1 0 End\n")
        done = self.succeed("solve a.mesh -o b.msh --source 0")
        self.assertIn("1 cell of kind quad that has no area or crosses itself left out", done.stderr)
        self.assert_has_all(done.stdout, "5 vertices, 1 triangle\n", "3 vertices; 2 stay unreached")

    def test_numbers_beyond_all_units(self):
        self.make("cube", "--n 3 --extent 1e10")
        self.expect(3, "solve a.msh -o b.msh --source 0 --speed 1e-150",
                    words=("a.msh", "too large or too small", "units"))
        for extent in ("1e-170", "1e160"):
            self.make("cube", f"--n 3 --extent {extent} --force")
            self.expect(3, "solve a.msh -o c.msh --source 0", words=("a.msh", "across", "unit"))
        self.expect(2, "solve a.msh -o c.msh --source 0 --speed 1e200", words=("--speed", "1e200"))

    def test_unreached_parts_are_counted(self):
        points = TET_POINTS + [(x + 9, y, z) for x, y, z in TET_POINTS]
        self.write_msh("a.msh", points, tets=[(0, 1, 2, 3), (4, 5, 6, 7)])
        self.assert_fields(self.solve("a.msh", "--source 0"), reached=4, unreached=4)
        arrays = self.arrays("out.msh")
        self.assert_fields(arrays["arrival_time"], not_finite=4, max=1)
        self.assertEqual((arrays["reached"]["min"], arrays["source"]["min"]), (0, -1))

    def test_lines_do_not_conduct(self):
        """Two triangles joined by a line, and a point of its own: only one triangle is reached, and it is said why."""
        self.write("a.pts", "7\n0 0 0\n1 0 0\n0 1 0\n5 0 0\n6 0 0\n5 1 0\n9 9 9\n")
        self.write("a.elem", "3\nTr 0 1 2 1\nTr 3 4 5 1\nLn 1 3 2\n")
        summary = self.solve("a.pts", "--source 0 --length-unit um", output="out.vtk")
        self.assert_fields(summary, warnings=[
            "a.pts: 1 line is left out of the solve (lines do not conduct)",
            "a.pts: 4 vertices stay unreached (3 in 1 part without a source, 1 in no element); give each part a source, "
            "or join the parts"], unreached_parts=1, unreached_in_parts=3, unreached_in_no_element=1)
        self.assertEqual(self.info("out.vtk")["lines"], 1)
        for output, warned in (("out.node", 1), ("out.off", 1), ("out.stl", 1), ("out.obj", 0)):
            warnings = self.solve("a.pts", "--source 0 --length-unit um", output=output)["warnings"]
            self.assertEqual(sum("1 line will not be in it" in line for line in warnings), warned, output)

    # ---- probes and pictures

    def test_probe_csv(self):
        self.make("square", "--n 41")
        self.write("probes.csv", "x,y,z\n0.5,0,0\n0.025,0,0\n1,1,0.001\n7,0,0\n")
        done = self.succeed("solve a.msh -o out.msh --source 0 --probe probes.csv --probe-output out.csv")
        self.assertIn("1 of 4 points is outside", done.stderr)
        rows = self.rows("out.csv")
        self.assertEqual(list(rows[0]), ["x", "y", "z", "time", "distance"])
        self.assertAlmostEqual(float(rows[0]["time"]), 0.5, places=6)
        self.assertAlmostEqual(float(rows[1]["time"]), 0.025, places=6)
        self.assertAlmostEqual(float(rows[2]["distance"]), 0.001, places=9)
        self.assertEqual(rows[3]["time"], "")
        self.assertAlmostEqual(float(rows[3]["distance"]), 6)

    def test_probe_names_are_kept(self):
        self.make("square", "--n 5")
        for text, names in (("# electrodes\nleft 0 0 0\nright 1 0 0\n", ["left", "right"]),
                            ("x,y,z,name\n0,0,0,left\n1,0,0,right\n", ["left", "right"]),
                            ("id x y z\n7 0 0 0\n12 1 0 0\n", ["7", "12"])):
            self.write("probes.txt", text)
            self.succeed("solve a.msh --source 0 --probe probes.txt --probe-output out.csv --force")
            rows = self.rows("out.csv")
            self.assertEqual(list(rows[0]), ["name", "x", "y", "z", "time", "distance"])
            self.assertEqual([row["name"] for row in rows], names)
            self.assertEqual([float(row["time"]) for row in rows], [0, 1])

    def test_probe_tolerance_and_units(self):
        self.make("square", "--n 11 --extent 1000")
        self.write("probes.txt", "1003 0 0\n")
        self.succeed("solve a.msh --source 0 --probe probes.txt --probe-output out.csv --probe-tolerance 5",
                     "--length-unit um")
        row = self.rows("out.csv")[0]
        self.assertAlmostEqual(float(row["time"]), 1, places=6)
        self.assertAlmostEqual(float(row["distance"]), 3, places=6)

    def test_outputs_differ_from_one_another_and_from_small_inputs(self):
        self.make("cube", "--n 3")
        self.write("probes.txt", "0 0 0\n")
        probe = "solve a.msh --source 0 --force --probe probes.txt --probe-output"
        self.expect(2, probe, "b.msh -o b.msh", words=("b.msh", "two outputs"))
        self.expect(2, probe, "./b.elem -o b.pts", words=("b.elem", "two outputs"))
        self.expect(2, probe, "probes.txt", words=("probes.txt", "input"))
        self.expect(2, probe, "a.msh", words=("a.msh", "input"))
        self.assertEqual(self.read_text("probes.txt"), "0 0 0\n")

    def test_formats_are_checked_before_the_work(self):
        self.make("cube", "--n 3")
        done = self.expect(2, "solve a.msh -o b.stl --source 0", words=("b.stl", "tetrahedra: 48"))
        self.assertNotIn("warning", done.stderr)
        self.expect(2, "solve a.msh -o b.lon --source 0", words=("b.lon", "no fibres", "b.elem"))

    def test_probe_options_go_together(self):
        self.make("cube", "--n 3")
        self.write("probes.txt", "0 0 0\n")
        self.expect(2, "solve a.msh -o b.msh --source 0 --probe probes.txt", words="--probe-output")
        self.expect(2, "solve a.msh -o b.msh --source 0 --probe probes.txt --probe-output o.csv --probe-tolerance=-1",
                    words=("--probe-tolerance", "-1"))
        self.expect(3, "solve a.msh -o b.msh --source 0 --probe none.txt --probe-output o.csv", words="none.txt")
        self.write("o.csv", "precious")
        self.expect(3, "solve a.msh -o b.msh --source 0 --probe probes.txt --probe-output o.csv",
                    words=("o.csv", "--force"))

    def test_picture(self):
        self.make("square", "--n 21")
        if not self.has_vtk():
            self.expect(1, "solve a.msh --source 0 --picture a.png", words="VTK")
            return
        self.succeed("solve a.msh --source 0 --picture a.png --picture-title Square")
        self.assertTrue(self.read_bytes("a.png").startswith(b"\x89PNG"))
        self.expect(3, "solve a.msh --source 0 --picture a.png", words=("a.png", "--force"))
        self.expect(2, "solve a.msh --source 0 --picture a.jpg", words=("a.jpg", ".png"))
        self.write("probes.txt", "0 0 0\n")
        for options in ("--picture-spacing 0.00001", "--picture-cut 0,0,-1,0,0,1"):
            self.expect(2, "solve a.msh -o b.msh --source 0 --picture b.png", options,
                        "--probe probes.txt --probe-output b.csv")
        self.succeed("solve a.msh --source 0 --picture c.png --picture-up 1,0,0")
        for option in ("--picture-up=0,0,0", "--picture-view=0,0,0", "--picture-cut=0,0,0,0,0,0", "--picture-spacing=-1"):
            self.expect(2, f"solve a.msh -o b.msh --source 0 --picture b.png {option}")
