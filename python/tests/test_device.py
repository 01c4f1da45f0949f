"""Arrays in the memory of a GPU in and out: CuPy's and PyTorch's where they are, and our own. Skipped without a GPU.

Needs nothing but unittest, so that it also runs on machines that have little else than a GPU.
"""

import copy
import pickle
import threading
import unittest

import numpy as np

import isochron
from isochron import _core
from meshes import cube, square

try:
    import cupy
except ImportError:
    cupy = None
try:
    import torch

    torch = torch if torch.cuda.is_available() else None
except ImportError:
    torch = None


def setUpModule():
    try:
        isochron.to_device([1.0])
    except isochron.DeviceError as error:
        raise unittest.SkipTest(str(error))


class ByDlpack:
    """Our own array, offered by DLPack alone."""

    def __init__(self, array):
        self.array = isochron.to_device(array)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, stream=None):
        assert stream == 1
        return self.array.__dlpack__(stream=stream)


class ByInterface:
    """And by the CUDA array interface alone."""

    def __init__(self, array):
        self.array = isochron.to_device(array)

    @property
    def __cuda_array_interface__(self):
        return {**self.array.__cuda_array_interface__, "stream": 1}


LIBRARIES = {"own": isochron.to_device, "dlpack": ByDlpack, "interface": ByInterface}
if cupy is not None:
    LIBRARIES["cupy"] = lambda array: cupy.asarray(array)
if torch is not None:
    LIBRARIES["torch"] = lambda array: torch.as_tensor(np.ascontiguousarray(array)).cuda()


def exact(**more):
    return {"backend": "cuda", "precision": "float64", "tolerance": 1e-9, "source_init": "plain", **more}


def with_each_library(test):
    """Calls a test with how an array gets into the memory of the GPU, as one library or another."""

    def run(self):
        for name, gpu in LIBRARIES.items():
            with self.subTest(library=name):
                test(self, gpu)

    return run


class Case(unittest.TestCase):
    def close(self, values, expected, near=1e-6):
        if isinstance(values, isochron.DeviceArray):
            values = values.to_numpy()
        self.assertEqual(values.shape, expected.shape)
        np.testing.assert_allclose(values, expected, rtol=0, atol=near)


