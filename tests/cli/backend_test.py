"""Back ends: which one runs, and what is said and done when the GPU is missing or cannot do what is asked for."""

import math
import os

from cli_case import TET, TET_POINTS, CliCase

GPU_METHODS = ("push", "patch-fim", "active-list", "domain-decomposition")
# The driver shows no device to a process with this.
HIDDEN = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}


class BackendTest(CliCase):
    def solve(self, mesh, *options, **more):
        """The summary of a solve that must succeed."""
        return self.succeed_json(f"solve {mesh} -o out.msh --force", *options, **more)

    def test_a_missing_gpu_is_exit_1_and_says_what_to_do(self):
        self.write_msh("a.msh", TET_POINTS, tets=TET)
        for method in ("auto", *GPU_METHODS):
            self.expect(1, f"solve a.msh -o b.msh --source 0 --backend cuda --method {method}",
                        words=("GPU", "--backend threads"), env=HIDDEN)

    def test_auto_does_without_a_gpu(self):
        self.succeed("generate cube --n 5 -o a.msh")
        summary = self.solve("a.msh", "--source 0", env=HIDDEN)
        self.assert_fields(summary, backend="serial", method="banded", notes=[])

    def test_what_the_gpu_cannot_do_is_exit_2(self):
        self.write_msh("a.msh", TET_POINTS, tets=TET)
        for options, words in (("--method fmm", ("fmm", "push")), ("--method banded", ("banded", "push")),
                               ("--method push --split-obtuse always", ("active-list", "--split-obtuse")),
                               ("--source-init factored", ("factored", "CPU"))):
            self.expect(2, "solve a.msh -o b.msh --source 0 --backend cuda", options, words=words)
        for method in GPU_METHODS:
            self.expect(2, f"solve a.msh -o b.msh --source 0 --backend threads --method {method}",
                        words=(method, "GPU"))

    def test_the_gpu_gives_the_cpus_times(self):
        self.need_gpu()
        self.succeed("generate cube --n 9 --jitter 0.2 -o a.msh")
        self.succeed("generate square --n 20 -o b.msh")
        for mesh in ("a.msh", "b.msh"):
            cpu = self.solve(mesh, "--source 0 --verify")
            for method in GPU_METHODS:
                for precision in ("single", "double"):
                    with self.subTest(mesh=mesh, method=method, precision=precision):
                        gpu = self.solve(mesh, f"--source 0 --verify --backend cuda --method {method}",
                                         f"--precision {precision}")
                        self.assert_fields(gpu, backend="cuda", method=method, precision=precision, converged=True,
                                           unreached=0)
                        self.assertAlmostEqual(gpu["max_time"], cpu["max_time"], delta=1e-4)
        self.assert_fields(self.solve("a.msh", "--source 0 --backend cuda"), method="push", precision="single")

    def test_the_gpu_takes_odd_meshes(self):
        self.need_gpu()
        self.write_msh("one.msh", [*TET_POINTS, (9, 9, 9)], tets=TET)
        one = self.solve("one.msh", "--source 0 --verify --backend cuda")
        self.assert_fields(one, reached=4, unreached=1, unreached_in_no_element=1)
        # Ten thousand triangles around a vertex, in sheets that do not touch.
        ring = [(math.cos(i % 6 * math.pi / 3), math.sin(i % 6 * math.pi / 3), 0) for i in range(10001)]
        self.write_msh("fan.msh", [(0, 0, 0), *ring], [(0, i + 1, i + 2) for i in range(10000)])
        for method in GPU_METHODS:
            fan = self.solve("fan.msh", f"--source 0 --verify --backend cuda --method {method}")
            self.assertEqual((fan["reached"], fan["converged"]), (10002, True), method)
            self.assertAlmostEqual(fan["max_time"], 1, places=5)

    def test_bad_input_stays_exit_3_on_the_gpu(self):
        self.need_gpu()
        self.write_msh("a.msh", TET_POINTS, tets=TET)
        self.write_msh("none.msh", TET_POINTS)
        os.remove(self.folder / "probed.msh")
        self.expect(3, "solve none.msh -o b.msh --source 0 --backend cuda", words="none.msh")
        self.expect(3, "solve a.msh -o b.msh --source 4 --backend cuda", words="out of range")
        self.expect(3, "solve a.msh -o b.msh --source-point 50,0,0 --backend cuda", words="away from the mesh")
