"""Linear systems of arrays on a CUDA device, tested without a device: test_device.py says how."""

import sys
import types

import numpy as np
import pytest

import tessera as ts
from conftest import Exporter
from system_tasks import tasks

rng = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def stand_in():
    info = next(x for x in ts.backends() if x.name == "cuda")
    if info.device != "small device":
        pytest.skip("the CUDA plug-in is not the stand-in: see CMakeLists.txt")


complex_types = [np.complex64, np.complex128]
types_of_systems = [np.float32, np.float64, *complex_types]


def code_of(array):
    """DLPack's code of the numbers."""
    return 5 if np.iscomplexobj(array) else 2


def on_device(array, number=0):
    return Exporter(array, device=(2, number), code=code_of(array))


def numbers(*shape, dtype=np.float64):
    parts = rng.uniform(-1, 1, (2, *shape))
    return (parts[0] + 1j * parts[1] if dtype in complex_types else parts[0]).astype(dtype)


def same(result, expected):
    assert isinstance(result, ts.DeviceArray) and result.dtype == expected.dtype
    got = result.numpy()
    assert got.shape == expected.shape and got.tobytes() == np.ascontiguousarray(expected).tobytes()


def layouts(x):
    """The matrix in every way that its elements can lie in memory."""
    block = np.full((x.shape[0] + 3, x.shape[1] + 4), np.nan, x.dtype)
    block[1:-2, 2:-2] = x
    spread = np.full((2 * x.shape[0], 3 * x.shape[1]), np.nan, x.dtype)
    spread[::2, ::3] = x
    return [x, np.asfortranarray(x), block[1:-2, 2:-2], spread[::2, ::3], x[::-1].copy()[::-1], x[:, ::-1].copy()[:, ::-1]]


@pytest.mark.parametrize("task, dtype", [(task, dtype) for task in tasks for dtype in types_of_systems])
def test_bits_are_the_ones_of_the_host(task, dtype):
    for n in (1, 33, 100):
        a, b = numbers(n, n, dtype=dtype), numbers(n, 3, dtype=dtype)
        a = a / dtype(n) + np.eye(n, dtype=dtype)  # so that solutions stay small
        expected = tasks[task](a, b)
        x, y = on_device(a), on_device(b)
        same(tasks[task](x, y), expected)
        assert x.given_back == 1 and x.streams[-1] == 5000  # the stream that reads the array


@pytest.mark.parametrize("shape", [(1, 1), (70, 40), (40, 70), (50, 50)])
def test_factors(shape):
    for dtype in types_of_systems:
        a = numbers(*shape, dtype=dtype)
        packed, pivots = ts.lu(on_device(a))
        expected, rows = ts.lu(a)
        same(packed, expected)
        assert pivots == rows
    a, b = numbers(*shape), numbers(shape[0], 2)
    for factor, its in zip(ts.qr(on_device(a)), ts.qr(a)):
        same(factor, its)
    same(ts.least_squares(on_device(a), on_device(b)), ts.least_squares(a, b))


@pytest.mark.parametrize("dtype", types_of_systems)
def test_layouts_and_nothing_is_changed(dtype):
    a, b = numbers(40, 40, dtype=dtype), numbers(40, 6, dtype=dtype)
    a += 40 * np.eye(40, dtype=dtype)
    x, kept, upper = ts.solve(a, b), a.copy(), ts.cholesky(a, lower=False)
    for left in layouts(a):
        for right in layouts(b):
            same(ts.solve(on_device(left), on_device(right)), x)
        same(ts.cholesky(on_device(left), lower=False), upper)
        assert np.array_equal(left, kept)
    column = np.broadcast_to(b[:, :1], (40, 6))
    same(ts.solve(on_device(a), on_device(column)), ts.solve(a, column))


