"""Fixtures and helpers that several tests use."""

import ctypes
import os

import numpy as np
import pytest

import tessera as ts


def integers(rows, cols, dtype=np.float32, seed=1):
    """Returns small whole numbers, whose products and sums are exact."""
    return np.random.default_rng(seed).integers(-8, 9, (rows, cols)).astype(dtype)


@pytest.fixture
def no_copy():
    """Fails if gemm copied an operand."""
    before = ts._core.copies_made()
    yield
    assert ts._core.copies_made() == before, "an operand was copied"


@pytest.fixture
def cuda():
    """Skips where there is no CUDA backend, visibly; fails if it is required."""
    info = next(b for b in ts.backends() if b.name == "cuda")
    if not info.available:
        required = "cuda" in os.environ.get("TESSERA_REQUIRE", "").split(",")
        (pytest.fail if required else pytest.skip)(str(info))
    return info


def present():
    return [b.name for b in ts.backends() if b.available]


class Tensor(ctypes.Structure):
    """The structure DLTensor of DLPack."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    """The structure DLManagedTensor of DLPack."""

    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", Deleter)]


class ManagedVersioned(ctypes.Structure):
    """The structure DLManagedTensorVersioned of DLPack."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


def pointer_of(capsule, name):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name)


class Exporter:
    """A NumPy array in hand-made capsules, which can claim any device and any element type."""

    def __init__(self, array, device=(1, 0), code=2):
        self.array = array
        self.device = device
        self.streams = []
        self.given_back = 0
        size = array.itemsize
        self.ndim = array.ndim
        self.sizes = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.strides = (ctypes.c_int64 * array.ndim)(*(stride // size for stride in array.strides))
        self.deleter = Deleter(self.count)
        tensor = Tensor(array.ctypes.data, *device, array.ndim, code, 8 * size, 1, self.sizes, self.strides)
        self.managed = Managed(tensor, None, self.deleter)

    def count(self, _):
        self.given_back += 1

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), b"dltensor", None)
