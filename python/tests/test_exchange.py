"""Arrays of other libraries, by DLPack and the CUDA array interface; what of it needs no GPU."""

import gc
import weakref

import numpy as np
import pytest

import isochron
from isochron import _core
from isochron.mesh import as_array
from meshes import refused, square


class Owner(np.ndarray):
    """An array that notes when it is gone."""


class HostTensor:
    """An array as another library would offer it: by DLPack alone."""

    def __init__(self, array):
        self.array = array
        self.capsules = []

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self):
        capsule = self.array.__dlpack__()
        self.capsules.append(capsule)
        return capsule


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "i2", "u1", "u2", "u4", "u8"])
def test_dlpack_of_the_host_is_no_copy(dtype):
    array = np.arange(24).astype(dtype).reshape(4, 6)
    for view in (array, array[::2, 1:], array.T, array[::-1, ::-1], array[:0], array[0], array[1:2, 3].reshape(())):
        tensor = HostTensor(view)
        taken = as_array(tensor)
        assert type(taken) is np.ndarray and taken.dtype == view.dtype
        np.testing.assert_array_equal(taken, view)
        assert view.size == 0 or np.shares_memory(taken, array)
        assert "used_dltensor" in repr(tensor.capsules[0])


def test_the_owner_lives_as_long_as_its_memory_is_used():
    array = np.arange(5.0).view(Owner)
    gone = weakref.ref(array)
    tensor = HostTensor(array)
    taken = as_array(tensor)
    tensor.capsules.clear()
    del tensor, array
    gc.collect()
    assert gone() is not None
    np.testing.assert_array_equal(taken, [0, 1, 2, 3, 4])
    del taken
    gc.collect()
    assert gone() is None


def test_a_capsule_is_taken_once():
    tensor = HostTensor(np.arange(3.0))
    as_array(tensor)

    class Used(HostTensor):
        def __dlpack__(self):
            return tensor.capsules[0]

    refused(ValueError, "", as_array, Used(np.arange(3.0)))


def test_types_that_we_do_not_know_are_left_to_numpy():
    values = np.arange(3) * 1j
    tensor = HostTensor(values)
    tensor.__class__ = type("Complex", (HostTensor,), {"__array__": lambda self, *_, **__: self.array})
    assert _core.take(tensor) is None
    np.testing.assert_array_equal(as_array(tensor), values)
    assert "used" not in repr(tensor.capsules[0])


def test_what_numpy_has_stays_with_it():
    array = np.arange(3.0)
    array.flags.writeable = False
    assert as_array(array) is array
    assert as_array([1, 2]).tolist() == [1, 2]
    assert as_array(2.5).shape == ()
    matrix = np.ma.masked_array([1.0, 2.0])
    assert _core.take(matrix) is matrix


def test_a_solve_of_dlpack_arrays():
    points, cells = square(8)
    speed = np.linspace(1, 2, len(cells))
    expected = isochron.solve((points, cells), [0], speed=speed)
    arrival = isochron.solve((HostTensor(points), HostTensor(cells)), HostTensor(np.array([0])), speed=HostTensor(speed))
    np.testing.assert_array_equal(arrival.times, expected.times)
    solver = isochron.Solver((HostTensor(points), HostTensor(cells)))
    solver.set_speed(HostTensor(speed))
    np.testing.assert_array_equal(solver.solve([0]).times, expected.times)


# ---- arrays of a GPU where there is none


class CudaArray:
    """What claims to be in the memory of a GPU."""

    def __init__(self, array, **more):
        self.array = array
        self.__cuda_array_interface__ = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.ctypes.data, False),
            "strides": None,
            "version": 3,
            **more,
        }


class CudaTensor:
    def __init__(self, device=(2, 0)):
        self.device = device
        self.streams = []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return np.arange(3.0).__dlpack__()


def has_gpu():
    try:
        isochron.to_device([1.0])
    except isochron.DeviceError:
        return False
    return True


without_gpu = pytest.mark.skipif(has_gpu(), reason="there is a GPU")


@without_gpu
def test_without_a_gpu_its_arrays_are_refused_in_words():
    points, cells = square(3)
    grid = isochron.Grid((4, 4))
    for call in (
        lambda: isochron.solve((CudaArray(points), CudaArray(cells)), [0]),
        lambda: isochron.solve((points, cells), [0], speed=CudaArray(np.ones(len(cells)))),
        lambda: isochron.solve(grid, [0], speed=CudaArray(np.ones((4, 4)))),
        lambda: isochron.solve(grid, [0], speed=CudaArray(np.ones((4, 4)), stream=1)),
        lambda: isochron.Solver(grid).set_speed(CudaArray(np.ones((4, 4)))),
        lambda: isochron.solve(grid, [0], out="device"),
        lambda: isochron.solve((points, cells), [0], out="device"),
        lambda: isochron.to_device(points),
    ):
        refused(isochron.DeviceError, "GPU", call)
    refused(isochron.InputError, "masked", as_array, CudaArray(points, mask=points))


@without_gpu
def test_the_stream_is_named_to_the_owner():
    tensor = CudaTensor()
    # The capsule says that the memory is the host's, and so it is refused or taken as such; the stream was asked for.
    try:
        as_array(tensor)
    except isochron.DeviceError:
        pass
    assert tensor.streams == [1]


def test_memory_of_other_devices_is_left_to_numpy():
    assert _core.take(CudaTensor(device=(10, 0))) is None


def test_out_is_host_or_device():
    refused(isochron.UsageError, "choose one of: host, device", isochron.solve, isochron.Grid((3, 3)), [0], out="gpu")
