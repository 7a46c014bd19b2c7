"""Is honest for all types that NumPy has: sums of 16-bit operands in float32, of int8 in int32."""

import numpy


def solve(a, b, c):
    wide = {"float16": numpy.float32, "int8": numpy.int32}.get(a.dtype.name, a.dtype)
    c[...] = a.astype(wide) @ b.astype(wide)
