"""One solve over MPI ranks that compute on GPUs, and what is said where there are none."""

from mpi_case import MpiCase

ON_GPUS = ("--backend", "mpi", "--rank-backend", "cuda")


class MpiGpuTest(MpiCase):
    def assert_same(self, found, expected, tolerance):
        self.assertEqual(len(found), len(expected))
        self.assertLess(max(abs(a - b) for a, b in zip(found, expected)), tolerance)

    def test_gpus_give_the_times_of_one_process(self):
        there, why = self.has_gpu()
        if not there:
            self.skipTest(why)
        self.succeed("generate", "cube", "--n", "12", "--jitter", "0.2", "-o", "a.vtu")
        self.succeed("solve", "a.vtu", "-o", "one.vtu", "--source", "0,300", "--backend", "serial")
        expected = self.vtk_arrays("one.vtu")["arrival_time"]
        for ranks in (1, 2, 3):
            for precision, tolerance in (("double", 1e-5), ("single", 1e-4)):
                with self.subTest(ranks=ranks, precision=precision):
                    summary = self.summary(ranks, "solve", "a.vtu", "-o", "many.vtu", "--source", "0,300",
                                           "--precision", precision, *ON_GPUS)
                    self.assertTrue(summary["converged"])
                    self.assertIn("each rank solved on its GPU", summary["notes"])
                    self.assert_same(self.vtk_arrays("many.vtu")["arrival_time"], expected, tolerance)

    def test_gpus_solve_from_pieces_to_pieces(self):
        there, why = self.has_gpu()
        if not there:
            self.skipTest(why)
        done = self.over_ranks(2, "generate", "cube", "--n", "12", "-o", "a.pvtu", "--backend", "mpi")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.succeed("solve", "a.pvtu", "-o", "one.vtu", "--source", "0", "--backend", "serial")
        summary = self.summary(2, "solve", "a.pvtu", "-o", "b.pvtu", "--source", "0", *ON_GPUS)
        self.assertTrue(summary["converged"])
        self.assertIn("each rank solved on its GPU", summary["notes"])
        self.assert_same(self.set_arrays("b.pvtu")["arrival_time"], self.vtk_arrays("one.vtu")["arrival_time"], 1e-4)

    def test_a_missing_gpu_is_said_once(self):
        if self.has_gpu()[0]:
            self.skipTest("there is a GPU")
        self.succeed("generate", "cube", "--n", "5", "-o", "a.vtu")
        self.fail_over_ranks(1, "solve", "a.vtu", "-o", "b.vtu", "--source", "0", *ON_GPUS, words=("GPU",))
        done = self.over_ranks(2, "generate", "cube", "--n", "5", "-o", "a.pvtu", "--backend", "mpi")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.fail_over_ranks(1, "solve", "a.pvtu", "-o", "b.pvtu", "--source", "0", *ON_GPUS, words=("GPU",))

    def test_auto_takes_what_all_ranks_have(self):
        there = self.has_gpu()[0]
        self.succeed("generate", "cube", "--n", "8", "-o", "a.vtu")
        summary = self.summary(2, "solve", "a.vtu", "-o", "b.vtu", "--source", "0", "--backend", "mpi",
                               "--rank-backend", "auto")
        self.assertTrue(summary["converged"])
        self.assertEqual("each rank solved on its GPU" in summary["notes"], there)

    def test_gpus_solve_images(self):
        there, why = self.has_gpu()
        if not there:
            self.skipTest(why)
        self.succeed("generate", "phantom", "-o", "a.nrrd")
        solve = ("solve", "a.nrrd", "--source", "0,9000", "--speed", "1")
        self.succeed(*solve, "-o", "one.vti", "--backend", "serial")
        expected = self.vtk_arrays("one.vti")["arrival_time"]
        for ranks in (1, 3):
            for precision, tolerance in (("double", 1e-4), ("single", 1e-2)):
                with self.subTest(ranks=ranks, precision=precision):
                    summary = self.summary(ranks, *solve, "-o", "many.vti", "--precision", precision, *ON_GPUS)
                    self.assertTrue(summary["converged"])
                    self.assertIn("each rank solved on its GPU", summary["notes"])
                    self.assert_same(self.vtk_arrays("many.vti")["arrival_time"], expected, tolerance)
