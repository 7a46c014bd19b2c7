"""Leaves another rounding mode behind. The product is right."""

import ctypes


def solve(a, b, c):
    c[...] = a @ b
    ctypes.CDLL("libm.so.6").fesetround(0x400)  # downward, on x86-64