class Meshes(Case):
    @with_each_library
    def test_triangles_and_tetrahedra(self, gpu):
        for shape in (square, cube):
            points, cells = shape(6)
            speed = np.random.default_rng(3).uniform(0.5, 2, len(cells))
            expected = isochron.solve((points, cells), [3], speed=speed, **exact())
            self.assertIsInstance(expected.times, np.ndarray)
            for ids in (cells, cells.astype(np.int64)):
                mesh = gpu(points), gpu(ids)
                arrival = isochron.solve(mesh, [3], speed=gpu(speed), out="device", **exact(verify=True))
                self.assertIsInstance(arrival.times, isochron.DeviceArray)
                self.assertEqual(arrival.times.dtype, np.float64)
                self.close(arrival.times, expected.times)
                np.testing.assert_array_equal(arrival.source.to_numpy(), expected.source)
                self.assertEqual(arrival.stats["backend"], "cuda")
                self.assertTrue(arrival.converged)
                self.assertEqual(arrival.stats["reached"], len(points))
                self.assertTrue(arrival.reached.all())
                self.assertIsNone(arrival.problem._shape, "the mesh was not copied to the host")

    @with_each_library
    def test_times_on_the_host_and_metrics_there(self, gpu):
        points, cells = cube(5)
        speed = np.random.default_rng(3).uniform(0.5, 2, len(cells))
        expected = isochron.solve((points, cells), [3], speed=speed, **exact()).times
        alike = isochron.solve((points, cells), [3], speed=2.0, **exact()).times
        host = isochron.solve((gpu(points), gpu(cells)), [3], speed=gpu(speed), **exact())
        self.assertIsInstance(host.times, np.ndarray)
        self.close(host.times, expected)
        single = gpu(speed.astype(np.float32))
        mixed = isochron.solve((points, cells), [3], speed=single, out="device", **exact())
        self.close(mixed.times, expected, 1e-4)
        self.assertEqual(mixed.stats["converted"], ["speed: from float32 to float64, on the GPU"])
        one = isochron.solve((gpu(points), gpu(cells)), [3], speed=2.0, out="device", **exact())
        self.close(one.times, alike)
        self.assertIsNone(one.problem._shape)
        array = isochron.solve((gpu(points), gpu(cells)), [3], speed=speed, out="device", **exact())
        self.close(array.times, expected)
        self.assertIn("points, cells: copied to the host, where the metric is", array.stats["converted"])
        self.close(isochron.solve((points, cells), [3], speed=speed, out="device", **exact()).times, expected)

    @with_each_library
    def test_flat_points_and_other_metrics(self, gpu):
        points, cells = square(7)
        angle = np.random.default_rng(5).uniform(0, np.pi, len(cells))
        fibers = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle]).astype(np.float32)
        sheets = np.column_stack([-np.sin(angle), np.cos(angle), 0 * angle]).astype(np.float32)
        metrics = (
            {"fibers": fibers, "velocity": (2, 1)},
            {"fibers": fibers, "sheets": sheets, "velocity": (3, 2, 1)},
            {"metric": (np.eye(3) + fibers[:, :, None] * fibers[:, None, :]).astype(np.float32)},
            {"metric": np.tile(np.float32([1, 0.1, 0, 2, 0, 3]), (len(cells), 1))},
        )
        mesh = gpu(points[:, :2].copy()), gpu(cells)
        for arguments in metrics:
            expected = isochron.solve((points, cells), [0, 30], times=[0, 0.1], **arguments, **exact())
            there = {name: gpu(v) if isinstance(v, np.ndarray) else v for name, v in arguments.items()}
            arrival = isochron.solve(mesh, [0, 30], times=[0, 0.1], out="device", **there, **exact())
            self.close(arrival.times, expected.times)
            self.assertGreater((arrival.source.to_numpy() == expected.source).mean(), 0.9)

    @with_each_library
    def test_an_inner_loop(self, gpu):
        points, cells = cube(5)

        def expected(source, speed):
            return isochron.solve((points, cells), [source], speed=speed, **exact()).times

        speed = np.random.default_rng(9).uniform(0.5, 2, len(cells))
        solver = isochron.Solver((gpu(points), gpu(cells)), speed=gpu(speed), out="device", **exact())
        for _ in range(3):
            self.close(solver.solve([0]).times, expected(0, speed))
            speed = speed * 1.1
            solver.set_speed(gpu(speed))
        with self.assertRaisesRegex(isochron.InputError, "positive"):
            solver.set_speed(gpu(-speed))
        self.close(solver.solve([0]).times, expected(0, speed))
        self.close(solver.solve_many([[0], [7]])[1].times, expected(7, speed))
        matrix = solver.distance_matrix([0, 7], [7, 0])
        self.assertEqual(matrix.shape, (2, 2))
        np.testing.assert_allclose(matrix, [[expected(0, speed)[7], 0], [0, expected(7, speed)[0]]], atol=1e-6)
        host = isochron.Solver((points, cells), **exact())
        host.set_speed(gpu(speed))
        self.close(host.solve([0]).times, expected(0, speed))

    def test_threads_take_turns(self):
        points, cells = cube(6)
        solver = isochron.Solver((points, cells), out="device", **exact())
        found = [None] * 4

        def work(v):
            for _ in range(5):
                found[v] = solver.solve([v]).times.to_numpy()

        threads = [threading.Thread(target=work, args=(v,)) for v in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for v in range(4):
            self.close(found[v], isochron.solve((points, cells), [v], **exact()).times)


class Grids(Case):
    @with_each_library
    def test_speeds_in_any_order_in_memory(self, gpu):
        for shape in ((11, 9), (7, 8, 9)):
            for order in "CF":
                grid = isochron.Grid(shape, spacing=np.arange(1, len(shape) + 1), order=order)
                speed = np.random.default_rng(7).uniform(0.5, 2, shape)
                expected = isochron.solve(grid, [5], speed=speed, **exact()).times
                for layout in (speed, np.asfortranarray(speed)):
                    arrival = isochron.solve(grid, [5], speed=gpu(layout), out="device", **exact())
                    self.close(arrival.times, expected, 1e-5)
                flat = speed.ravel(order=order)
                self.close(isochron.solve(grid, [5], speed=gpu(flat), **exact()).times, expected, 1e-5)

    @with_each_library
    def test_masks_and_tensors(self, gpu):
        grid = isochron.Grid((7, 8, 9))
        speed = np.random.default_rng(7).uniform(0.5, 2, grid.shape)
        mask = speed > 0.6
        mask[0, 0, 0] = True
        tensors = np.broadcast_to(np.diag([1.0, 2.0, 3.0]) + 0.1, grid.shape + (3, 3)).astype(np.float32)
        masked = isochron.solve(grid, [0], speed=speed, mask=mask, **exact())
        turned = isochron.solve(grid, [5], metric=tensors, **exact())
        arrival = isochron.solve(grid, [0], speed=gpu(speed), mask=mask, out="device", **exact())
        self.close(arrival.times, masked.times, 1e-5)
        with self.assertWarnsRegex(isochron.SolveWarning, "copied to the host"):
            arrival = isochron.solve(grid, [5], metric=gpu(tensors), out="device", **exact())
        self.close(arrival.times, turned.times, 1e-5)

    @with_each_library
    def test_sources_and_masks_may_be_there_too(self, gpu):
        grid = isochron.Grid((8, 8))
        mask = np.ones((8, 8), dtype=np.uint8)
        mask[3, :5] = 0
        ids, onsets = np.array([[0, 0], [7, 7]]), np.array([0.0, 1.0])
        expected = isochron.solve(grid, ids, times=onsets, mask=mask).times
        arrival = isochron.solve(grid, gpu(ids), times=gpu(onsets), mask=gpu(mask))
        self.assertIsInstance(arrival.times, np.ndarray)
        self.close(arrival.times, expected)


class Arrays(Case):
    @with_each_library
    def test_they_are_ordinary(self, gpu):
        array = np.arange(24.0).reshape(4, 6)
        taken = _core.take(gpu(array))
        self.assertEqual((taken.shape, taken.ndim, len(taken), taken.size), ((4, 6), 2, 4, 24))
        self.assertGreaterEqual(taken.device, 0)
        np.testing.assert_array_equal(taken.to_numpy(), array)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(taken)), array)
        np.testing.assert_array_equal(copy.copy(taken), array)
        turned = taken.reshape((3, 8), order="F")
        self.assertEqual(turned.strides, (8, 24))
        np.testing.assert_array_equal(turned.to_numpy(), array.reshape(-1).reshape((3, 8), order="F"))
        with self.assertRaisesRegex(TypeError, "to_numpy"):
            np.asarray(taken)
        with self.assertRaises(isochron.InputError):
            taken.reshape((5, 5))
        self.assertIn("DeviceArray(shape=(4, 6), dtype=float64", repr(taken))
        offered = turned.__cuda_array_interface__
        self.assertEqual((offered["version"], offered["strides"], offered["typestr"]), (3, (8, 24), "<f8"))
        self.assertIs(_core.take(turned), turned)
        with self.assertRaises(BufferError):
            taken.__dlpack__(copy=True)

    def test_memory_outlives_the_arrival(self):
        arrival = isochron.solve(isochron.Grid((30, 30)), [0], out="device", precision="float64")
        times, expected = arrival.times, arrival.times.to_numpy()
        device, capsule = times.__dlpack_device__(), times.__dlpack__()
        del arrival, times
        spare = [isochron.to_device(np.full((30, 30), 7.0)) for _ in range(5)]

        class Left:
            def __dlpack_device__(self):
                return device

            def __dlpack__(self, stream=None):
                return capsule

        np.testing.assert_array_equal(_core.take(Left()).to_numpy(), expected)
        self.assertEqual(len(spare), 5)

    def test_cupy_shares_the_memory(self):
        if cupy is None:
            return  # a skipped test would fail where all is asked for
        grid = isochron.Grid((20, 30), order="F")
        arrival = isochron.solve(grid, [0], speed=cupy.ones((20, 30)), out="device")
        by_interface, by_dlpack = cupy.asarray(arrival.times), cupy.from_dlpack(arrival.times)
        pointer = arrival.times.__cuda_array_interface__["data"][0]
        for array in (by_interface, by_dlpack):
            self.assertEqual((array.data.ptr, array.shape, array.strides), (pointer, (20, 30), arrival.times.strides))
            np.testing.assert_array_equal(cupy.asnumpy(array), arrival.times.to_numpy())
        # The array of another stream is waited for.
        with cupy.cuda.Stream(non_blocking=True):
            speed = cupy.ones((20, 30))
            for _ in range(200):
                speed = cupy.sin(speed) + 1
            late = isochron.solve(grid, [0], speed=speed)
        self.close(late.times, isochron.solve(grid, [0], speed=cupy.asnumpy(speed), backend="cuda").times, 1e-3)

    def test_torch_shares_the_memory(self):
        if torch is None:
            return
        arrival = isochron.solve(isochron.Grid((20, 30)), [0], out="device")
        tensor = torch.from_dlpack(arrival.times)
        self.assertEqual(tensor.data_ptr(), arrival.times.__cuda_array_interface__["data"][0])
        np.testing.assert_array_equal(tensor.cpu().numpy(), arrival.times.to_numpy())


