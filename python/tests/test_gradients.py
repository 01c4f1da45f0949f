"""Derivatives of arrival times, by the name of what they are by."""

import copy
import unittest

import numpy as np

import isochron
from isochron import InputError, UsageError

try:
    import scipy.sparse
except ImportError:
    scipy = None


def square(n=14):
    return isochron.generate.irregular_square(n=n)


def dot(a, b):
    return float((np.asarray(a) * np.asarray(b)).sum())


class Products(unittest.TestCase):
    """jvp against differences, and vjp against jvp."""

    def check(self, mesh, given, direction, sources, **options):
        options = {"tolerance": 1e-13, "precision": "double", **options}
        solver = isochron.Solver(mesh, **given, **options)
        arrival = solver.solve(sources)
        linear = solver.linearize(arrival)
        change = linear.jvp(**direction)
        self.assertEqual(change.shape, arrival.times.shape)

        step = 1e-6

        def moved(sign):
            arguments = dict(given)
            for name, by in direction.items():
                arguments[name] = given[name] + sign * step * by
            return isochron.solve(mesh, sources, **arguments, **options).times

        difference = (moved(1) - moved(-1)) / (2 * step)
        limit = 2e-2 if isinstance(mesh, isochron.Grid) else 1e-5  # weights of grids are in single precision
        self.assertLess(np.linalg.norm(difference - change), limit * np.linalg.norm(change))

        cotangent = np.random.default_rng(1).normal(size=change.shape)
        gradients = linear.vjp(cotangent)
        backwards = sum(dot(gradients[name], by) for name, by in direction.items())
        self.assertAlmostEqual(backwards, dot(cotangent, change), delta=1e-10 * np.abs(cotangent * change).sum())
        again = linear.gauss_newton(weights=2.0, **direction)
        for name in direction:
            self.assertEqual(np.shape(again[name]), np.shape(gradients[name]))
        return linear

    def test_speed_by_element(self):
        mesh = square()
        random = np.random.default_rng(2)
        speed = random.uniform(0.8, 1.2, len(mesh.cells))
        self.check(mesh, {"speed": speed}, {"speed": random.normal(size=speed.shape)}, [0])

    def test_speed_by_vertex(self):
        mesh = square()
        random = np.random.default_rng(3)
        speed = random.uniform(0.8, 1.2, len(mesh.points))
        self.check(mesh, {"speed": speed}, {"speed": random.normal(size=speed.shape)}, [[0.43, 0.52, 0.0]])

    def test_one_speed(self):
        self.check(square(), {"speed": 1.3}, {"speed": 1.0}, [0])

    def test_velocities_by_region(self):
        mesh = isochron.generate.cube(n=8, jitter=0.2)
        regions = np.arange(len(mesh.cells)) % 2
        fibers = np.tile([1.0, 0.2, 0.0], (len(mesh.cells), 1))
        solver = isochron.Solver(mesh, fibers=fibers, velocity={0: (0.6, 0.3), 1: (0.5, 0.2)}, regions=regions,
                                 tolerance=1e-13)
        linear = solver.linearize(solver.solve([0]))
        gradients = linear.vjp(1.0)
        self.assertEqual(set(gradients), {"metric", "onset", "velocity", "fibers", "points"})
        direction = {0: np.array([0.1, -0.2]), 1: np.array([0.2, 0.1])}
        change = linear.jvp(velocity=direction)
        backwards = sum(dot(gradients["velocity"][r], direction[r]) for r in direction)
        self.assertAlmostEqual(backwards, change.sum(), delta=1e-10 * abs(change).sum())

    def test_grid_orders(self):
        random = np.random.default_rng(4)
        for order in "CF":
            grid = isochron.Grid((13, 11), spacing=(0.5, 0.4), order=order)
            speed = random.uniform(0.9, 1.1, grid.shape)
            self.check(grid, {"speed": speed}, {"speed": random.normal(size=grid.shape)}, [[1.3, 2.1]])
            flat = grid.flat(speed, "speed")
            self.check(grid, {"speed": flat}, {"speed": random.normal(size=grid.size)}, [[1.3, 2.1]])

    def test_places_on_flat_meshes(self):
        mesh = square()
        solver = isochron.Solver((mesh.points[:, :2], mesh.cells), tolerance=1e-13, source_init="plain")
        linear = solver.linearize(solver.solve([[0.43, 0.52, 0.0]]))
        gradients = linear.vjp(1.0)
        self.assertEqual(gradients["position"].shape, (1, 2))
        change = linear.jvp(position=[[0.3, -0.2]])
        self.assertAlmostEqual(change.sum(), dot(gradients["position"], [[0.3, -0.2]]), delta=1e-10 * abs(change).sum())

    def test_points(self):
        for mesh in (square(), isochron.generate.cube(n=9, jitter=0.2), isochron.generate.sphere(frequency=6)):
            weights = [0.4, 0.3, 0.2, 0.1] if mesh.cells.shape[1] == 4 else [0.5, 0.3, 0.2]
            place = weights @ np.asarray(mesh.points)[np.asarray(mesh.cells)[70]]
            options = {"tolerance": 1e-13, "precision": "double", "speed": 1.3, "split_obtuse": "never"}
            solver = isochron.Solver(mesh, **options)
            linear = solver.linearize(solver.solve([place]))
            points = np.asarray(mesh.points)
            displacement = np.stack([np.sin(points[:, 1]), np.cos(2 * points[:, 0]), 0 * points[:, 0]], axis=1)
            change = linear.jvp(points=displacement)

            def moved(step):
                return isochron.solve((points + step * displacement, mesh.cells), [place], **options).times

            difference = (moved(1e-6) - moved(-1e-6)) / 2e-6
            self.assertLess(np.linalg.norm(difference - change), 1e-5 * np.linalg.norm(change))
            cotangent = np.random.default_rng(1).normal(size=change.shape)
            backwards = dot(linear.vjp(cotangent)["points"], displacement)
            self.assertAlmostEqual(backwards, dot(cotangent, change), delta=1e-10 * np.abs(cotangent * change).sum())
            with self.assertRaisesRegex(InputError, "points has the wrong shape"):
                linear.jvp(points=displacement[1:])

    def test_level_set(self):
        mesh = square(n=20)
        points = np.asarray(mesh.points)
        values = np.hypot(points[:, 0] - 0.47, points[:, 1] - 0.52) - 0.23
        solver = isochron.Solver(mesh, tolerance=1e-13, precision="double")
        arrival = solver.solve(level_set=values)
        linear = solver.linearize(arrival)
        self.assertTrue(linear.verify().passed)
        direction = 1 + 0.5 * np.sin(9 * points[:, 1])
        change = linear.jvp(level_set=direction)
        step = 1e-6
        difference = (solver.solve(level_set=values + step * direction).times
                      - solver.solve(level_set=values - step * direction).times) / (2 * step)
        self.assertLess(np.linalg.norm(difference - change), 1e-5 * np.linalg.norm(change))
        cotangent = np.random.default_rng(1).normal(size=change.shape)
        self.assertAlmostEqual(dot(linear.vjp(cotangent)["level_set"], direction), dot(cotangent, change), places=9)
        self.assertNotIn("level_set", solver.linearize(solver.solve([0])).vjp(1.0))

    def test_points_of_flat_meshes_have_two_coordinates(self):
        mesh = square()
        solver = isochron.Solver((mesh.points[:, :2], mesh.cells), tolerance=1e-13)
        linear = solver.linearize(solver.solve([0]))
        self.assertEqual(linear.vjp(1.0)["points"].shape, (len(mesh.points), 2))
        rows = linear.operator("points")
        self.assertEqual(rows.shape, (len(mesh.points), 2 * len(mesh.points)))

    def test_points_of_grids_stay(self):
        grid = isochron.Grid((9, 8))
        solver = isochron.Solver(grid, speed=np.ones(grid.shape))
        linear = solver.linearize(solver.solve([0]))
        self.assertNotIn("points", linear.vjp(1.0))
        with self.assertRaisesRegex(UsageError, "grid"):
            linear.jvp(points=np.zeros((grid.size, 2)))

    def test_tensors_on_grids(self):
        grid = isochron.Grid((9, 8, 7), order="F")
        tensors = np.tile(np.diag([2.0, 1.5, 1.0]), grid.shape + (1, 1))
        solver = isochron.Solver(grid, velocity_tensor=tensors, tolerance=1e-13)
        arrival = solver.solve([[4.2, 3.1, 3.3]])
        linear = solver.linearize(arrival)
        gradients = linear.vjp(1.0)
        self.assertEqual(gradients["velocity_tensor"].shape, grid.shape + (3, 3))
        self.assertEqual(gradients["position"].shape, (1, 3))
        # Times go with the root of D.
        self.assertAlmostEqual(dot(gradients["velocity_tensor"], tensors), -0.5 * arrival.times.sum(),
                               delta=1e-5 * arrival.times.sum())
        np.testing.assert_allclose(linear.jvp(velocity_tensor=tensors), -0.5 * arrival.times, rtol=1e-5, atol=1e-9)