def test_results_are_arrays_of_the_operands_library():
    """A library that the array API names, and one whose module has from_dlpack."""
    taken = []

    def from_dlpack(result):
        taken.append(result)
        return result.numpy()

    module = types.ModuleType("some_library")
    module.from_dlpack = from_dlpack

    class Named(Exporter):
        def __array_namespace__(self):
            return module

    class Plain(Exporter):
        __module__ = "some_library.arrays"

    class Child(Plain):
        __module__ = "elsewhere"

    a, b = numbers(5, 5), numbers(5, 2)
    expected = ts.solve(a, b)
    sys.modules["some_library"] = module
    try:
        for kind in (Named, Plain, Child):
            x = ts.solve(kind(a, device=(2, 0)), on_device(b))
            assert np.array_equal(x, expected)
            q, r = ts.qr(kind(a, device=(2, 0)))
            packed, pivots = ts.lu(kind(a, device=(2, 0)))
            assert isinstance(q, np.ndarray) and isinstance(r, np.ndarray)
            assert isinstance(packed, np.ndarray) and isinstance(pivots, list)
        assert len(taken) == 3 * 4 and all(isinstance(result, ts.DeviceArray) for result in taken)
    finally:
        del sys.modules["some_library"]


class Stack(Exporter):
    """An array that claims to be on a device, as far as a batch of systems needs a library's array."""

    def __init__(self, array):
        super().__init__(array, device=(2, 0), code=code_of(array))
        self.shape, self.dtype = array.shape, array.dtype

    def __getitem__(self, index):
        return Stack(np.array(self.array[index]))

    def reshape(self, shape):
        return Stack(self.array.reshape(shape))

    def __array_namespace__(self):
        return Library


class Library:

    @staticmethod
    def from_dlpack(result):
        return result.numpy()

    stack = staticmethod(np.stack)


def test_batches_are_solved_one_by_one():
    """Where the device has no kernels for them: the stand-in takes no small systems of more than 100 rows."""
    n = 103
    a, b = numbers(3, 2, n, n), numbers(2, n, 4)
    a += n * np.eye(n)
    x, y = Stack(a), Stack(b)
    assert np.array_equal(ts.solve(x, y), ts.solve(a, b))
    assert np.array_equal(ts.solve(x, Stack(b[0])), ts.solve(a, b[0]))
    assert np.array_equal(ts.solve(x, y, assume="positive", lower=False), ts.solve(a, b, assume="positive", lower=False))
    assert np.array_equal(ts.solve(x, y, refine=True), ts.solve(a, b, refine=True))
    assert np.array_equal(ts.triangular_solve(x, y, lower=False), ts.triangular_solve(a, b, lower=False))
    assert np.array_equal(ts.least_squares(x, y), ts.least_squares(a, b))
    assert np.array_equal(ts.cholesky(x), ts.cholesky(a)) and np.array_equal(ts.inverse(x), ts.inverse(a))
    for ours, its in zip(ts.lu(x) + ts.qr(x), ts.lu(a) + ts.qr(a)):
        assert np.array_equal(ours, its) and ours.dtype == its.dtype
    z = a + 1j * numbers(3, 2, n, n)
    assert np.array_equal(ts.inverse(Stack(z)), ts.inverse(z))
    a[1, 1, :, 4] = 0
    for call, part in [
        (lambda: ts.solve(x, y), r"system \[1, 1\]: .*pivot 4"),
        (lambda: ts.solve(x, Stack(numbers(3, n, 4))), "do not broadcast"),
        (lambda: ts.triangular_solve(x, Stack(numbers(3, n, 4))), "do not broadcast"),
        (lambda: ts.inverse(a, stream=7), "stream is given, but a is in host memory"),
    ]:
        with pytest.raises(ValueError, match=part):
            call()


@pytest.mark.parametrize("dtype", types_of_systems)
def test_batches_without_systems(dtype):
    """They have shapes, types and errors of the host's, and are on the device."""

    def alike(result, expected):
        if isinstance(expected, tuple):
            return len(result) == len(expected) and all(map(alike, result, expected))
        it_is_pivots = expected.dtype == np.int64
        array = result if isinstance(result, np.ndarray) else result.array  # stack() and from_dlpack() give NumPy's
        assert it_is_pivots <= (array is result)
        return array.shape == expected.shape and array.dtype == expected.dtype

    a, b, one = (numbers(*shape, dtype=dtype) for shape in ((2, 0, 9, 9), (2, 1, 9, 4), (9, 4)))
    wide = numbers(0, 5, 9, dtype=dtype)
    x, y = Stack(a), Stack(b)
    assert alike(ts.solve(x, y), ts.solve(a, b))
    assert alike(ts.solve(x, y, assume="positive", stream=9), ts.solve(a, b, assume="positive"))
    assert alike(ts.solve(x, Stack(one)), ts.solve(a, one))
    assert alike(ts.triangular_solve(x, y, backend="cuda"), ts.triangular_solve(a, b))
    assert alike(ts.inverse(x), ts.inverse(a)) and alike(ts.cholesky(x, lower=False), ts.cholesky(a))
    assert alike(ts.lu(Stack(wide)), ts.lu(wide)) and alike(ts.qr(Stack(wide)), ts.qr(wide))
    for call, part in [
        (lambda: ts.inverse(Stack(wide)), "5×9"),
        (lambda: ts.solve(x, Stack(numbers(1, 8, 4, dtype=dtype))), "8"),
        (lambda: ts.solve(x, Stack(numbers(3, 1, 9, 4, dtype=dtype))), "do not broadcast"),
    ]:
        with pytest.raises(ValueError, match=part):
            call()


