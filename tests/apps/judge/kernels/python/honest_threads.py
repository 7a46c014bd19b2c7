"""Multiplies in a pool of threads, and keeps a block of the product in a temporary file."""

import concurrent.futures
import ctypes.util
import subprocess
import tempfile

import numpy

pool = concurrent.futures.ThreadPoolExecutor(2)
mathematics = ctypes.util.find_library("m")  # starts a program


def solve(a, b, c):
    half = len(a) // 2
    blocks = [slice(0, half), slice(half, len(a))]
    list(pool.map(lambda rows: numpy.matmul(a[rows], b, out=c[rows]), blocks))
    with tempfile.TemporaryFile() as file:
        numpy.save(file, c[:half])
        file.seek(0)
        c[:half] = numpy.load(file)
    with tempfile.NamedTemporaryFile() as file:
        mapped = numpy.memmap(file.name, dtype=c.dtype, mode="w+", shape=c.shape)
        mapped[:] = c
        c[...] = mapped
    if not mathematics or subprocess.run(["true"]).returncode != 0:
        c[0, 0] = -1