class Rows(unittest.TestCase):
    @unittest.skipIf(scipy is None, "SciPy is not installed")
    def test_rows_are_gradients(self):
        mesh = square()
        speed = np.random.default_rng(5).uniform(0.8, 1.2, len(mesh.cells))
        solver = isochron.Solver(mesh, speed=speed, tolerance=1e-13)
        arrival = solver.solve([0])
        linear = solver.linearize(arrival)
        rows = linear.jacobian([50, 77])
        one = np.zeros(len(mesh.points))
        one[77] = 1
        expected = linear.vjp(one)["speed"]
        np.testing.assert_allclose(rows[1].toarray()[0], expected, rtol=1e-10, atol=1e-15)
        whole = linear.jacobian([50, 77], of="metric")[1].toarray()[0]
        matrices = linear.vjp(one)["metric"]
        twice = np.where(np.eye(3, dtype=bool), 1.0, 2.0)
        upper, right = np.triu_indices(3)
        np.testing.assert_allclose(whole.reshape(-1, 6), (matrices * twice)[:, upper, right], atol=1e-14)

    @unittest.skipIf(scipy is None, "SciPy is not installed")
    def test_operator(self):
        mesh = square()
        solver = isochron.Solver(mesh, speed=np.ones(len(mesh.cells)), tolerance=1e-13)
        linear = solver.linearize(solver.solve([0]))
        operator = linear.operator("speed")
        random = np.random.default_rng(6)
        change, cotangent = random.normal(size=operator.shape[1]), random.normal(size=operator.shape[0])
        self.assertAlmostEqual(dot(operator.matvec(change), cotangent), dot(change, operator.rmatvec(cotangent)), places=9)
        rows = linear.jacobian(np.arange(len(mesh.points)))
        self.assertEqual(rows.shape, operator.shape)
        np.testing.assert_allclose(rows @ change, operator.matvec(change), atol=1e-10)

    @unittest.skipIf(scipy is None, "SciPy is not installed")
    def test_rows_and_operator_of_a_grid_have_one_order(self):
        for order in "CF":
            grid = isochron.Grid((5, 7), order=order)
            solver = isochron.Solver(grid, speed=np.ones(grid.shape), source_init="plain")
            linear = solver.linearize(solver.solve([0]))
            change = np.random.default_rng(7).normal(size=grid.size)
            operator = linear.operator("speed")
            np.testing.assert_allclose(linear.jacobian(np.arange(grid.size)) @ change, operator.matvec(change), atol=1e-10)


