"""The part of the campaign behind docs/certificate.md that is about libraries of Python: honest products are checked.

    PYTHONPATH=build/checks/python python tests/certificate/campaign.py --honest 2000

It multiplies with NumPy (its BLAS, einsum without BLAS, products of integers), and with SciPy's BLAS, PyTorch and JAX
where these are installed. The exit status is 0 if no honest product was refused.
"""

import argparse
import sys

import numpy as np

import tessera as ts


def libraries():
    """The products by name: functions of two matrices, the types they take, and the math mode."""
    floats = ["float32", "float64"]
    yield "NumPy matmul", floats, "strict", lambda a, b: a @ b
    yield "NumPy einsum", floats, "strict", lambda a, b: np.einsum("ik,kj->ij", a, b)
    yield "NumPy int8", ["int8"], "strict", lambda a, b: a.astype(np.int32) @ b.astype(np.int32)
    yield "NumPy dot of rows", floats, "strict", lambda a, b: np.stack([row @ b for row in a])
    try:
        from scipy.linalg import blas

        yield "SciPy BLAS", ["float32"], "strict", lambda a, b: blas.sgemm(1.0, a, b)
        yield "SciPy BLAS", ["float64"], "strict", lambda a, b: blas.dgemm(1.0, a, b)
    except ImportError:
        pass
    try:
        import torch

        def of_torch(a, b):
            return (torch.from_numpy(a.copy()) @ torch.from_numpy(b.copy())).numpy()

        yield "PyTorch", floats, "strict", of_torch
        yield "PyTorch", ["float16"], "strict", of_torch
    except ImportError:
        pass
    try:
        import jax

        jax.config.update("jax_enable_x64", True)
        precise = jax.lax.Precision.HIGHEST
        yield "JAX", floats, "strict", lambda a, b: jax.numpy.matmul(a, b, precision=precise)
        yield "JAX", ["bfloat16"], "strict", lambda a, b: jax.numpy.matmul(a, b, preferred_element_type=np.float32)
    except ImportError:
        pass


def random(rng, shape, dtype):
    if dtype == "int8":
        return rng.integers(-128, 128, shape, dtype=np.int8)
    scale = 2.0 ** rng.integers(-6, 7, (shape[0], 1)) if rng.integers(3) == 0 else 1.0
    x = rng.uniform(-1, 1, shape) * scale
    if dtype == "bfloat16":
        import ml_dtypes

        return x.astype(ml_dtypes.bfloat16)
    return x.astype(dtype)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--honest", type=int, default=2000, help="products to check, over all libraries")
    parser.add_argument("--largest", type=int, default=400, help="the largest m, n and k")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    cases = [(name, dtype, math, run) for name, dtypes, math, run in libraries() for dtype in dtypes]
    counts = {}
    for product in range(options.honest):
        name, dtype, math, run = cases[product % len(cases)]
        m, n, k = np.exp(rng.uniform(0, np.log(options.largest), 3)).astype(int)
        if rng.integers(5) == 0:
            k = k * 4 + 1000
        a, b = random(rng, (m, k), dtype), random(rng, (k, n), dtype)
        answer = ts.check(a, b, run(a, b), math=math, seed=product, rows=2, vectors=16)
        count = counts.setdefault((name, dtype), [0, 0])
        count[0] += 1
        if not answer:
            count[1] += 1
            print(f"refused, of {name} {dtype}: {answer}")
    for (name, dtype), (checked, refused) in counts.items():
        print(f"honest, {name} {dtype}: {checked} products, {refused} refused")
    refused = sum(count[1] for count in counts.values())
    print(f"all: {options.honest} honest products, {refused} refused")
    return int(refused > 0)


if __name__ == "__main__":
    sys.exit(main())
