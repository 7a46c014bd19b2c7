"""Matrix products with the backend chosen at run time: the same bits on processors and GPUs.

>>> import numpy as np
>>> import tessera as ts
>>> ts.gemm(np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]]))
array([[1., 2.],
       [3., 4.]])
"""

from . import _cublas, _pickle
from ._certificate import Certificate, Element, Finding, check
from ._core import DeviceArray, __version__, gemm, gemm_batch
from ._errors import (
    BackendUnavailable,
    DataCorruption,
    DeviceError,
    Error,
    InternalError,
    InvalidArgument,
    IoError,
    KernelRejected,
    OutOfMemory,
)
from ._files import FileProgress, FileReport, multiply_files
from ._health import Health, HealthFinding, VerifyCounts, health, verify_counts
from ._inventory import Backend, Kernel, backends, kernels
from ._linear_algebra import cholesky, condition, inverse, least_squares, lu, qr, solve, triangular_solve
from ._solution import SolveCertificate, check_solve
from ._table import Row, Table, compare

__all__ = [
    "Backend",
    "BackendUnavailable",
    "Certificate",
    "DataCorruption",
    "DeviceArray",
    "DeviceError",
    "Element",
    "Error",
    "FileProgress",
    "FileReport",
    "Finding",
    "Health",
    "HealthFinding",
    "InternalError",
    "InvalidArgument",
    "IoError",
    "Kernel",
    "KernelRejected",
    "OutOfMemory",
    "Row",
    "SolveCertificate",
    "Table",
    "VerifyCounts",
    "__version__",
    "backends",
    "check",
    "check_solve",
    "cholesky",
    "compare",
    "condition",
    "gemm",
    "gemm_batch",
    "health",
    "inverse",
    "kernels",
    "least_squares",
    "lu",
    "multiply_files",
    "qr",
    "solve",
    "triangular_solve",
    "verify_counts",
]

_cublas.announce()
_pickle.announce()

#: doctest looks only into functions that are written in Python.
__test__ = {"gemm": gemm.__doc__, "gemm_batch": gemm_batch.__doc__}