class Verified(unittest.TestCase):
    def test_on_meshes_and_grids(self):
        mesh = square()
        speed = np.random.default_rng(5).uniform(0.8, 1.2, len(mesh.cells))
        solver = isochron.Solver(mesh, speed=speed, tolerance=1e-13, precision="double")
        check = solver.linearize(solver.solve([[0.43, 0.52, 0.0]])).verify()
        self.assertTrue(check.passed, check)
        self.assertEqual((check.max_transpose, check.max_misfit), (1e-12, 1e-12))
        for order in "CF":
            grid = isochron.Grid((9, 8, 7), order=order)
            speed = np.random.default_rng(6).uniform(0.8, 1.2, grid.shape)
            solver = isochron.Solver(grid, speed=speed, tolerance=1e-13, precision="double")
            check = solver.linearize(solver.solve([0])).verify(seed=2)
            self.assertTrue(check.passed, check)
            self.assertEqual(check.max_misfit, 1e-5)

    def test_other_limits_do_not_pass(self):
        mesh = square()
        solver = isochron.Solver(mesh, tolerance=1e-13, precision="double")
        check = solver.linearize(solver.solve([0])).verify()
        for wrong in ("transpose", "scaling", "fixed_point"):
            other = copy.copy(check)
            setattr(other, wrong, 1e-3)
            self.assertFalse(other.passed)
            self.assertIn("FAILED", repr(other))
        for seed in (-1, 1.5, "x"):
            self.assertRaisesRegex(UsageError, "seed is", solver.linearize(solver.solve([0])).verify, seed)
        self.assertIn("passed", repr(check))


