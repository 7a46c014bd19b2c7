"""Backward passes and vmap of the operators. Each derivative is a product by the same operators, in the same mode, so
that it keeps the contract and can be differentiated again."""

import math as numbers

import torch
from torch.compiler import is_compiling

from .. import _core

ops = torch.ops.tessera

#: How many tensors an operator takes, and the defaults of its options.
OPTIONS = {
    "mm": (2, (None, None)),
    "bmm": (2, (None, None)),
    "addmm": (3, (1, 1, None, None)),
    "baddbmm": (3, (1, 1, None, None)),
    "linear": (2, (None, None, None)),
    "grouped_mm": (3, (None, None)),
}


def operator(name, *arguments):
    """Calls an operator; under functorch's transforms, which do not look into an operator's derivatives, a function that
    they know."""
    if not is_compiling() and torch._C._are_functorch_transforms_active():
        tensors, options = OPTIONS[name]
        return TRANSFORMED[name].apply(*arguments, *options[len(arguments) - tensors :])
    return getattr(ops, name).default(*arguments)


def multiply(name, a, b, math):
    """Returns a product by tessera::mm or tessera::bmm, without the dispatcher where nothing has to see it."""
    if not is_compiling():
        result = _core._plain_product(a, b, math, 2 if name == "mm" else 3)
        if result is not None and result is not False:
            return result
    return operator(name, a, b, math, None)


def conjugated(x):
    """Returns the conjugate as a view; real tensors are returned as they are, without a call of PyTorch."""
    return x.conj() if x.dtype.is_complex else x


def adjoint(x):
    """Returns the conjugate transpose of each matrix, as a view."""
    return conjugated(x.mT)


def conjugate(number):
    return number.conjugate() if isinstance(number, complex) else number


def scaled(x, factor):
    return x if factor == 1 else x * factor


def needed(ctx, *arguments):
    """Says which arguments, by their places, need gradients. The dispatcher drops arguments at the end that have their
    default values, so that ctx.needs_input_grad may be shorter than the operator's list of arguments."""
    flags = ctx.needs_input_grad
    return tuple(place < len(flags) and flags[place] for place in arguments)


def products(name, g, a, b, of, math, alpha=1):
    """Returns the gradients of a and b in alpha·a·b, where `of` has true values."""
    of_a = of_b = None
    if not any(of):
        return of_a, of_b
    dtype = (b if a is None else a).dtype
    if g.dtype != dtype:  # a result in another type has gradients in that type
        g = g.to(dtype)
    if of[0]:
        of_a = scaled(multiply(name, g, adjoint(b), math), conjugate(alpha))
    if of[1]:
        of_b = scaled(multiply(name, adjoint(a), g, math), conjugate(alpha))
    return of_a, of_b


def save_operands(ctx, a, b, of_a, of_b):
    """Keeps what products() reads: each operand, if the other one's gradient is needed."""
    ctx.save_for_backward(a if of_b else None, b if of_a else None)


def setup_mm(ctx, inputs, output):
    a, b, ctx.math = inputs[:3]
    save_operands(ctx, a, b, *needed(ctx, 0, 1))


def backward_of(name):
    def backward(ctx, g):
        return (*products(name, g, *ctx.saved_tensors, needed(ctx, 0, 1), ctx.math), None, None)

    return backward


def setup_addmm(ctx, inputs, output):
    input, a, b, ctx.beta, ctx.alpha, ctx.math = inputs[:6]
    ctx.shape = input.shape
    save_operands(ctx, a, b, *needed(ctx, 1, 2))


def backward_of_sum(name):
    def backward(ctx, g):
        of_input = scaled(g, conjugate(ctx.beta)).sum_to_size(ctx.shape) if any(needed(ctx, 0)) else None
        pair = products(name, g, *ctx.saved_tensors, needed(ctx, 1, 2), ctx.math, ctx.alpha)
        return (of_input, *pair, None, None, None, None)

    return backward


def setup_linear(ctx, inputs, output):
    x, w, bias, ctx.activation, ctx.math = inputs
    # relu's derivative needs the result, and gelu's what it was applied to, which is computed again.
    extra = {"relu": output, "gelu": bias}.get(ctx.activation)
    again = ctx.activation == "gelu"
    of_x, of_w = needed(ctx, 0, 1)
    ctx.is_vector = w.dim() == 1
    ctx.shape = None if bias is None else bias.shape
    ctx.save_for_backward(x if of_w or again else None, w if of_x or again else None, extra)


