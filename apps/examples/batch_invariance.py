"""A small transformer whose answer does not change with what shares its batch.

    python apps/examples/batch_invariance.py [--device cuda] [--dtype bfloat16] [--steps 20]

Builds a decoder with random weights, computes the logits of one sequence alone and within a batch of 64, and counts the
logits whose bits differ: under PyTorch's own products, and under tessera.torch.batch_invariant(). The model is not
changed for it. The exit status is 1 if bits differ under batch_invariant().
"""

import argparse
import statistics
import sys
import time

import torch
from torch import nn

import tessera.torch as tt


class Block(nn.Module):
    """Attention and a layer of two products, each after a normalisation, as in GPT-2."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attention(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.mT * (width // self.heads) ** -0.5
        future = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        weights = scores.masked_fill(future, float("-inf")).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attention(self.norms[0](x))
        return x + self.down(nn.functional.gelu(self.up(self.norms[1](x)), approximate="tanh"))


class Decoder(nn.Module):
    def __init__(self, tokens=1000, length=32, width=256, heads=4, layers=4):
        super().__init__()
        self.token, self.position = nn.Embedding(tokens, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, tokens, bias=False)

    def forward(self, words):
        x = self.token(words) + self.position.weight[: words.shape[1]]
        return self.head(self.norm(self.blocks(x)))


def differing_bits(x, y):
    integers = {2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]
    return int((x.contiguous().view(integers) != y.contiguous().view(integers)).sum())


def seconds_of_a_step(model, words, steps):
    """Returns the median time of a forward pass."""
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        model(words)
        if words.is_cuda:
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--dtype", default="float32", choices=("float32", "float64", "float16", "bfloat16"))
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=0, help="also time so many steps under each")
    options = parser.parse_args()

    torch.manual_seed(1)
    model = Decoder().eval().to(options.device, getattr(torch, options.dtype))
    words = torch.randint(1000, (options.batch, 32), device=options.device)
    row = options.batch // 3
    total = 0

    def compare(name):
        alone, batch = model(words[row : row + 1])[0, -1], model(words)[row, -1]
        count = differing_bits(alone, batch)
        print(f"{name}: {count} of {alone.numel()} logits differ")
        print("  alone   ", " ".join(f"{x:.9g}" for x in alone[:5].tolist()))
        print("  in batch", " ".join(f"{x:.9g}" for x in batch[:5].tolist()))
        if options.steps:
            print(f"  {1e3 * seconds_of_a_step(model, words, options.steps):.1f} ms a step")
        return count

    with torch.no_grad():
        compare("aten")
        with tt.batch_invariant():
            total = compare("batch_invariant()")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
