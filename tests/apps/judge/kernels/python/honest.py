"""Is honest: NumPy multiplies into c."""

import numpy


def solve(a, b, c):
    numpy.matmul(a, b, out=c)