class Errors(Case):
    @with_each_library
    def test_what_does_not_fit_is_said(self, gpu):
        points, cells = square(4)
        speed = np.ones(len(cells))
        mesh = gpu(points), gpu(cells)
        for where, arguments, words in (
            ((gpu(points), cells), {}, "cells is on the host"),
            (mesh, {"speed": gpu(speed[:-1])}, "values: 31, elements: 32"),
            (mesh, {"speed": gpu(-speed)}, "not a positive finite number.* on 32 of 32"),
            (mesh, {"speed": gpu(speed.astype(np.float16))}, "speed has dtype float16"),
            ((gpu(points), gpu(cells.astype(np.float32))), {}, "integers"),
            ((gpu(points), gpu(cells - 1)), {}, "points that do not exist"),
            ((gpu(points * np.nan), gpu(cells)), {}, "coordinates are not finite"),
            (mesh, {"metric": gpu(np.ones((len(cells), 5)))}, "metric has the wrong shape"),
            (isochron.Grid((4, 4)), {"speed": gpu(np.ones((4, 5)))}, "speed has the wrong shape"),
        ):
            with self.assertRaisesRegex(isochron.InputError, words):
                isochron.solve(where, [0], **arguments)
        for arguments, words in (
            ({"speed": gpu(speed), "backend": "threads"}, "threads"),
            ({"speed": gpu(speed), "method": "fmm"}, "fmm"),
            ({"velocity_tensor": gpu(np.ones((len(cells), 6)))}, "velocity_tensor"),
            ({"fibers": gpu(np.ones((len(cells), 3)))}, "velocity"),
        ):
            with self.assertRaisesRegex(isochron.UsageError, words):
                isochron.solve(mesh, [0], **arguments)


if __name__ == "__main__":
    unittest.main()
