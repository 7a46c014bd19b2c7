"""Tessera's own product through its C interface, to compare a preloaded program's bits with."""

import ctypes

import numpy as np

REFERENCE = 1  # TESSERA_REFERENCE
DTYPES = {np.dtype(np.float32): 0, np.dtype(np.float64): 1}


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("backend", ctypes.c_int), ("math", ctypes.c_int),
                ("kernel", ctypes.c_char_p), ("threads", ctypes.c_int), ("result", ctypes.c_int),
                ("epilogue", ctypes.c_void_p), ("verification", ctypes.c_int)]


def own_product(a, b):
    """a·b by the serial reference backend, whose log lines do not mix with the lines of the program under test."""
    library = ctypes.CDLL("libtessera.so.0")  # it is loaded already: the drop-in needs it
    library.tessera_default_options.restype = Options
    options = library.tessera_default_options()
    options.backend = REFERENCE
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    c = np.empty((a.shape[0], b.shape[1]), a.dtype)
    scalar = ctypes.c_double
    integer, address = ctypes.c_int64, ctypes.c_void_p
    status = library.tessera_gemm(
        DTYPES[a.dtype], 0, 0, integer(a.shape[0]), integer(b.shape[1]), integer(a.shape[1]), scalar(1),
        address(a.ctypes.data), integer(a.shape[1]), address(b.ctypes.data), integer(b.shape[1]), scalar(0),
        address(c.ctypes.data), integer(b.shape[1]), ctypes.byref(options))
    assert status == 0, status
    return c
