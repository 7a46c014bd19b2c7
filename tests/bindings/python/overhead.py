"""Measures the cost of a call from Python beyond the C++ call: 4×4 products of float32, one thread.

    PYTHONPATH=build/check/python python3 overhead.py LIBTESSERA_SO

The C++ call is timed through the C interface from a loop that is compiled with the system's compiler. Prints the best of
several rounds, in nanoseconds.
"""

import ctypes
import subprocess
import sys
import tempfile
import timeit
from pathlib import Path

import numpy as np

import tessera as ts

loop = r"""
#include <time.h>
#include <tessera/tessera.h>
double seconds(float* a, float* b, float* c, int n, int calls) {
  tessera_options options = tessera_default_options();
  options.threads = 1;
  struct timespec start, stop;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (int i = 0; i < calls; ++i)
    tessera_gemm_f32(TESSERA_NONE, TESSERA_NONE, n, n, n, 1, a, n, b, n, 0, c, n, &options);
  clock_gettime(CLOCK_MONOTONIC, &stop);
  return (stop.tv_sec - start.tv_sec) + 1e-9 * (stop.tv_nsec - start.tv_nsec);
}
"""


def compiled_loop(library: Path):
    root = Path(__file__).resolve().parents[3]
    folder = Path(tempfile.mkdtemp())
    (folder / "loop.c").write_text(loop)
    subprocess.run(
        ["cc", "-O2", "-shared", "-fPIC", "-I", root / "include", folder / "loop.c", "-o", folder / "loop.so", library],
        check=True,
    )
    function = ctypes.CDLL(str(folder / "loop.so")).seconds
    function.restype = ctypes.c_double
    return function


def main(library: Path, n: int = 4, calls: int = 20000, rounds: int = 25):
    a, b, out = (np.ones((n, n), np.float32) for _ in range(3))
    seconds = compiled_loop(library)
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (a, b, out)]
    ways = {
        "C++ call": lambda: seconds(*pointers, n, calls),
        "gemm(a, b)": lambda: timeit.timeit(lambda: ts.gemm(a, b), number=calls),
        "gemm(a, b, threads=1)": lambda: timeit.timeit(lambda: ts.gemm(a, b, threads=1), number=calls),
        "gemm(a, b, out=out)": lambda: timeit.timeit(lambda: ts.gemm(a, b, out=out), number=calls),
        "gemm(a, b, out=out, alpha=2, backend='openmp', threads=1)": lambda: timeit.timeit(
            lambda: ts.gemm(a, b, out=out, alpha=2, backend="openmp", threads=1), number=calls
        ),
        "a @ b": lambda: timeit.timeit(lambda: a @ b, number=calls),
        "a function that does nothing": lambda: timeit.timeit(lambda: None, number=calls),
    }
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):  # in turns, so that a disturbance does not slow down one of them only
        for name, measure in ways.items():
            best[name] = min(best[name], measure() / calls * 1e9)
    for name, nanoseconds in best.items():
        print(f"{nanoseconds:8.0f} ns  {name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
