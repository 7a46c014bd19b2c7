"""NumPy's own handler makes a ValueError of an illegal argument of LAPACK."""

import numpy
from numpy.linalg import lapack_lite

a = numpy.zeros((1, 1))
try:
    lapack_lite.dorgqr(1, 1, 1, a, 0, a, a, 0, 0)
    print("no error")
except ValueError as error:
    print(error)
