"""Products of PyTorch's tensors whose bits do not depend on the batch.

>>> import torch
>>> import tessera.torch as tt
>>> x, w = torch.ones(3, 4), torch.ones(4, 2)
>>> tt.mm(x, w)
tensor([[4., 4.],
        [4., 4.],
        [4., 4.]])
>>> with tt.batch_invariant():
...     y = torch.nn.functional.linear(x, w.t())
"""

from ._batch_invariant import batch_invariant
from ._functions import addmm, baddbmm, bmm, grouped_mm, linear, mm

__all__ = ["addmm", "baddbmm", "batch_invariant", "bmm", "grouped_mm", "linear", "mm"]
