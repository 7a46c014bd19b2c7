"""Products of tensors whose arguments were checked, below PyTorch's autograd: the only calls of the compiled module."""

import functools
import math
import pathlib
import warnings

import torch
import torch.autograd.forward_ad as forward_ad

from .. import _core
from .._errors import InternalError, InvalidArgument, KernelRejected
from .._types import OF_MATRICES

#: The element types, with DLPack's code and bits, and NumPy's name.
TYPES = {
    getattr(torch, one.name): (one.dlpack, 8 * one.bytes, one.name) for one in OF_MATRICES if hasattr(torch, one.name)
}


def _set_up():
    """Tells the compiled module of the installed PyTorch. Names that a version lacks are left out."""
    asked = ("_is_any_autocast_enabled", "_len_torch_dispatch_stack", "_len_torch_function_stack", "_is_tracing")
    unusual = [getattr(torch._C, name) for name in asked if hasattr(torch._C, name)]
    return _core._use_tensor_library(
        getattr(torch.Tensor, "__dlpack_c_exchange_api__", None),
        str(pathlib.Path(torch.__file__).parent / "lib/libtorch_cpu.so"),
        getattr(getattr(torch._C, "_aoti", None), "alloc_tensor_by_stealing_from_void_ptr", None),
        (torch.Tensor, torch.nn.Parameter),
        tuple(unusual),
        torch.is_grad_enabled,
        torch._C._are_functorch_transforms_active,
        forward_ad,
    )


#: Does the compiled module read and make tensors itself? PyTorch from 2.10 on has what that needs.
READS_TENSORS = _set_up()


def described(tensor):
    """Returns what TensorView::read() takes of versions without a table of C functions, and of subclasses."""
    code, bits, _ = TYPES[tensor.dtype]
    kind, number = (2, tensor.device.index) if tensor.is_cuda else (1, 0)
    return (tensor.data_ptr(), code, bits, kind, number, *tensor.shape, *tensor.stride())


def stream_of(tensor):
    """Returns the number of the current stream, where 1 is the legacy default stream; None on the host."""
    return (torch.cuda.current_stream(tensor.device).cuda_stream or 1) if tensor.is_cuda else None


def is_readable(x):
    """Do the elements of each row, or of each column, lie side by side, without overlaps?"""
    if x.numel() == 0:
        return True
    (rows, cols), (down, right) = x.shape[-2:], x.stride()[-2:]
    by_rows = (cols == 1 or right == 1) and (rows == 1 or down >= cols)
    by_columns = (rows == 1 or down == 1) and (cols == 1 or right >= rows)
    return by_rows or by_columns


def compact(x):
    """Returns a tensor that a kernel reads: the tensor itself, or a copy."""
    x = x.resolve_conj().resolve_neg()
    return x if is_readable(x) else x.contiguous()


def type_name(dtype):
    """Returns a type's name; None for None and for types that no product has."""
    return TYPES[dtype][2] if dtype in TYPES else None


def resize(out, shape):
    """Gives a result's tensor the shape, and warns as PyTorch does if it had elements."""
    if tuple(out.shape) != tuple(shape):
        if out.numel() != 0:
            warnings.warn(
                f"An output with one or more elements was resized since it had shape {list(out.shape)}, which does not "
                f"match the required output shape {list(shape)}.",
                UserWarning,
                stacklevel=4,
            )
        out.resize_(shape)


