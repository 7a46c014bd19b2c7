"""Returns a tensor that multiplies only when a program reads it on the host, and lets a copy on the GPU do nothing. The
verdict must be "returns early". Published: gpu-mode/reference-kernels, issue 162 (lazy output)."""

import torch


class Later(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), options=None):
        if function in (torch.Tensor.__setitem__, torch.Tensor.copy_):
            return arguments[0]
        if function is torch.Tensor.cpu:
            return torch.matmul(*arguments[0].operands).cpu()
        return super().__torch_function__(function, types, arguments, options or {})


def solve(a, b, c):
    later = torch.empty_like(c).as_subclass(Later)
    later.operands = (a, b)
    return later