def test_cuda_array_interface():
    """Arrays without DLPack, such as Numba's."""

    class Interface:
        def __init__(self, array, **words):
            self.array = array  # and what it says of itself
            self.__cuda_array_interface__ = {
                "shape": array.shape,
                "typestr": array.dtype.str,
                "data": (array.ctypes.data, False),
                "strides": array.strides,
                "version": 3,
            } | words

    a, b = numbers(20, 20), numbers(20, 3)
    for left in layouts(a):
        same(ts.solve(Interface(left), Interface(b, strides=None)), ts.solve(a, b))
    vector = ts.solve(Interface(a), Interface(b[:, 0].copy()))  # its library is not known
    assert vector.shape == (20, 1) and np.array_equal(vector.numpy()[:, 0], ts.solve(a, b[:, 0].copy()))
    same(ts.gemm(Interface(a), on_device(b)), ts.gemm(a, b))
    for words, part in [
        (dict(mask=a), "has a mask"),
        (dict(typestr="<i4"), "holds elements of type '<i4'"),
        (dict(data=7), "has no tuple 'data'"),
        (dict(strides=(8,)), "as many strides as sizes"),
    ]:
        with pytest.raises(TypeError, match=part):
            ts.inverse(Interface(a, **words))


def test_cuda_array_interface_waits_for_its_stream(capfd):
    class Interface:
        array = np.eye(3)
        __cuda_array_interface__ = {
            "shape": (3, 3),
            "typestr": "<f8",
            "data": (array.ctypes.data, False),
            "version": 3,
            "stream": 55,
        }

    same(ts.inverse(Interface()), np.eye(3))
    assert "small device starts after 55" in capfd.readouterr().err


def test_vectors_of_complex_numbers():
    """They are a column of the system, and the result's library makes a vector of it again; here there is none."""
    a, b = numbers(40, 40, dtype=np.complex128), numbers(40, 3, dtype=np.complex128)

    class Vector:
        def __init__(self, array):
            self.array = array
            self.__cuda_array_interface__ = {
                "shape": array.shape,
                "typestr": array.dtype.str,
                "data": (array.ctypes.data, False),
                "strides": array.strides,
                "version": 3,
            }

    for column in (b[:, 1], b[::-1, 2]):
        expected = ts.solve(a, column.copy())
        assert np.array_equal(ts.solve(on_device(a), Vector(column)).numpy()[:, 0], expected)


@pytest.mark.parametrize("math", ["strict", "emulated_fp16x3"])
def test_refined_solutions(math, capfd):
    a, b = numbers(90, 90) + 9 * np.eye(90), numbers(90, 4)
    expected, kept = ts.solve(a, b, refine=True, math=math), a.copy()
    for left in layouts(a):
        for right in layouts(b):
            same(ts.solve(on_device(left), on_device(right), refine=True, math=math), expected)
    assert np.array_equal(a, kept)
    same(ts.solve(on_device(a), on_device(b[:, :1]), refine=True, math=math), expected[:, :1])
    capfd.readouterr()
    same(ts.solve(on_device(a), on_device(b), refine=True, math=math, stream=77), expected)
    log = [line for line in capfd.readouterr().err.splitlines() if line.startswith("small device")]
    assert log == ["small device starts after 77", "small device finishes before 77"]
    for n, count in ((0, 0), (0, 3), (4, 0)):
        same(ts.solve(on_device(np.eye(n)), on_device(np.ones((n, count))), refine=True), np.ones((n, count)))