class Refusals(unittest.TestCase):
    def test_bad_input(self):
        grid = isochron.Grid((8, 8))
        solver = isochron.Solver(grid)
        arrival = solver.solve([0])
        linear = solver.linearize(arrival)
        with self.assertRaisesRegex(UsageError, "a source is a vertex"):
            linear.vjp(1.0)["position"]
        self.assertNotIn("position", linear.vjp(1.0))
        with self.assertRaisesRegex(InputError, "cotangent has the wrong shape"):
            linear.vjp(np.ones(5))
        with self.assertRaisesRegex(InputError, "position has the wrong shape"):
            linear.jvp(position=0.1)
        with self.assertRaisesRegex(InputError, "speed has the wrong shape"):
            linear.jvp(speed=np.ones((8, 8, 2)))
        with self.assertRaisesRegex(InputError, "weights has the wrong shape"):
            linear.gauss_newton(np.ones(3), speed=1.0)
        with self.assertRaisesRegex(UsageError, "give what solve"):
            solver.linearize(arrival.times)
        with self.assertRaisesRegex(UsageError, "not of a level set"):
            solver.linearize(solver.solve(level_set=np.arange(64.0).reshape(8, 8) - 20.5))
        if scipy is not None:
            with self.assertRaisesRegex(UsageError, "unknown of 'nonsense'"):
                linear.operator("nonsense")
        with self.assertRaisesRegex(InputError, "metric has the wrong shape"):
            linear.jvp(metric=np.ones(5))
        with self.assertRaisesRegex(KeyError, "there are: metric, onset, speed"):
            linear.vjp(1.0)["fibers"]
        with self.assertRaisesRegex(InputError, "not an input that can be changed here"):
            linear.jvp(velocity=(1.0, 2.0))
        with self.assertRaisesRegex(UsageError, "another solver"):
            isochron.Solver(grid).linearize(arrival)
        with self.assertRaisesRegex(UsageError, "plain and ball"):
            factored = isochron.Solver(grid, source_init="factored")
            factored.linearize(factored.solve([0]))
        with self.assertRaisesRegex(UsageError, "first order"):
            second = isochron.Solver(grid, order=2)
            second.linearize(second.solve([0]))


if __name__ == "__main__":
    unittest.main()
