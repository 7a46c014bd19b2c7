#!/usr/bin/env python3
"""Measures the errors of the math modes by the processor's kernels, and writes mode-errors.json beside this file.

    measure_modes.py        needs the package tessera, and NumPy; it takes a minute

hopper_units and int8_units of the processor have the bits of a Hopper GPU, so that their errors are the GPU's. An error
is the largest |c - c'| / (|A||B|) of some rows of C, where c' is exact to twice the digits of a double.
"""

import json
import math
import pathlib

import numpy as np
import tessera as ts

M, N, K, ROWS, SEED = 512, 512, 2048, 8, 1
KERNELS = {
    "f32": {"strict": "simd", "compensated": "kahan", "strassen": "strassen", "emulated_bf16x6": "hopper_units",
            "emulated_fp16x3": "hopper_units", "scaled_fp16": "hopper_units", "fp16": "hopper_units",
            "tf32": "hopper_units", "bf16": "hopper_units"},
    "f64": {"strict": "simd", "compensated": "kahan", "strassen": "strassen", "int8_units": "int8_units"},
}
DATA = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "uniform from 0 to 1": lambda rng, shape: rng.random(shape),
    "Student's t, 2 degrees of freedom": lambda rng, shape: rng.standard_t(2, shape),
    "±2^x, x uniform from −20 to 20":
        lambda rng, shape: rng.choice((-1.0, 1.0), shape) * 2 ** rng.uniform(-20, 20, shape),
}


def halves(x):
    """x as the sum of two numbers of 26 digits (Veltkamp)."""
    large = 134217729.0 * x
    high = large - (large - x)
    return high, x - high


def products(x, y):
    """Numbers whose exact sum is that of x·y, element by element (Dekker)."""
    p = x * y
    (x1, x2), (y1, y2) = halves(x), halves(y)
    return np.concatenate((p, ((x1 * y1 - p) + x1 * y2 + x2 * y1) + x2 * y2))


def exact_rows(a, b):
    """The product in two parts, high and low, and |A||B|."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    high, low = np.empty((len(a), b.shape[1])), np.empty((len(a), b.shape[1]))
    for i, j in np.ndindex(high.shape):
        terms = products(a[i], b[:, j]).tolist()
        high[i, j] = math.fsum(terms)
        low[i, j] = math.fsum(terms + [-high[i, j]])
    return high, low, abs(a) @ abs(b)


def largest_error(c, exact):
    high, low, magnitude = exact
    error = np.max(np.abs((high - c[: len(high)].astype(np.float64)) + low) / magnitude)
    return float(f"{error:.2e}") if np.isfinite(error) else None


def main():
    results = []
    for dtype, kernels in KERNELS.items():
        errors = {mode: [] for mode in kernels}
        for make in DATA.values():
            rng = np.random.default_rng(SEED)
            a, b = (make(rng, shape).astype(dtype.replace("f", "float")) for shape in ((M, K), (K, N)))
            exact = exact_rows(a[:ROWS], b)
            for mode, kernel in kernels.items():
                errors[mode].append(largest_error(ts.gemm(a, b, backend="openmp", math=mode, kernel=kernel), exact))
        results += [{"dtype": dtype, "mode": mode, "kernel": kernels[mode], "errors": errors[mode]} for mode in kernels]
    head = {"schema": "tessera.mode_errors/1", "command": "docs/results/measure_modes.py", "m": M, "n": N, "k": K,
            "rows": ROWS, "seed": SEED, "data": list(DATA)}
    lines = [f"{json.dumps(key)}:{json.dumps(value, ensure_ascii=False)}" for key, value in head.items()]
    rows = ",\n".join(json.dumps(row, separators=(",", ":")) for row in results)
    file = pathlib.Path(__file__).resolve().parent / "mode-errors.json"
    file.write_text("{" + ",\n".join(lines) + ',\n"results":[\n' + rows + "\n]}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