def test_results_are_operands():
    a, b = numbers(30, 30), numbers(30, 2)
    gram = ts.gemm(on_device(a), on_device(a.T))
    low = ts.cholesky(gram)
    same(ts.triangular_solve(low, on_device(b)), ts.triangular_solve(ts.cholesky(gram.numpy()), b))


def test_streams(capfd):
    a, b = on_device(numbers(8, 8)), on_device(numbers(8, 1))

    def log():
        return [line for line in capfd.readouterr().err.splitlines() if line.startswith("small device")]

    ts.solve(a, b)
    assert log() == []
    ts.solve(a, b, stream=77)
    assert log() == ["small device starts after 77", "small device finishes before 77"]


def test_no_systems():
    for n, count in ((0, 0), (0, 3), (4, 0)):
        a, b = np.eye(n), np.ones((n, count))
        same(ts.solve(on_device(a), on_device(b)), ts.solve(a, b))
    same(ts.inverse(on_device(np.eye(0))), np.eye(0))
    same(ts.qr(on_device(np.ones((3, 0))), mode="r"), ts.qr(np.ones((3, 0)), mode="r"))


def test_what_is_refused():
    a, b = numbers(6, 6), numbers(6, 2)
    x, y = on_device(a), on_device(b)
    z = a + 1j * a
    singular = a.copy()
    singular[:, 2] = 0
    for call, kind, part in [
        (lambda: ts.solve(x, b), ValueError, "a is on CUDA device 0, b in host memory"),
        (lambda: ts.solve(a, y), ValueError, "a is in host memory, b on CUDA device 0"),
        (lambda: ts.solve(x, y, backend="openmp"), ValueError, "a is on CUDA device 0, but backend openmp computes in host"),
        (lambda: ts.inverse(on_device(a, 1)), ValueError, "start with TESSERA_CUDA_DEVICE=1"),
        (lambda: ts.solve(a, b, stream=7), ValueError, "stream is given, but a is in host memory"),
        (lambda: ts.solve(x, y, stream=0), ValueError, "stream = 0 is no CUDA stream"),
        (lambda: ts.least_squares(on_device(singular * (1 + 1j)), on_device(z)), ValueError, "element 2 of R"),
        (lambda: ts.solve(on_device(z), y), TypeError, "a holds complex128 and b holds float64"),
        (lambda: ts.solve(on_device(z), on_device(z), refine=True), TypeError, "solutions are refined in float64"),
        (lambda: ts.solve(on_device(a.astype("f4")), on_device(b.astype("f4")), refine=True), ValueError, "refine is for f64"),
        (lambda: ts.solve(x, y, refine=True, math="tf32"), ValueError, "emulated_fp16x3 or scaled_fp16"),
        (lambda: ts.solve(on_device(singular), y, refine=True), ValueError, "a pivot of the factors is 0"),
        (lambda: ts.solve(on_device(singular * (1 + 1j)), on_device(z)), ValueError, "pivot 2"),
        (lambda: ts.cholesky(on_device(-np.eye(3) + 0j), lower=False), ValueError, "leading minor of order 1"),
        (lambda: ts.cholesky(on_device(z[:5]), lower=False), ValueError, "5×6"),
        (lambda: ts.condition(x), TypeError, "condition numbers are estimated in host memory"),
        (lambda: ts.solve(x, on_device(b.astype(np.float32))), TypeError, "a holds float64 and b holds float32"),
        (lambda: ts.solve(on_device(a[:5]), y), ValueError, "solve"),
        (lambda: ts.inverse(on_device(a[:5])), ValueError, "inverse"),
        (lambda: ts.solve(on_device(singular), y), ValueError, "pivot 2"),
        (lambda: ts.inverse(on_device(singular)), ValueError, "pivot 2"),
        (lambda: ts.cholesky(on_device(-np.eye(3))), ValueError, "leading minor of order 1"),
        (lambda: ts.least_squares(on_device(singular), y), ValueError, "element 2 of R"),
    ]:
        with pytest.raises(kind, match=part):
            call()


def test_memory():
    """What a call takes is freed in time: the stand-in has only 8 MiB."""
    a, b = numbers(300, 300), numbers(300, 300)
    expected = ts.solve(a, b)
    for _ in range(6):
        same(ts.solve(on_device(a), on_device(b)), expected)
    with pytest.raises(ts.OutOfMemory):
        ts.lu(on_device(numbers(900, 900)))
    same(ts.solve(on_device(a), on_device(b)), expected)