def share_a_place(sizes, strides):
    """Have two elements of a tensor of at most three dimensions one place in memory?"""
    dims = sorted((step, size) for size, step in zip(sizes, strides) if size > 1)
    reach = 0
    for step, size in dims:
        if step <= reach:
            break
        reach += (size - 1) * step
    else:
        return False  # each dimension goes beyond the ones within it
    if dims[0][0] == 0:
        return True
    # Differences of indices, not all 0, that lead back to the same place: d of the shortest dimension, i and j of the
    # others with i·p + j·q = t, where p and q have no common factor, so that i has one value modulo q.
    *longer, (step, size) = sorted(dims, key=lambda x: -x[1]) if len(dims) == 3 else [*dims, (0, 1)]
    (p, rows), (q, cols) = longer
    factor = math.gcd(p, q)
    p, q = p // factor, q // factor
    for d in range(size):
        t, rest = divmod(d * step, factor)
        if rest:
            continue
        low = max(1 - rows, -((q * (cols - 1) - t) // p))
        high = min(rows - 1, (t + q * (cols - 1)) // p)
        i = low + (t * pow(p, -1, q) - low) % q
        if d == 0 and i == 0:
            i = q
        if i <= high:
            return True
    return False


def expect_own_places(out):
    """Raises what PyTorch raises for such a result where it notices it; PyTorch notices only strides of 0."""
    if out.layout == torch.strided and out.numel() > 0 and share_a_place(out.shape, out.stride()):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )


def product(a, b, math=None, c=None, beta=1, alpha=1, bias=None, activation=None, dtype=None, out=None):
    """Returns activation(alpha·a·b + beta·c + bias), in `out` if that is given. c is broadcast."""
    name = type_name(dtype)
    if beta == 0:
        c = None
    done = _core._tensor_product(False, a, b, math, 0, c, beta, alpha, bias, activation, name, out)
    return _with_help(a, b, math, c, beta, alpha, bias, activation, name, out) if done is None else done


def _with_help(a, b, math, c, beta, alpha, bias, activation, name, out):
    """Multiplies what the compiled module does not take as it is."""
    a, b = compact(a), compact(b)
    dtype = next(x for x, (_, _, its) in TYPES.items() if its == name) if name else a.dtype
    shape = (*(a if a.dim() == 3 else b).shape[:-2], a.shape[-2], b.shape[-1])
    if bias is not None and (dtype.is_complex or bias.stride(0) < 1):
        bias = bias.contiguous()
        if dtype.is_complex:
            c, beta, bias = bias, 1, None
    direct = out is not None and c is None and is_readable(out) and not (dtype.is_complex and not out.is_contiguous())
    result = out if direct else torch.empty(shape, dtype=dtype, device=a.device)
    described_result = described(result)
    described_c = None
    if c is not None:
        vector = c.dim() == 1 and c.shape[0] == shape[-1] and c.is_contiguous() and beta == 1 and not dtype.is_complex
        described_c = described(c.resolve_conj().resolve_neg()) if vector else described_result
        if not vector:
            result.copy_(c)
    done = _core._tensor_product(
        False,
        described(a),
        described(b),
        math,
        0,
        described_c,
        beta,
        alpha,
        None if bias is None else described(bias),
        activation,
        name,
        described_result,
        stream_of(a),
    )
    if done is None:
        raise InternalError(f"tessera.torch cannot multiply {tuple(a.shape)} by {tuple(b.shape)} of {a.dtype}")
    if out is None or direct:
        return result
    return out.copy_(result)


def without_overlap(kernel, *arguments, **keywords):
    """Computes a product into memory of the caller."""
    try:
        return kernel(*arguments, **keywords)
    except InvalidArgument as error:
        raise_overlap(error)


def raise_overlap(error):
    """Raises what PyTorch raises for a result in an operand's memory or over itself, or the error if it is another one."""
    said = str(error)
    if "results of products" in said or "share elements" in said:
        raise RuntimeError(
            f"unsupported operation: more than one element of the written-to tensor refers to a single memory location: {error}"
        ) from None
    if "overlap" not in said:
        raise error
    raise RuntimeError(f"unsupported operation: out shares memory with an operand: {error}") from None


FEW_ROWS = 64  # of a group, on average: with more, larger tiles pay for a wait of the host


@functools.cache
def is_hopper(device):
    return torch.cuda.get_device_capability(device)[0] == 9


def has_large_tiles(x, w, math):
    """Says whether a GPU's kernel that reads offsets has large tiles for these operands: tensors of 16 bits on the matrix
    units, whose lines begin at multiples of 16 bytes."""
    if x.dtype not in (torch.float16, torch.bfloat16) or math == "strict" or not is_hopper(x.device):
        return False
    return all(stride == 1 or stride % 8 == 0 for y in (x, w) for stride in y.stride())


def may_read_on_device(x, w, offsets, math):
    """Says whether the GPU is to read the offsets of groups of rows."""
    if not (x.is_cuda and offsets.device == x.device and w.dim() == 3 and offsets.shape[0] > 0):
        return False
    if x.shape[0] <= FEW_ROWS * offsets.shape[0] or has_large_tiles(x, w, math):
        return True
    return torch.cuda.is_current_stream_capturing()


def grouped_on_device(x, w, offsets, math, out):
    """Multiplies groups of rows whose offsets the GPU reads. Returns whether the mode has kernels for that."""
    offsets = offsets.contiguous()
    ends = (offsets.data_ptr(), offsets.dtype == torch.int64, offsets.shape[0])
    try:
        return _multiplied_groups(x, w, ends, math, out) is not None
    except KernelRejected:
        return False


def _multiplied_groups(x, w, ends, math, out):
    """Returns `out`, or None where no kernel multiplies the groups."""
    done = _core._grouped_tensor_product(x, w, ends, math, out, None)
    if done is None:  # the compiled module cannot read them as they are
        x, w = compact(x), compact(w)
        done = _core._grouped_tensor_product(described(x), described(w), ends, math, described(out), stream_of(x))
    return None if done is None else out


def grouped(x, w, ends, math, dtype, out):
    """Multiplies the groups that end at `ends` into `out`."""
    if _multiplied_groups(x, w, ends, math, out) is None:
        raise InternalError(f"tessera.torch cannot multiply groups of {tuple(x.shape)} by {tuple(w.shape)}")
    return out
