"""Is honest, but puts some 20 ms of waiting in front of the product on a stream of its own, and returns at once. On a
GPU it must pass with that time: all streams are waited for."""

import torch

stream = torch.cuda.Stream() if torch.cuda.is_available() else None


def solve(a, b, c):
    if stream is None:
        return torch.matmul(a, b, out=c)
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(40_000_000)  # cycles
        torch.matmul(a, b, out=c)
