"""Races tessera.torch.bmm and grouped_mm on a GPU beside PyTorch's: layers of experts, and batches of random shapes.

    PYTHONPATH=build/check/python python3 torch_batches.py [--seed 1] [--count 60] [--dtype bfloat16] [--json FILE]

Calls of both are captured in CUDA graphs, which take turns; a number is the median time of a call in microseconds. Plain
calls one after another are timed in the same way, the host's work included. Operands are random, and results of the same
inputs are compared with PyTorch's before.
"""

import argparse
import json
import math
import random
import statistics
import time

import torch

import tessera.torch as tt

CALLS = 10  #: of a graph, and of plain calls that are timed together
#: Rows, experts, k and n; and whether all experts have as many rows. The others' shares of the rows are random.
EXPERTS = [
    (64, 64, 2048, 1408, False),
    (256, 64, 2048, 1408, False),
    (1024, 64, 2048, 1408, False),
    (4096, 64, 2048, 1408, False),
    (16384, 64, 2048, 1408, False),
    (32768, 64, 1408, 2048, False),
    (512, 8, 4096, 14336, False),
    (4096, 8, 4096, 14336, False),
    (4096, 8, 14336, 4096, True),
    (8192, 8, 4096, 14336, True),
    (16384, 8, 4096, 14336, False),
    (8192, 128, 4096, 1536, False),
    (32768, 128, 1536, 4096, False),
]


def graph_of(call):
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CALLS):
            call()
    return graph.replay


def plainly(call):
    def calls():
        for _ in range(CALLS):
            call()

    return calls


def time_of(work):
    torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / CALLS * 1e6


def race(theirs, ours, rounds):
    """Returns the median times of both, by graphs and plainly."""
    works = [graph_of(theirs), graph_of(ours), plainly(theirs), plainly(ours)]
    for work in works:
        time_of(work)
    times = [[] for _ in works]
    for _ in range(rounds):
        for own, work in zip(times, works, strict=True):
            own.append(time_of(work))
    names = ("torch", "tessera", "torch_plain", "tessera_plain")
    return {name: round(statistics.median(own), 2) for name, own in zip(names, times, strict=True)}


def check_close(theirs, ours):
    """Compares results that are sums of products of numbers near 1 in another order."""
    x, y = theirs().float(), ours().float()
    if not torch.allclose(x, y, rtol=0.02, atol=0.02 * x.std().item()):
        raise SystemExit(f"results differ by up to {(x - y).abs().max().item()}")


def operands(rng, shape, dtype):
    """Returns a tensor of random numbers whose last two dimensions lie in either order."""
    x = torch.randn(shape, device="cuda", dtype=dtype)
    return x.mT.contiguous().mT if rng.random() < 0.5 else x


def experts(rng, shape, dtype):
    rows, count, k, n, even = shape
    x = torch.randn(rows, k, device="cuda", dtype=dtype)
    w = operands(rng, (count, k, n), dtype)
    ends = [rows * (i + 1) // count for i in range(count)] if even else sorted(rng.randint(0, rows) for _ in range(count))
    ends[-1] = rows
    offsets = torch.tensor(ends, dtype=torch.int32, device="cuda")
    theirs = getattr(torch.nn.functional, "grouped_mm", None) or torch._grouped_mm
    return (lambda: theirs(x, w, offs=offsets)), (lambda: tt.grouped_mm(x, w, offsets))


def random_batches(rng, count):
    """Returns shapes (batch, m, n, k) whose logarithms are evenly distributed; lines have whole 16 bytes."""
    shapes = []
    while len(shapes) < count:
        size = lambda least, most: math.exp(rng.uniform(math.log(least), math.log(most)))  # noqa: E731
        batch, m, n, k = int(size(2, 1024)), int(size(1, 4096)), int(size(8, 4096)) // 8 * 8, int(size(16, 4096)) // 8 * 8
        if batch * (m * k + k * n + m * n) < 2e9 and batch * m * n * k < 4e11:
            shapes.append((batch, m, n, k))
    return shapes


def batch(rng, shape, dtype):
    count, m, n, k = shape
    x = torch.randn(count, m, k, device="cuda", dtype=dtype)
    w = operands(rng, (count, k, n), dtype)
    math = "tf32" if torch.backends.cuda.matmul.allow_tf32 and dtype == torch.float32 else None
    return (lambda: torch.bmm(x, w)), (lambda: tt.bmm(x, w, math=math))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--dtype", default="bfloat16", choices=("bfloat16", "float16", "float32", "tf32"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.backends.cuda.matmul.allow_tf32 = options.dtype == "tf32"
    rng = random.Random(options.seed)
    dtype = torch.float32 if options.dtype == "tf32" else getattr(torch, options.dtype)
    kinds = {"bmm": (random_batches(rng, options.count), batch)}
    if dtype == torch.bfloat16:  # PyTorch's grouped_mm takes no other type
        kinds["grouped_mm"] = EXPERTS, experts
    device = torch.cuda.get_device_name()
    print(f"PyTorch {torch.__version__}, {device}, {options.dtype}, seed {options.seed}")
    found = []
    for kind, (shapes, make) in kinds.items():
        ratios = {"by graphs": [], "plain calls": []}
        for shape in shapes:
            theirs, ours = make(rng, shape, dtype)
            check_close(theirs, ours)
            times = race(theirs, ours, options.rounds)
            found.append({"call": kind, "shape": list(shape), **times})
            ratios["by graphs"].append(times["torch"] / times["tessera"])
            ratios["plain calls"].append(times["torch_plain"] / times["tessera_plain"])
            print(kind, shape, times, f"{times['torch'] / times['tessera']:.2f}", flush=True)
        for name, own in ratios.items():
            mean = statistics.geometric_mean(own)
            below = sum(ratio < 0.95 for ratio in own)
            print(f"{kind} {name}: mean {mean:.2f} of PyTorch's speed, {below} of {len(own)} below 0.95, least {min(own):.2f}")
    if options.json:
        about = {"device": device, "torch": torch.__version__, "dtype": options.dtype, "seed": options.seed}
        with open(options.json, "w") as file:
            json.dump({**about, "unit": "microseconds a call", "results": found}, file, indent=1)


if __name__ == "__main__":
    main()
