"""One solve over MPI ranks that compute on GPUs, and what is said where there are none."""

from mpi_case import MpiCase


class MpiGpuTest(MpiCase):
    def on_gpus(self, ranks, *arguments):
        summary = self.summary(ranks, *arguments, "--rank-backend cuda")
        self.assertIn("each rank solved on its GPU", summary["notes"])

    def test_gpus_give_the_times_of_one_process(self):
        self.need_gpu()
        self.succeed("generate cube --n 12 --jitter 0.2 -o a.vtu")
        self.succeed("solve a.vtu -o one.vtu --source 0,300 --backend serial")
        expected = self.vtk_arrays("one.vtu")["arrival_time"]
        for ranks in (1, 2, 3):
            for precision, tolerance in (("double", 1e-5), ("single", 1e-4)):
                with self.subTest(ranks=ranks, precision=precision):
                    self.on_gpus(ranks, f"solve a.vtu -o many.vtu --source 0,300 --precision {precision}")
                    self.assert_close(self.vtk_arrays("many.vtu")["arrival_time"], expected, tolerance)

    def test_gpus_solve_from_pieces_to_pieces(self):
        self.need_gpu()
        self.succeed_over_ranks(2, "generate cube --n 12 -o a.pvtu")
        self.succeed("solve a.pvtu -o one.vtu --source 0 --backend serial")
        self.on_gpus(2, "solve a.pvtu -o b.pvtu --source 0")
        self.assert_close(self.set_arrays("b.pvtu")["arrival_time"], self.vtk_arrays("one.vtu")["arrival_time"], 1e-4)

    def test_a_missing_gpu_is_said_once(self):
        if self.has_gpu()[0]:
            self.skipTest("there is a GPU")
        self.succeed("generate cube --n 5 -o a.vtu")
        self.fail_over_ranks(1, "solve a.vtu -o b.vtu --source 0 --rank-backend cuda", words="GPU")
        self.succeed_over_ranks(2, "generate cube --n 5 -o a.pvtu")
        self.fail_over_ranks(1, "solve a.pvtu -o b.pvtu --source 0 --rank-backend cuda", words="GPU")

    def test_auto_takes_what_all_ranks_have(self):
        there = self.has_gpu()[0]
        self.succeed("generate cube --n 8 -o a.vtu")
        summary = self.summary(2, "solve a.vtu -o b.vtu --source 0 --rank-backend auto")
        self.assertEqual("each rank solved on its GPU" in summary["notes"], there)

    def test_gpus_solve_images(self):
        self.need_gpu()
        self.succeed("generate phantom -o a.nrrd")
        solve = "solve a.nrrd --source 0,9000 --speed 1"
        self.succeed(solve, "-o one.vti --backend serial")
        expected = self.vtk_arrays("one.vti")["arrival_time"]
        for ranks in (1, 3):
            for precision, tolerance in (("double", 1e-4), ("single", 1e-2)):
                with self.subTest(ranks=ranks, precision=precision):
                    self.on_gpus(ranks, solve, f"-o many.vti --precision {precision}")
                    self.assert_close(self.vtk_arrays("many.vti")["arrival_time"], expected, tolerance)
