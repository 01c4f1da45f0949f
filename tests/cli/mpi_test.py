"""isochron solve over MPI ranks, and what is said when one of them fails."""

import json
import os
import signal
import time

from mpi_case import ENVIRONMENT, MpiCase


class MpiTest(MpiCase):
    def times(self, name):
        """The values of arrival_time of a Gmsh file."""
        lines = self.read_text(name).splitlines()
        first = lines.index('"arrival_time"') + 7
        return [float(line.split()[1]) for line in lines[first:first + int(lines[first - 1])]]

    def test_ranks_give_the_times_of_one_process(self):
        self.succeed("generate cube --n 9 --jitter 0.2 -o a.msh")
        self.succeed("generate square --n 30 -o b.msh")
        for mesh, source in (("a.msh", "--source 0,300"), ("b.msh", "--source-point 0.4,0.3,0")):
            self.succeed(f"solve {mesh} -o one.msh", source, "--force")
            for ranks in (1, 2, 4):
                with self.subTest(mesh=mesh, ranks=ranks):
                    summary = self.summary(ranks, f"solve {mesh} -o many.msh", source, "--pieces 2")
                    self.assertEqual((summary["backend"], summary["mpi"]["ranks"]), ("mpi", ranks))
                    self.assert_close(self.times("many.msh"), self.times("one.msh"), 1e-4)

    def test_the_aims_over_ranks_run_to_their_end(self):
        for ranks, hows in ((1, ("",)), (2, ("", ", by messages"))):
            with self.subTest(ranks=ranks):
                done = self.over_ranks(ranks, "bench goals-mpi --quick --json -o out", backend="")
                self.assertEqual(done.returncode, 0, done.stderr)
                ours = {}
                for entry in json.loads(done.stdout)["entries"]:  # only one rank speaks, or this fails
                    self.assertIsNotNone(entry["ours"], entry)
                    ours[entry["row"], entry["column"]] = entry["ours"]
                for scaling, elements in (("weak", 20000 * ranks), ("strong", 200000)):
                    for how in hows:
                        self.assertAlmostEqual(ours[scaling + how, "elements"] / elements, 1, delta=0.1)
                        self.assertGreater(ours[scaling + how, "solve"], 0)
                        self.assertTrue(1 <= ours[scaling + how, "updates"] < 3, ours)
                self.assertEqual(ours["strong" + hows[-1], "messages"] > 0, ranks > 1)
                self.assertEqual([int(row["ranks"]) for row in self.rows("out/goals-mpi-runs.csv")], [ranks] * 2)

    def test_threads_in_each_rank_give_the_times_of_one_process(self):
        self.succeed("generate cube --n 12 --jitter 0.2 -o a.msh")
        self.succeed("solve a.msh -o one.msh --source 0")
        summary = self.summary(2, "solve a.msh -o many.msh --source 0 --threads 2")
        self.assertEqual((summary["mpi"]["ranks"], summary["threads"]), (2, 2))
        self.assert_close(self.times("many.msh"), self.times("one.msh"), 1e-4)

    def test_ranks_of_one_machine_solve_as_one(self):
        self.succeed("generate cube --n 12 --jitter 0.2 -o a.msh")
        self.succeed("solve a.msh -o one.msh --source 0,300")
        cores = len(os.sched_getaffinity(0))
        for options, parts, threads in (("", 1, min(4, cores)), ("--team 2", 2, min(2, cores)),
                                        ("--team 1", 4, 1), ("--pieces 2", 4, 1)):
            with self.subTest(options=options):
                summary = self.summary(4, "solve a.msh -o many.msh --source 0,300", options)
                self.assert_fields(summary["mpi"], ranks=4, parts=parts)
                self.assertEqual(summary["threads"], threads)
                self.assertEqual(summary["mpi"]["messages"] == 0, parts == 1)
                self.assert_close(self.times("many.msh"), self.times("one.msh"), 1e-4)
        self.assertIn("3 in 1 team\n", self.over_ranks(3, "solve a.msh -o many.msh --source 0 --force").stdout)

    def test_ranks_that_are_tied_to_places_have_parts_of_their_own(self):
        self.succeed("generate cube --n 8 -o a.msh")
        for variable, value, parts, words in (("OMP_PROC_BIND", "true", 2, "OMP_PROC_BIND ties threads"),
                                              ("OMP_THREAD_LIMIT", "1", 2, "OMP_THREAD_LIMIT"),
                                              ("OMP_PROC_BIND", "false", 1, None)):
            if len(os.sched_getaffinity(0)) == 1 and variable == "OMP_THREAD_LIMIT":
                continue  # one thread is all there is
            with self.subTest(variable=variable, value=value):
                self.environment = {**ENVIRONMENT, variable: value}
                summary = self.summary(2, "solve a.msh -o b.msh --source 0")
                self.assertEqual(summary["mpi"]["parts"], parts)
                self.assertEqual(any(words in note for note in summary["notes"]) if words else summary["notes"] == [],
                                 True, summary["notes"])

    def test_without_mpirun_it_is_one_rank(self):
        self.succeed("generate cube --n 5 -o a.msh")
        summary = self.succeed_json("solve a.msh -o b.msh --source 0 --backend mpi", env=ENVIRONMENT)
        self.assertEqual(summary["mpi"]["ranks"], 1)

    def test_ranks_that_do_the_same_are_told_once(self):
        self.succeed("generate cube --n 5 -o a.msh")
        done = self.over_ranks(2, "solve a.msh -o b.msh --source 0 --force", backend="")
        self.assertEqual(done.stderr.count("2 ranks were launched"), 1, done.stderr)

    def test_each_source_over_ranks(self):
        self.succeed("generate cube --n 6 -o a.msh")
        summary = self.summary(2, "solve a.msh -o b.msh --source 0,7,100 --each-source")
        self.assertEqual(len(summary["sources"]), 3)

    def test_errors_are_said_once(self):
        self.succeed("generate cube --n 5 -o a.msh")
        for code, options, words in ((2, "--source 0 --nonsense", "nonsense"), (2, "", "no source"),
                                     (3, "--source 99999", ("99999", "out of range")),
                                     (2, "--source 0 --method fim", "banded"),
                                     (2, "--source 0 --source-init factored", "factored")):
            self.fail_over_ranks(code, "solve a.msh -o b.msh", options, words=words)
        self.fail_over_ranks(3, "solve none.msh -o b.msh --source 0", words="none.msh")

    def test_a_killed_rank_ends_the_job_without_a_file(self):
        self.succeed("generate cube --n 20 -o a.msh")
        before = self.files()
        with self.start_ranks(2, "solve a.msh -o b.msh --source 0") as launcher:
            ranks, end = {}, time.monotonic() + 20
            while len(ranks) < 2 and time.monotonic() < end:
                ranks = self.rank_processes(launcher.pid)
            self.assertEqual(len(ranks), 2)
            os.kill(ranks[1], signal.SIGSTOP)  # the other one cannot finish without it
            time.sleep(1.5)
            self.assertIsNone(launcher.poll())
            os.kill(ranks[1], signal.SIGKILL)
            out, err = launcher.communicate(timeout=60)
        self.assertNotEqual(launcher.returncode, 0)
        self.assertIn("signal 9", err)
        self.assertEqual(out, "")
        self.assertEqual(self.files(), before)
