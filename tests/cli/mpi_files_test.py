"""Sets of pieces over MPI ranks: every rank reads, makes and writes its own."""

import os
import signal
import time

from cli_case import square_mesh
from mpi_case import MpiCase

# A cube of six tetrahedra.
BOX = [(i, j, k) for k in (0, 1) for j in (0, 1) for i in (0, 1)]
TETS = [(0, 1, 3, 7), (0, 3, 2, 7), (0, 2, 6, 7), (0, 6, 4, 7), (0, 4, 5, 7), (0, 5, 1, 7)]


class MpiFilesTest(MpiCase):
    def set_of(self, ranks, name, kind):
        """Generates a mesh as a set of pieces."""
        self.succeed_over_ranks(ranks, f"generate {kind} -o {name} --force")

    def solve_parts(self, ranks, mesh, output, *options):
        """Solves from pieces to pieces; gives the summary."""
        summary = self.summary(ranks, f"solve {mesh} -o {output}", *options)
        self.assertEqual((summary["backend"], summary["mpi"]["ranks"]), ("mpi", ranks))
        self.assertLessEqual(summary["residual"], summary["residual_limit"])
        return summary

    def assert_serial_result(self, mesh, output, *options, tolerance=1e-5):
        """What is in a set is what one process gives from the same input; sources too."""
        self.succeed(f"solve {mesh} -o serial.vtu", *options, "--force --threads 1")
        expected, found = self.vtk_arrays("serial.vtu"), self.set_arrays(output)
        self.assert_close(found["arrival_time"], expected["arrival_time"], tolerance)
        other = sum(a != b for a, b in zip(found["source"], expected["source"]))
        self.assertLessEqual(other, len(found["source"]) // 50)  # reached from two at about the same time
        self.assertEqual(found["reached"], expected["reached"])

    # ---- solving

    def test_any_ranks_on_any_pieces(self):
        self.set_of(3, "a.pvtu", "cube --n 9 --jitter 0.2")
        for ranks in (1, 2, 3, 5):
            with self.subTest(ranks=ranks):
                summary = self.solve_parts(ranks, "a.pvtu", "b.pvtu", "--source 0,300")
                self.assert_fields(summary, vertices=729, reached=729)
                self.assert_serial_result("a.pvtu", "b.pvtu", "--source 0,300")
        self.solve_parts(3, "a.pvtu", "b.pvtu", "--source 728 --pieces 4")
        self.assert_serial_result("a.pvtu", "b.pvtu", "--source 728")
        self.solve_parts(2, "b.pvtu", "b.pvtu", "--source 5")  # over its own input
        self.assert_serial_result("a.pvtu", "b.pvtu", "--source 5")
        self.assertEqual(len(list((self.folder / "b").iterdir())), 2)

    def test_obtuse_triangles_as_one_process_splits_them(self):
        self.set_of(4, "a.pvtp", "square --n 30 --jitter 0.45")
        split, plain = "--source 100", "--source 100 --split-obtuse never"
        for ranks in (1, 3, 4):
            with self.subTest(ranks=ranks):
                self.solve_parts(ranks, "a.pvtp", "b.pvtp", split)
                self.assert_serial_result("a.pvtp", "b.pvtp", split)
        with_split = self.set_arrays("b.pvtp")["arrival_time"]
        self.solve_parts(3, "a.pvtp", "b.pvtu", plain)
        self.assert_serial_result("a.pvtp", "b.pvtu", plain)
        self.assertNotEqual(self.set_arrays("b.pvtu")["arrival_time"], with_split)

    def test_every_kind_of_source(self):
        self.set_of(3, "v.pvtu", "ventricle --elements 3000")
        self.write("onsets.txt", "3 1.5\n200 0.25\n")
        for options, velocity in (("--source-point 0,0,-50 --source 7 --source-time 2", "0.6,0.3"),
                                  ("--source-file onsets.txt", "0.6,0.3"), ("--source-tag transmural=0", "0.6,0.3"),
                                  ("--source 0 --source-init plain --sheets sheet", "0.6,0.3,0.2")):
            with self.subTest(options=options):
                options = f"{options} --fibers fiber --velocity {velocity}"
                for ranks in (2, 3):
                    self.solve_parts(ranks, "v.pvtu", "b.pvtu", options)
                    self.assert_serial_result("v.pvtu", "b.pvtu", options, tolerance=1e-3)

    def test_arrays_pass_through_and_make_metrics(self):
        self.succeed("generate cube --n 8 --random-speed 2 --random-tensors 2 -o a.vtu")
        self.summary(4, "solve a.vtu -o a.pvtu --source 0")  # one file, four pieces
        for options in ("--speed-array speed", "--metric-array metric",
                        "--velocity-tensor-array metric --precision single", "--speed 3"):
            with self.subTest(options=options):
                self.solve_parts(3, "a.pvtu", "b.pvtu", "--source 11", options)
                self.assert_serial_result("a.vtu", "b.pvtu", "--source 11", options, tolerance=1e-4)
        self.succeed("solve b.pvtu -o c.msh --source 0")
        text = self.read_text("c.msh")
        for name in ("speed", "metric", "arrival_time"):
            self.assertIn(f'"{name}"', text)

    def test_one_file_from_pieces_and_pieces_from_one_file(self):
        self.set_of(3, "a.pvtu", "cube --n 7")
        options = "--source 0,200"
        self.summary(2, "solve a.pvtu -o b.vtu", options)
        self.succeed("solve a.pvtu -o c.vtu", options)
        self.assertEqual(self.vtk_arrays("b.vtu").keys(), self.vtk_arrays("c.vtu").keys())
        self.summary(3, "solve c.vtu -o d.pvtu", options)
        self.assert_serial_result("a.pvtu", "d.pvtu", options)
        self.assertEqual(len(self.summary(2, "solve a.pvtu -o e.pvtu", options, "--each-source")["sources"]), 2)
        self.assertIn("arrival_time_1", self.set_arrays("e.pvtu"))

    def test_what_needs_the_whole_mesh_says_so(self):
        self.set_of(2, "a.pvtu", "cube --n 5")
        self.write("p.txt", "0.5 0.5 0.5\n")
        summary = self.summary(2, "solve a.pvtu -o b.pvtu --source 0 --probe p.txt --probe-output p.csv")
        self.assert_said("--probe", summary["notes"])
        self.assertTrue((self.folder / "p.csv").exists())
        self.assert_serial_result("a.pvtu", "b.pvtu", "--source 0")
        for sources in ("0,5", "0-5"):  # each over the ranks, and shared out
            summary = self.summary(3, f"solve a.pvtu -o each.pvtu --source {sources} --each-source --force")
            self.assert_said("--each-source", summary["notes"])
            self.assertEqual(summary["written"], ["each.pvtu"])

    def test_unreached_parts_are_counted_across_ranks(self):
        points = [(x + 3 * n, y, z) for n in range(3) for x, y, z in BOX] + [(50, 0, 0)]
        self.write_msh("three.msh", points, tets=[tuple(v + 8 * n for v in t) for n in range(3) for t in TETS])
        self.summary(4, "solve three.msh -o a.pvtu --source 0")
        expected = self.succeed_json("solve a.pvtu -o one.vtu --source 0")
        for ranks in (1, 3, 4):
            summary = self.solve_parts(ranks, "a.pvtu", "b.pvtu", "--source 0")
            for key in ("reached", "unreached", "unreached_parts", "unreached_in_parts", "unreached_in_no_element"):
                self.assertEqual(summary[key], expected[key], key)
            self.assert_fields(summary, unreached_parts=2, unreached_in_no_element=1)

    def test_pieces_of_other_programs_with_patches_and_lines(self):
        pieces = []
        for n in range(3):  # boxes in a row; triangles of patch 5 on the far side of the last one
            points = [(x + n, y, z) for x, y, z in BOX]
            patches = [(1, 3, 7), (1, 7, 5)]
            cells = [*TETS, *patches, (0, 1)]
            pieces.append((points, cells, {"patch": [0] * 6 + [5 if n == 2 else 4] * 2 + [0], "x": [p[0] for p in points]}))
        self.write_foreign_set("f.pvtu", pieces, ("x",), ("patch",))
        for options in ("--source-tag patch=5", "--source-tag x=1", "--source 15"):
            for ranks in (1, 2, 3, 4):
                with self.subTest(options=options, ranks=ranks):
                    summary = self.solve_parts(ranks, "f.pvtu", "b.pvtu", options)
                    self.assert_fields(summary, vertices=16, elements=18, reached=16)
                    self.assert_serial_result("f.pvtu", "b.pvtu", options)
                    self.assert_has_all(" ".join(summary["warnings"]), "6 triangles", "3 lines")
        patch = "--source 1 --elements triangle"
        summary = self.solve_parts(2, "f.pvtu", "b.pvtu", patch)
        self.assert_fields(summary, elements=6, reached=4, unreached_parts=2)
        self.assert_serial_result("f.pvtu", "b.pvtu", patch)

    def test_no_rank_has_the_whole_mesh(self):
        self.set_of(4, "a.pvtu", "cube --n 33")
        whole = self.solve_parts(1, "a.pvtu", "b.pvtu", "--source 0")["mpi"]
        for ranks in (3, 4):
            part = self.solve_parts(ranks, "a.pvtu", "b.pvtu", "--source 0")["mpi"]
            self.assertLess(part["most_vertices"], 1.3 * 33 ** 3 / ranks + 200)
            if os.environ.get("ISOCHRON_SANITIZE"):
                continue  # its own memory is in the count
            self.assertLess(part["most_peak_bytes"], 0.85 * whole["most_peak_bytes"])

    # ---- generating

    def test_generated_pieces_are_the_serial_mesh(self):
        for kind in ("cube --n 6,5,7 --jitter 0.2", "square --n 14 --jitter 0.3", "ventricle --elements 2500"):
            with self.subTest(kind=kind):
                self.set_of(4, "a.pvtu", kind)
                self.succeed("generate", kind, "-o a.vtu --force")
                for name in ("a.pvtu", "a.vtu"):  # all that is in them, written by one process as text
                    self.succeed(f"solve {name} -o", name + ".msh", "--source 0 --force")
                self.assertEqual(self.read_text("a.pvtu.msh"), self.read_text("a.vtu.msh"))

    def test_generate_says_what_is_not_made_in_parts(self):
        for code, arguments, words in ((2, "cube --n 4 -o a.pvtu --random-speed 2", "parts"),
                                       (2, "cube --n 4 -o a.pvtp", ("a.pvtp", "tetrahedra")),
                                       (2, "cube --n 4 -o a.vtu", ("a.vtu", ".pvtu")), (2, "cube --n 1 -o a.pvtu", ()),
                                       (2, "sphere -o a.pvtu", ("--backend", "sphere", "square, cube, ventricle")),
                                       (2, "lens -o a.pvtu", ("--backend", "lens", "square, cube, ventricle")),
                                       (1, "cube --n 4 -o /proc/o.pvtu", ("/proc/o.pvtu", "cannot be written"))):
            self.fail_over_ranks(code, "generate", arguments, words=words)
        self.expect(2, "generate cube --n 4 -o a.pvtu", words=("a.pvtu", "--backend mpi"))
        self.set_of(2, "a.pvtu", "cube --n 4")
        self.fail_over_ranks(3, "generate cube --n 4 -o a.pvtu", words=("a.pvtu", "exists already"))

    # ---- what goes wrong

    def test_a_list_in_another_order(self):
        self.set_of(4, "a.pvtu", "cube --n 7 --jitter 0.2")
        lines = self.read_text("a.pvtu").splitlines()
        pieces = [line for line in lines if "<Piece " in line]
        self.write("b.pvtu", "\n".join(pieces.pop() if "<Piece " in line else line for line in lines))
        self.succeed("solve a.pvtu -o one.vtu --source 3")
        for ranks in (2, 3, 4, 5):
            with self.subTest(ranks=ranks):
                self.summary(ranks, "solve b.pvtu -o c.pvtu --source 3")
                one, many = self.vtk_arrays("one.vtu")["arrival_time"], self.set_arrays("c.pvtu")["arrival_time"]
                self.assert_close(many, one, 1e-4)

    def test_bad_sets_are_said_once(self):
        self.set_of(3, "a.pvtu", "cube --n 6")
        self.try_bad_pieces("solve a.pvtu -o b.pvtu --source 0", (2, 3), "a/a_0001.vtu", "a/a_0002.vtu",
                            "isochron:part", "a.pvtu")
        self.write("half.pvtu", self.read_text("a.pvtu")[:200])
        for name in ("none.pvtu", "half.pvtu"):
            self.fail_over_ranks(3, f"solve {name} -o b.pvtu --source 0", words=name)

    def test_bad_requests_are_said_once(self):
        self.set_of(3, "a.pvtu", "cube --n 6")
        solve = "solve a.pvtu -o b.pvtu"
        for code, options, words in ((3, "--source 99999", ("a.pvtu", "99999", "out of range")),
                                     (3, "--source-point 9,9,9", ("a.pvtu", "away from the mesh")),
                                     (3, "--source-tag nothing=3", ("a.pvtu", "nothing")),
                                     (3, "--source 0 --speed-array cv", ("a.pvtu", "cv")),
                                     (3, "--source 0 --elements triangle", "no triangles"),
                                     (3, "--source-file none.txt", "none.txt"),
                                     (2, "--source 0 --split-obtuse always", "--split-obtuse"),
                                     (2, "--source 0 --weights", "weights"), (2, "", "no source")):
            self.fail_over_ranks(code, solve, options, words=words)
        self.fail_over_ranks(2, "solve a.pvtu -o b.pvtp --source 0", words="b.pvtp")
        self.fail_over_ranks(1, "solve a.pvtu -o no/b.pvtu --source 0", words="no/b.pvtu")
        self.expect(2, "solve a.pvtu -o b.pvtu --source 0", words=("b.pvtu", "--backend mpi"))
        self.summary(2, solve, "--source 0")
        self.fail_over_ranks(3, solve, "--source 0", words=("b.pvtu", "exists already"))

    def test_speeds_that_are_wrong_name_the_file(self):
        points, triangles = square_mesh(6)
        speeds = [(-1 if i == 20 else 1,) for i in range(len(triangles))]
        self.write_msh("a.msh", points, triangles, cell_arrays={"speed": speeds})
        self.summary(3, "solve a.msh -o a.pvtu --source 0")
        self.fail_over_ranks(3, "solve a.pvtu -o b.pvtu --source 0 --speed-array speed",
                             words=("a.pvtu", "in the part of rank", "'speed'"))

    def test_a_piece_that_cannot_be_written_leaves_nothing(self):
        self.set_of(3, "a.pvtu", "cube --n 6")
        (self.folder / "b" / "b_0001.vtu" / "in the way").mkdir(parents=True)
        self.fail_over_ranks(1, "solve a.pvtu -o b.pvtu --source 0", words=("b_0001.vtu", "cannot be written"))

    def test_a_rank_killed_while_files_are_written_leaves_no_half_set(self):
        self.set_of(2, "a.pvtu", "cube --n 45")
        self.kill_while_writing("solve a.pvtu -o b.pvtu --source 0", "vtu")

    def test_a_rank_killed_while_a_set_is_replaced_leaves_one_of_both(self):
        self.set_of(2, "a.pvtu", "cube --n 30")
        contents = lambda: {path.name: path.read_bytes() for path in self.folder.rglob("*b*") if path.is_file()}
        self.succeed_over_ranks(2, "solve a.pvtu -o b.pvtu --source 0")
        old = contents()
        self.assertCountEqual(old, ["b.pvtu", "b_0000.vtu", "b_0001.vtu"])
        for rank, how in ((1, signal.SIGKILL), (0, signal.SIGTERM), (1, signal.SIGTERM)):
            with self.subTest(rank=rank, signal=how):
                with self.start_ranks(2, "solve a.pvtu -o b.pvtu --source 9 --force") as launcher:
                    ranks, end = {}, time.monotonic() + 100
                    while len(list((self.folder / "b").iterdir())) == 2 and launcher.poll() is None:
                        ranks = ranks if len(ranks) == 2 else self.rank_processes(launcher.pid)
                        self.assertLess(time.monotonic(), end)
                    os.kill(ranks[rank], how)
                    _, err = launcher.communicate(timeout=60)
                found = contents()
                self.assertEqual(found.keys(), old.keys(), err)
                same = [found[name] == old[name] for name in ("b_0000.vtu", "b_0001.vtu")]
                self.assertIn(same, ([True, True], [False, False]))
                self.assertEqual(same[0], launcher.returncode != 0, err)
                self.succeed("info b.pvtu")
                old = found
