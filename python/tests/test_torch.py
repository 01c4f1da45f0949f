"""Times in PyTorch's autograd, against its own differences."""

import unittest

import numpy as np

import isochron
import isochron.torch
from isochron import UsageError

try:
    import torch
except ImportError:
    torch = None


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Autograd(unittest.TestCase):
    def check(self, times, *inputs, eps=1e-6, atol=1e-5):
        self.assertTrue(torch.autograd.gradcheck(times, inputs, eps=eps, atol=atol))

    def tensor(self, values):
        return torch.tensor(np.asarray(values, dtype=np.float64), requires_grad=True)

    def test_speed_and_onsets_of_a_mesh(self):
        mesh = isochron.generate.irregular_square(n=6)
        speed = self.tensor(np.random.default_rng(1).uniform(0.8, 1.2, len(mesh.cells)))
        onsets = self.tensor([0.1, 0.15])
        self.check(
            lambda s, t: isochron.torch.solve(mesh, [0, 30], t, speed=s, tolerance=1e-13, source_init="plain"), speed, onsets
        )

    def test_place_of_a_source(self):
        mesh = isochron.generate.cube(n=4, jitter=0.2)
        place = self.tensor([[0.41, 0.37, 0.33]])
        self.check(lambda p: isochron.torch.solve(mesh, p, tolerance=1e-13, source_init="plain"), place)

    def test_tensors_in_every_shape(self):
        grid = isochron.Grid((5, 6))
        for given in (np.diag([1.5, 1.2]), np.diag([1.5, 1.2, 1.0]), [1.5, 0.2, 0.0, 1.2, 0.0, 1.0]):
            one = self.tensor(given)
            self.check(lambda m: isochron.torch.solve(grid, [[1.3, 2.2]], metric=_symmetric(m), tolerance=1e-13), one)

    def test_rows_of_a_grid_in_fortran_order(self):
        grid = isochron.Grid((4, 5), order="F")
        tensors = self.tensor(np.tile(np.diag([1.5, 1.2]), (20, 1, 1)))
        weights = torch.from_numpy(np.random.default_rng(3).normal(size=(4, 5)))
        (isochron.torch.solve(grid, [0], metric=tensors, source_init="plain") * weights).sum().backward()
        direction = np.random.default_rng(4).normal(size=20)[:, None, None] * np.diag([1.5, 1.2])
        solver = isochron.Solver(grid, metric=tensors.detach().numpy(), tolerance=1e-12, source_init="plain")
        change = solver.linearize(solver.solve([0])).jvp(metric=direction)
        self.assertAlmostEqual(float((tensors.grad.numpy() * direction).sum()), float((change * weights.numpy()).sum()), places=9)

    def test_positions_of_other_dimensions(self):
        place = self.tensor([[1.3, 2.2, 0.0]])
        self.check(lambda p: isochron.torch.solve(isochron.Grid((5, 6)), p, tolerance=1e-13, source_init="plain"), place)

    def test_changing_the_input_afterwards_changes_nothing(self):
        speed = self.tensor(np.full((6, 6), 2.0))
        times = isochron.torch.solve(isochron.Grid((6, 6)), [0], speed=speed)
        with torch.no_grad():
            speed += 1
        times.sum().backward()
        self.assertAlmostEqual(float(speed.grad.sum()), -float(times.detach().sum()) / 2, places=4)

    def test_lists_of_tensors(self):
        onset = self.tensor(0.25)
        times = isochron.torch.solve(isochron.Grid((6, 6)), [0], [onset])
        times.sum().backward()
        self.assertAlmostEqual(float(onset.grad), 36, places=9)

    def test_velocities_and_a_solver(self):
        mesh = isochron.generate.cube(n=4, jitter=0.2)
        fibers = np.tile([1.0, 0.3, 0.0], (len(mesh.cells), 1))
        velocity = self.tensor([0.6, 0.3])
        solver = isochron.Solver(mesh, fibers=fibers, velocity=(0.6, 0.3), tolerance=1e-13, source_init="plain")
        self.check(lambda v: isochron.torch.solve(solver, [0], fibers=fibers, velocity=v), velocity)

    def test_one_step_of_descent(self):
        grid = isochron.Grid((12, 12))
        measured = torch.from_numpy(isochron.solve(grid, [0], speed=1.2).times)
        speed = torch.ones((12, 12), dtype=torch.float64, requires_grad=True)

        def misfit():
            times = isochron.torch.solve(grid, [0], speed=speed, source_init="plain")
            return ((times - measured) ** 2).sum()

        before = misfit()
        before.backward()
        with torch.no_grad():
            speed -= 0.02 * speed.grad / speed.grad.abs().max()
        self.assertLess(float(misfit().detach()), float(before.detach()))

    def test_single_precision_and_no_gradient(self):
        grid = isochron.Grid((8, 8))
        times = isochron.torch.solve(grid, [0], speed=torch.full((8, 8), 2.0))
        self.assertEqual(times.dtype, torch.float32)
        self.assertFalse(times.requires_grad)
        np.testing.assert_allclose(times.numpy(), isochron.solve(grid, [0], speed=2.0).times, rtol=1e-6)

    def test_refusals(self):
        grid = isochron.Grid((8, 8))
        speed = self.tensor(np.ones((8, 8)))
        with self.assertRaisesRegex(UsageError, "cannot be differentiated by mask"):
            isochron.torch.solve(grid, [0], mask=self.tensor(np.ones((8, 8))))
        with self.assertRaisesRegex(UsageError, "first order"):
            isochron.torch.solve(grid, [0], speed=speed, order=2)
        with self.assertRaisesRegex(UsageError, "from a level set"):
            isochron.torch.solve(grid, None, level_set=np.ones((8, 8)), speed=speed)
        with self.assertRaisesRegex(UsageError, "a dict with tensors"):
            isochron.torch.solve(grid, [0], velocity={0: speed[0]})
        place = self.tensor([[2.0, 3.0]])  # a voxel
        with self.assertRaisesRegex(UsageError, "a source is a vertex"):
            isochron.torch.solve(grid, place).sum().backward()


class WithoutTorch(unittest.TestCase):
    @unittest.skipIf(torch is not None, "PyTorch is installed")
    def test_says_what_is_missing(self):
        with self.assertRaisesRegex(UsageError, "needs PyTorch"):
            isochron.torch.solve(isochron.Grid((8, 8)), [0])


def _symmetric(m):
    """Differences change one entry alone, which a tensor cannot do."""
    return m if m.dim() == 1 else 0.5 * (m + m.transpose(0, 1))


if __name__ == "__main__":
    unittest.main()
