"""isochron solve on images over MPI ranks, and many solves shared out between them."""

import os
import signal
import time

from mpi_case import MpiCase
from small_files import read_npy, write_nrrd


class MpiGridTest(MpiCase):
    def assert_same_times(self, one, other):
        a, b = (read_npy(self.folder / name)[1] for name in (one, other))
        self.assert_close(a, b, 1e-3)

    def test_ranks_give_the_times_of_one_process(self):
        self.speeds()
        self.speeds("flat.nrrd", (40, 30, 1))
        self.image("mask.nrrd", (14, 12, 10), lambda i, j, k: 0.0 if i == 7 and j > 2 else 1.0)
        for image, more in (("speed.nrrd", "--source 0,900 --mask mask.nrrd"),
                            ("speed.nrrd", "--source-point 9,11,4 --order 2"),
                            ("speed.nrrd", "--source 700 --precision single"),
                            ("flat.nrrd", "--source 600 --source-time 2")):
            arguments = f"solve {image} --speed-array speed {more}"
            self.succeed(arguments, "-o one.npy --force")
            for ranks in (1, 2, 4):
                with self.subTest(image=image, more=more, ranks=ranks):
                    summary = self.summary(ranks, arguments, "-o many.npy --pieces 3")
                    self.assertEqual((summary["backend"], summary["mpi"]["ranks"], summary["mpi"]["split"]),
                                     ("mpi", ranks, "image"))
                    self.assertGreater(summary["mpi"]["messages"], 0)
                    self.assert_same_times("one.npy", "many.npy")

    def test_ranks_of_a_machine_solve_an_image_as_one(self):
        self.speeds()
        cores = len(os.sched_getaffinity(0))
        for more in ("", "--order 2"):
            arguments = f"solve speed.nrrd --source 700 --speed-array speed {more}"
            self.succeed(arguments, "-o one.npy --force")
            for team, parts, threads in (("", 1, min(4, cores)), ("--team 4", 1, min(4, cores)),
                                         ("--team 2", 4, 1), ("--team 1", 4, 1)):
                with self.subTest(more=more, team=team):
                    summary = self.summary(4, arguments, "-o many.npy --force", team)
                    self.assertEqual((summary["mpi"]["parts"], summary["threads"]), (parts, threads))
                    self.assertEqual(summary["mpi"]["messages"] > 0, parts > 1)
                    self.assert_same_times("one.npy", "many.npy")
        self.assertIn("3 in 1 team\n", self.over_ranks(3, arguments, "-o many.npy --force").stdout)

    def test_what_does_not_apply_to_an_image_is_said(self):
        self.image("speed.nrrd", (14, 12, 10), lambda i, j, k: 1.0)
        solve = "solve speed.nrrd --source 700 -o b.npy"
        cores = len(os.sched_getaffinity(0))
        for ranks, more, parts, threads, said in (
                (1, "--threads 2", 1, 2, None),
                (3, "--threads 2", 1, min(3, cores), "--threads has no effect on an image over several ranks"),
                (3, "--team 2", 3, 1, "an image is solved by all ranks as one team or by none"),
                (3, "--team 3 --pieces 2", 1, min(3, cores), "no pieces were made")):
            with self.subTest(ranks=ranks, more=more):
                summary = self.summary(ranks, solve, more)
                self.assertEqual((summary["mpi"]["parts"], summary["threads"]), (parts, threads))
                words = summary["notes"] + summary["warnings"]
                self.assertEqual(sum(said in word for word in words) if said else len(words), 1 if said else 0, words)

    def test_tensors_over_ranks(self):
        shape = (13, 12, 11)
        write_nrrd(self.folder / "d.nrrd", shape, self.turning_tensors(shape), kind="3D-symmetric-matrix", per_voxel=6)
        arguments = "solve d.nrrd --source 800 --velocity-tensor-array speed"
        for ranks, order in ((3, 1), (4, 1), (2, 2)):
            with self.subTest(ranks=ranks, order=order):
                self.succeed(arguments, f"-o one.npy --order {order} --force")
                summary = self.summary(ranks, arguments, f"-o many.npy --order {order} --team 1")
                self.assertEqual((summary["mpi"]["split"], summary["order"]), ("image", order))
                self.assert_same_times("one.npy", "many.npy")

    def test_sources_are_shared_out_when_there_are_enough(self):
        self.image("speed.nrrd", (9, 8, 7), lambda i, j, k: 1 + 0.1 * ((i + j + k) % 5))
        self.succeed("generate cube --n 6 -o a.msh")
        for file, more, domain in (("speed.nrrd", "--speed-array speed", "image"), ("a.msh", "", "mesh")):
            arguments = f"solve {file} --source 3,77,140,200 --each-source {more}"
            self.succeed(arguments, "-o one.npy --matrix one.csv --force")
            for ranks, split in ((2, "sources"), (4, "sources"), (5, domain)):
                with self.subTest(file=file, ranks=ranks):
                    summary = self.summary(ranks, arguments, "-o many.npy --matrix many.csv")
                    self.assertEqual((summary["mpi"]["split"], summary["backend"]), (split, "mpi"))
                    self.assertEqual([s["vertex"] for s in summary["sources"]], [3, 77, 140, 200])
                    self.assert_same_times("one.npy", "many.npy")
            self.assertEqual(self.summary(2, arguments, "-o many.npy --pieces 2")["mpi"]["split"], domain)
            summary = self.summary(2, arguments, "-o many.npy --threads 2")
            self.assertEqual((summary["mpi"]["split"], summary["threads"]), ("sources", 2))
            self.assert_same_times("one.npy", "many.npy")

    def test_the_summary_says_how_the_work_was_shared(self):
        self.succeed("generate cube --n 6 -o a.msh")
        done = self.over_ranks(2, "solve a.msh --source 3,77 --each-source -o b.npy")
        self.assertIn("2, the sources shared out between them", done.stdout)
        solve = "solve a.msh --source 3 -o b.msh --force"
        self.assertIn("2 in 1 team\n", self.over_ranks(2, solve).stdout)
        self.assertIn("2, the mesh shared out between them", self.over_ranks(2, solve, "--team 1").stdout)

    def test_the_summary_says_where_ranks_have_nothing_to_do(self):
        self.image("small.nrrd", (14, 9, 8), lambda i, j, k: 1.0)
        solve, said = "solve small.nrrd --source 0", "2 of 3 ranks solve it: the image is too small"
        self.assertEqual(self.summary(1, solve, "-o a.vti")["notes"], [])
        for output in ("a.vti", "a.pvti"):
            self.assertEqual(self.summary(3, solve, f"-o {output}")["notes"], [])  # one team
            self.assert_said(said, self.summary(3, solve, f"-o {output} --team 1")["notes"])
        self.assert_said(said, self.summary(3, "solve a.pvti --source 0 -o b.pvti")["notes"])
        self.assertEqual(self.summary(3, solve, "-o a.vti --pieces 2")["notes"], [])

    def test_errors_are_said_once(self):
        self.image("speed.nrrd", (9, 8, 7), lambda i, j, k: 1.0)
        self.succeed("generate cube --n 5 -o a.msh")
        solve = "solve speed.nrrd -o b.npy --speed 1"
        self.fail_over_ranks(2, solve, "--source 0 --scheme godunov", words=("adaptive", "godunov"))
        self.fail_over_ranks(2, solve, "--source 0 --source-init factored", words="factored")
        self.fail_over_ranks(3, solve, "--source 99999", words=("99999", "speed.nrrd"))
        self.fail_over_ranks(3, solve, "--each-source --source 0,1,2,99999,4", words="99999")
        self.fail_over_ranks(3, "solve a.msh -o b.npy --each-source --source 0,1,2,3 --speed-array none", words="none")
        self.fail_over_ranks(1, "solve a.msh -o b.npy --each-source --source 0,1,2,3 --rank-backend cuda", words="GPU")

    def writes_table(self, launcher):
        """Whether the first rank has begun a table, which has no name until it is whole."""
        first = self.rank_processes(launcher.pid).get(0)
        try:
            open_files = [os.readlink(f"/proc/{first}/fd/{name}") for name in os.listdir(f"/proc/{first}/fd")]
        except OSError:
            return False
        return any(name.startswith(os.path.realpath(self.folder)) and "(deleted)" in name for name in open_files)

    def end_while_writing(self, ranks, how):
        """Sends ranks a signal once a table of 27,000 sources is begun; gives the exit code and what was said."""
        self.succeed("generate cube --n 30 -o a.msh")
        before = self.files()
        with self.start_ranks(2, "solve a.msh -o b.npy --source 0-26999 --each-source") as launcher:
            end = time.monotonic() + 60
            while not self.writes_table(launcher) and self.files() == before and time.monotonic() < end:
                time.sleep(0.05)
            named = self.files() != before
            processes = self.rank_processes(launcher.pid)
            for rank in ranks:
                os.kill(processes[rank], how)
            out, err = launcher.communicate(timeout=60)
        if named and how == signal.SIGKILL:
            self.skipTest("files must have names here")
        self.assertEqual(self.files(), before)
        self.assertEqual(out, "")
        return launcher.returncode, err

    def test_a_killed_rank_leaves_no_table(self):
        code, _ = self.end_while_writing((0,), signal.SIGKILL)
        self.assertNotEqual(code, 0)

    def test_an_interrupt_ends_all_ranks_without_a_file(self):
        code, err = self.end_while_writing((0, 1), signal.SIGINT)
        self.assertEqual(code, 130, err)
        self.assertEqual(err.count("isochron: error: interrupted"), 1, err)
