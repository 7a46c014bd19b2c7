"""The part of the campaign behind docs/certificate.md that is about libraries of Python: honest products are checked.

    PYTHONPATH=build/check/python python tests/extensions/certificate/campaign.py --honest 10000
    PYTHONPATH=build/check/python python tests/extensions/certificate/campaign.py --honest 10000 --device cuda

It multiplies with NumPy (its BLAS, einsum without BLAS, products of integers), and with SciPy's BLAS, PyTorch and JAX
where these are installed. With --device cuda, PyTorch and CuPy multiply on the GPU instead, and the check gets the
arrays as they lie there. The exit status is 0 if no honest product was refused.
"""

import argparse
import sys

import numpy as np

import tessera as ts

FLOATS = ["float32", "float64"]


def on_host(multiply):
    """A library that takes NumPy's arrays."""
    return lambda a, b: (a, b, multiply(a, b))


def of_numpy():
    yield "NumPy matmul", FLOATS, "strict", on_host(lambda a, b: a @ b)
    yield "NumPy einsum", FLOATS, "strict", on_host(lambda a, b: np.einsum("ik,kj->ij", a, b))
    yield "NumPy int8", ["int8"], "strict", on_host(lambda a, b: a.astype(np.int32) @ b.astype(np.int32))
    yield "NumPy dot of rows", FLOATS, "strict", on_host(lambda a, b: np.stack([row @ b for row in a]))
    try:
        from scipy.linalg import blas
    except ImportError:
        return
    yield "SciPy BLAS", ["float32"], "strict", on_host(lambda a, b: blas.sgemm(1.0, a, b))
    yield "SciPy BLAS", ["float64"], "strict", on_host(lambda a, b: blas.dgemm(1.0, a, b))


def of_torch(device):
    try:
        import torch
    except ImportError:
        return
    # Otherwise partial sums of 16-bit operands may be added in 16 bits, which no mode allows.
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False

    def multiply_as(dtype, tf32=False):
        def multiply(a, b):
            torch.backends.cuda.matmul.allow_tf32 = tf32
            a, b = (torch.from_numpy(x.copy()).to(device=device, dtype=dtype) for x in (a, b))
            return a, b, a @ b

        return multiply

    def multiply_int8(a, b):
        # The library takes more than 16 rows, and multiples of 8 elsewhere; cuBLAS takes multiples of 32 and columns
        # of b that lie one after the other.
        (m, k), n = a.shape, b.shape[1]
        a = np.pad(a, ((0, -m % 32), (0, -k % 32)))
        b = np.pad(b, ((0, -k % 32), (0, -n % 32)))
        a, b = torch.from_numpy(a).to(device), torch.from_numpy(np.ascontiguousarray(b.T)).to(device).t()
        return a, b, torch._int_mm(a, b)

    for name in (*FLOATS, "float16", "bfloat16"):
        yield f"PyTorch on {device}", [name], "strict", multiply_as(getattr(torch, name))
    if device == "cuda":
        yield f"PyTorch on {device}", ["float32"], "tf32", multiply_as(torch.float32, tf32=True)
    yield f"PyTorch on {device}", ["int8"], "strict", multiply_int8


def of_cupy():
    try:
        import cupy
    except ImportError:
        return

    def multiply(a, b):
        a, b = cupy.asarray(a), cupy.asarray(b)
        return a, b, a @ b

    yield "CuPy", FLOATS, "strict", multiply


def of_jax():
    try:
        import jax
        import ml_dtypes
    except ImportError:
        return
    jax.config.update("jax_enable_x64", True)
    precise = jax.lax.Precision.HIGHEST
    yield "JAX", FLOATS, "strict", on_host(lambda a, b: jax.numpy.matmul(a, b, precision=precise))

    def multiply_bfloat16(a, b):
        a, b = (x.astype(ml_dtypes.bfloat16) for x in (a, b))
        return a, b, jax.numpy.matmul(a, b, preferred_element_type=np.float32)

    yield "JAX", ["bfloat16"], "strict", multiply_bfloat16


def libraries(device):
    """The products by name: the types they take, the math mode, and a function of two arrays of NumPy that returns the
    operands as they were multiplied, and their product. Operands of bfloat16 come to it as float32."""
    if device == "cuda":
        yield from of_torch(device)
        yield from of_cupy()
        return
    yield from of_numpy()
    yield from of_torch(device)
    yield from of_jax()


def random(rng, shape, dtype):
    if dtype == "int8":
        return rng.integers(-128, 128, shape, dtype=np.int8)
    scale = 2.0 ** rng.integers(-6, 7, (shape[0], 1)) if rng.integers(3) == 0 else 1.0
    return (rng.uniform(-1, 1, shape) * scale).astype("float32" if dtype == "bfloat16" else dtype)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--honest", type=int, default=2000, help="products to check, over all libraries")
    parser.add_argument("--largest", type=int, default=400, help="the largest m, n and k")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="where the libraries multiply")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    cases = [(name, dtype, math, run) for name, dtypes, math, run in libraries(options.device) for dtype in dtypes]
    if not cases:
        sys.exit("neither PyTorch nor CuPy is installed")
    counts = {}
    for product in range(options.honest):
        name, dtype, math, run = cases[product % len(cases)]
        m, n, k = np.exp(rng.uniform(0, np.log(options.largest), 3)).astype(int)
        if rng.integers(5) == 0:
            k = k * 4 + 1000
        a, b = random(rng, (m, k), dtype), random(rng, (k, n), dtype)
        answer = ts.check(*run(a, b), math=math, seed=product, rows=2, vectors=16)
        count = counts.setdefault((name, dtype, math), [0, 0])
        count[0] += 1
        if not answer:
            count[1] += 1
            print(f"refused, of {name} {dtype} {math}: {answer}")
    for (name, dtype, math), (checked, refused) in counts.items():
        print(f"honest, {name} {dtype} {math}: {checked} products, {refused} refused")
    refused = sum(count[1] for count in counts.values())
    print(f"all: {options.honest} honest products, {refused} refused")
    return int(refused > 0)


if __name__ == "__main__":
    sys.exit(main())
