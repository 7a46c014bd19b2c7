"""Measures what a call of tessera.torch costs the host beside PyTorch's own: 4×4 products of float32, one thread.

    PYTHONPATH=build/check/python python3 torch_overhead.py [--device cuda]

Prints the median over rounds of each call's best time, in nanoseconds, and its ratio to PyTorch's. The calls take turns,
so that a disturbance does not slow down one of them only. On a GPU the host enqueues the products and waits for none.
"""

import argparse
import statistics
import timeit

import torch

import tessera.torch as tt


def ways(device):
    a, b = torch.randn(4, 4, device=device), torch.randn(4, 4, device=device)
    x, y = torch.randn(2, 4, 4, device=device), torch.randn(2, 4, 4, device=device)
    v = torch.randn(4, device=device)
    w = torch.randn(4, 4, device=device, requires_grad=True)
    z = torch.randn(2, 4, 4, device=device, requires_grad=True)
    out = torch.empty(4, 4, device=device)
    linear, grouped = torch.nn.functional.linear, getattr(torch.nn.functional, "grouped_mm", None)
    deep = torch.randn(2, 2, 4, 4, device=device)
    rows, experts = a.repeat(4, 2).bfloat16(), torch.randn(3, 8, 8, device=device, dtype=torch.bfloat16)
    ends = torch.tensor([4, 9, 16], dtype=torch.int32, device=device)
    found = {
        "mm": (lambda: torch.mm(a, b), lambda: tt.mm(a, b)),
        "mm, out=": (lambda: torch.mm(a, b, out=out), lambda: tt.mm(a, b, out=out)),
        "addmm": (lambda: torch.addmm(v, a, b), lambda: tt.addmm(v, a, b)),
        "bmm": (lambda: torch.bmm(x, y), lambda: tt.bmm(x, y)),
        "baddbmm": (lambda: torch.baddbmm(v, x, y), lambda: tt.baddbmm(v, x, y)),
        "linear": (lambda: linear(a, b, v), lambda: tt.linear(a, b, v)),
        "linear, x of 4 dimensions": (lambda: linear(deep, b, v), lambda: tt.linear(deep, b, v)),
        "mm that records a gradient": (lambda: torch.mm(a, w), lambda: tt.mm(a, w)),
        "addmm that records": (lambda: torch.addmm(v, a, w), lambda: tt.addmm(v, a, w)),
        "bmm that records": (lambda: torch.bmm(x, z), lambda: tt.bmm(x, z)),
        "linear that records": (lambda: linear(a, w, v), lambda: tt.linear(a, w, v)),
        "mm, by torch.ops": (lambda: torch.mm(a, b), lambda: torch.ops.tessera.mm.default(a, b)),
        "mm, by torch.ops, that records": (lambda: torch.mm(a, w), lambda: torch.ops.tessera.mm.default(a, w)),
    }
    if grouped is not None:
        found["grouped_mm"] = (lambda: grouped(rows, experts, offs=ends), lambda: tt.grouped_mm(rows, experts, ends))
    return found


def replaced(call):
    def within():
        with tt.batch_invariant():
            return best(call)

    return within


def best(call, calls=200, rounds=15):
    return min(timeit.repeat(call, number=calls, repeat=rounds)) / calls * 1e9


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    torch.set_num_threads(1)
    pairs = {name: tuple((lambda f=f: best(f)) for f in pair) for name, pair in ways(options.device).items()}
    for name in ("mm", "linear", "mm that records a gradient"):
        theirs = ways(options.device)[name][0]
        pairs[f"{name} under batch_invariant()"] = ((lambda f=theirs: best(f)), replaced(theirs))
    found = {name: ([], []) for name in pairs}
    for _ in range(options.rounds):
        for name, pair in pairs.items():
            for times, measure in zip(found[name], pair, strict=True):
                times.append(measure())
    print(f"PyTorch {torch.__version__}, {options.device}")
    print(f"{'call':48} {'PyTorch':>8} {'Tessera':>8} {'ratio':>6}")
    for name, times in found.items():
        theirs, ours = (statistics.median(x) for x in times)
        print(f"{name:48} {theirs:8.0f} {ours:8.0f} {ours / theirs:6.2f}")
    once = tt.batch_invariant()

    def enter():
        with once:
            pass

    print(f"to enter and leave batch_invariant(): {best(enter, 20) / 1e3:.0f} µs")


if __name__ == "__main__":
    main()