def backward_linear(ctx, g):
    x, w, extra = ctx.saved_tensors
    of_each = needed(ctx, 0, 1, 2)
    if ctx.activation == "relu":
        g = torch.ops.aten.threshold_backward(g, extra, 0)
    elif ctx.activation == "gelu":
        g = torch.ops.aten.gelu_backward(g, operator("linear", x, w, extra, None, ctx.math), approximate="tanh")
    if ctx.is_vector:  # one column, without a dimension of its own
        g, w = g.unsqueeze(-1), None if w is None else w.unsqueeze(0)
    *batch, columns = g.shape
    is_matrix = len(batch) == 1  # a reshape that changes nothing takes as long as some products
    rows = g if is_matrix else g.reshape(numbers.prod(batch), columns)
    of_x = of_w = None
    if of_each[0]:
        of_x = multiply("mm", rows, conjugated(w), ctx.math)
        of_x = of_x if is_matrix else of_x.view(*batch, w.shape[1])
    if of_each[1]:
        inputs = x if is_matrix else x.reshape(rows.shape[0], x.shape[-1])
        of_w = multiply("mm", rows.mT, conjugated(inputs), ctx.math)
        of_w = of_w.squeeze(0) if ctx.is_vector else of_w
    of_bias = rows.sum(0) if of_each[2] else None
    if of_bias is not None and ctx.is_vector:
        of_bias = of_bias.reshape(ctx.shape)
    return of_x, of_w, of_bias, None, None


def setup_grouped(ctx, inputs, output):
    x, w, offsets, ctx.math = inputs[:4]
    ctx.by_rows, ctx.dtype = w.dim() == 3, x.dtype
    of_x, of_w = needed(ctx, 0, 1)
    ctx.save_for_backward(x if of_w else None, w if of_x else None, offsets)


def backward_grouped(ctx, g):
    x, w, offsets = ctx.saved_tensors
    g = g.to(ctx.dtype)
    of_x = of_w = None
    of_each = needed(ctx, 0, 1)
    if of_each[0]:
        if ctx.by_rows:
            of_x = operator("grouped_mm", g, w.mT, offsets, ctx.math)
        else:
            of_x = operator("grouped_mm", w, g.mT, offsets, ctx.math).mT.contiguous()
    if of_each[1]:
        of_w = operator("grouped_mm", x.mT, g, offsets, ctx.math)
    return of_x, of_w, None, None, None


BACKWARD = {
    "mm": (backward_of("mm"), setup_mm),
    "bmm": (backward_of("bmm"), setup_mm),
    "addmm": (backward_of_sum("mm"), setup_addmm),
    "baddbmm": (backward_of_sum("bmm"), setup_addmm),
    "linear": (backward_linear, setup_linear),
    "grouped_mm": (backward_grouped, setup_grouped),
}


#: What ctx has unless a forward pass of the compiled module says otherwise (record.hpp).
DEFAULTS = {"math": None, "alpha": 1, "beta": 1, "activation": None, "shape": None, "is_vector": False}


def function_of(name, forward):
    """Returns a torch.autograd.Function with the operator's backward pass."""
    methods = {"forward": staticmethod(forward), "backward": staticmethod(BACKWARD[name][0])}
    return type(f"tessera_{name}", (torch.autograd.Function,), methods)


def recording(name, kernel):
    """Returns a function that calls an operator where only autograd has to see the call. Its forward pass also does what
    setup_context() would, because PyTorch otherwise inspects the function's signature at each call."""
    setup = BACKWARD[name][1]

    def forward(ctx, *arguments):
        result = kernel(*arguments)
        setup(ctx, arguments, result)
        return result

    return function_of(name, forward).apply


def recording_quickly(name, kernel, reads_tensors):
    """Returns a function that calls an operator where only autograd has to see the call, in less time than recording()'s.
    It does not take out_dtype. Options that are the defaults should be left out: each costs time.

    The forward pass is a function of the compiled module, and apply() is PyTorch's function in C, which does without what
    torch.autograd.Function.apply() does for functorch, in some versions in Python. Calls that the module does not take
    go to recording(), and so do all calls with a PyTorch that it cannot read tensors of (before 2.10)."""
    quick, general = function_of(name, getattr(_core, f"_recorded_{name}")), recording(name, kernel)
    tensors, options = OPTIONS[name]
    for attribute, value in DEFAULTS.items():
        setattr(quick._backward_cls, attribute, value)
    apply = torch._C._FunctionBase.__dict__["apply"].__get__(None, quick)

    def in_python(*arguments):
        return general(*arguments, *options[len(arguments) - tensors :])

    def call(*arguments):
        result = apply(*arguments)
        return in_python(*arguments) if result is None else result

    return call if reads_tensors else in_python


def stacked(info, x, dim):
    """Returns x with the batch in front; a tensor without one is expanded, which copies nothing."""
    if dim is None:
        return x.expand(info.batch_size, *x.shape)
    return x.movedim(dim, 0)


def merged(info, x, dim):
    """Returns a stack of stacks as one stack."""
    return stacked(info, x, dim).flatten(0, 1)


def vmap_mm(info, dims, a, b, math=None, out_dtype=None):
    return operator("bmm", stacked(info, a, dims[0]), stacked(info, b, dims[1]), math, out_dtype), 0


def vmap_addmm(info, dims, input, a, b, beta=1, alpha=1, math=None, out_dtype=None):
    a, b = stacked(info, a, dims[1]), stacked(info, b, dims[2])
    rows = input.dim() - (dims[0] is not None)
    input = stacked(info, input, dims[0])
    input = input.reshape(info.batch_size, *(1,) * (2 - rows), *input.shape[1:])
    return operator("baddbmm", input, a, b, beta, alpha, math, out_dtype), 0


def vmap_bmm(info, dims, a, b, math=None, out_dtype=None):
    result = operator("bmm", merged(info, a, dims[0]), merged(info, b, dims[1]), math, out_dtype)
    return result.unflatten(0, (info.batch_size, -1)), 0


def vmap_baddbmm(info, dims, input, a, b, beta=1, alpha=1, math=None, out_dtype=None):
    a, b = merged(info, a, dims[1]), merged(info, b, dims[2])
    each = a.shape[0] // max(info.batch_size, 1)
    own = input.dim() - (dims[0] is not None)
    input = stacked(info, input, dims[0])
    input = input.reshape(info.batch_size, *(1,) * (3 - own), *input.shape[1:])
    input = input.expand(info.batch_size, each, *input.shape[2:]).flatten(0, 1)
    result = operator("baddbmm", input, a, b, beta, alpha, math, out_dtype)
    return result.unflatten(0, (info.batch_size, each)), 0


def vmap_linear(info, dims, x, w, bias=None, activation=None, math=None):
    if w.dim() - (dims[1] is not None) == 1:  # its one row is inserted after the batch
        w, place = (w, None) if dims[1] is None else (w.movedim(dims[1], 0), 0)
        w = w.unsqueeze(-2)
        if bias is not None and bias.dim() == (dims[2] is not None):  # one number, which is the one column's
            bias = bias.unsqueeze(-1)
        result, at = vmap_linear(info, (dims[0], place, *dims[2:]), x, w, bias, activation, math)
        return result.squeeze(-1), at
    if dims[1] is None and (bias is None or dims[2] is None):
        return operator("linear", x.movedim(dims[0], 0), w, bias, activation, math), 0
    x, w = stacked(info, x, dims[0]), stacked(info, w, dims[1])
    rows = x.reshape(info.batch_size, -1, x.shape[-1])
    if bias is None:
        result = operator("bmm", rows, w.mT, math)
    else:
        result = operator("baddbmm", stacked(info, bias, dims[2]).unsqueeze(1), rows, w.mT, 1, 1, math)
    result = result.view(*x.shape[:-1], w.shape[1])
    if activation == "relu":
        result = torch.relu(result)
    elif activation == "gelu":
        result = torch.nn.functional.gelu(result, approximate="tanh")
    return result, 0


VMAP = {"mm": vmap_mm, "addmm": vmap_addmm, "bmm": vmap_bmm, "baddbmm": vmap_baddbmm, "linear": vmap_linear}


def transformed_function(name):
    """Returns a torch.autograd.Function with the operator's derivatives and its rule for vmap."""
    backward, setup = BACKWARD[name]
    methods = {"forward": lambda *arguments: getattr(ops, name).default(*arguments), "setup_context": setup, "backward": backward}
    if name in VMAP:
        methods["vmap"] = VMAP[name]
    return type(f"tessera_{name}", (torch.autograd.Function,), {key: staticmethod(f) for key, f in methods.items()})


TRANSFORMED = {name: transformed_function(name) for name in BACKWARD}
