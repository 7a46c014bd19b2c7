"""The kernels of batch_invariant() other than products, for the lists of _invariance.py."""

import functools
import warnings

import torch

from . import _attention as attention
from . import _elementwise as elementwise
from . import _invariance as lists
from . import _products as products
from . import _rows as rows

_aten = torch.ops.aten
_below = torch._C._dispatch_keyset_full_after(torch._C.DispatchKey.BackendSelect)

#: By the operator's name: a function of PyTorch's kernel and the arguments. It returns None for what is PyTorch's.
FUNCTIONS = {
    **{name: elementwise.kernel_of(early=name.startswith("gelu")) for name in lists.ELEMENTS},
    "glu": elementwise.gated,
    "glu_backward": elementwise.gated_backward,
    "sum.dim_IntList": rows.total,
    "mean.dim": rows.average,
    "_softmax": rows.soft,
    "_log_softmax": rows.soft,
    "_softmax_backward_data": rows.soft_backward,
    "_log_softmax_backward_data": rows.soft_backward,
    "_scaled_dot_product_flash_attention_for_cpu": attention.attention,
    "_scaled_dot_product_flash_attention_for_cpu_backward": attention.attention_backward,
}

#: Overloads whose names do not say which overload gives the result that they write.
WRITERS = {
    "sum.IntList_out": "sum.dim_IntList",
    "mean.out": "mean.dim",
    "pow_.Scalar": "pow.Tensor_Scalar",
    "pow_.Tensor": "pow.Tensor_Tensor",
}


def overload(name):
    """Returns an operator by its name, or None where this PyTorch has none."""
    packet, _, its = name.partition(".")
    return getattr(getattr(_aten, packet, None), its or "default", None)


def name_of(operator):
    packet, its = operator._schema.name.removeprefix("aten::"), operator._schema.overload_name
    return f"{packet}.{its}" if its else packet


def takes_tensors(operator):
    return any("Tensor" in str(argument.type) for argument in operator._schema.arguments)


def of_packet(name):
    """Returns the overloads of a name with tensors."""
    packet = getattr(_aten, name, None)
    found = [] if packet is None else [getattr(packet, its) for its in packet.overloads()]
    return [operator for operator in found if takes_tensors(operator)]


def written_into(name):
    """Returns the operator that gives the result which the named one writes, or None."""
    if name in WRITERS:
        return overload(WRITERS[name])
    packet, _, its = name.partition(".")
    if packet.endswith("_"):
        return overload(f"{packet[:-1]}.{its}" if its else packet[:-1])
    its = its.removesuffix("_out") if its.endswith("_out") else "" if its == "out" else None
    return None if its is None else overload(f"{packet}.{its}" if its else packet)


def with_tensors(operator):
    """Returns a function that makes tensors of numbers among an operator's arguments, where the operator has tensors:
    PyTorch hands such a number to Python for a tensor that it made of one. Its type decides nothing about the result's."""
    places = [i for i, argument in enumerate(operator._schema.arguments) if str(argument.type) == "Tensor"]

    def made(arguments):
        if all(i >= len(arguments) or isinstance(arguments[i], torch.Tensor) for i in places):
            return arguments
        floating = any(isinstance(x, torch.Tensor) and (x.is_floating_point() or x.is_complex()) for x in arguments)
        wide = torch.float64 if floating else torch.get_default_dtype()
        types = {bool: torch.bool, int: torch.int64, float: wide}
        return tuple(
            torch.scalar_tensor(x, dtype=types.get(type(x))) if i in places and not isinstance(x, torch.Tensor) else x
            for i, x in enumerate(arguments)
        )

    return made


def is_power_on_gpu(name, arguments):
    """Is this pow(number, exponents on a GPU)? PyTorch makes a tensor of the number on the GPU, and cannot hand such a
    tensor to Python, where the kernel of pow(tensor, tensor) is."""
    return name.startswith("pow.Scalar") and are_plain(arguments) and arguments[1].is_cuda


def power_on_gpu(base, exponent, **keywords):
    """pow(number, exponents) of a tensor that Python made of the number."""
    dtype = torch.result_type(exponent, base)
    return torch.pow(torch.scalar_tensor(base, dtype=dtype, device=exponent.device), exponent, **keywords)


def computing(operator, function, current):
    """Returns the kernel of an operator that gives a new result."""
    made = with_tensors(operator)
    name = name_of(operator)

    def kernel(keys, *arguments, **keywords):
        arguments = made(arguments)
        if is_power_on_gpu(name, arguments):
            return power_on_gpu(*arguments)

        def call(*others, **their):
            return operator.redispatch(keys & _below, *others, **their)

        result = function(call, *arguments, **keywords) if current() is not None and are_plain(arguments) else None
        return call(*arguments, **keywords) if result is None else result

    return kernel


def writing(operator, source, function, current):
    """Returns the kernel of an operator that writes into `out` or into its first argument."""
    made = with_tensors(operator)
    name = name_of(operator)

    def kernel(keys, *arguments, **keywords):
        arguments = made(arguments)
        if is_power_on_gpu(name, arguments):
            return power_on_gpu(*arguments, **keywords)

        def call(*others, **their):
            return source.redispatch(keys & _below, *others, **their)

        target = keywords.get("out", arguments[0] if arguments else None)
        if current() is not None and are_plain((*arguments, target)):
            own = {key: value for key, value in keywords.items() if key != "out"}
            result = function(call, *arguments, **own)
            if result is not None and result.dtype == target.dtype and result.device == target.device:
                if "out" in keywords:
                    products.resize(target, result.shape)
                return target.copy_(result)
        return operator.redispatch(keys & _below, *arguments, **keywords)

    return kernel


def are_plain(arguments):
    """Are the tensors among these ones with memory, outside of tracing?"""
    return all(
        type(x).__torch_dispatch__ is torch._C._disabled_torch_dispatch_impl
        and x.layout == torch.strided
        and not x.is_quantized
        for x in arguments
        if isinstance(x, torch.Tensor)
    )


class Warnings:
    """Warns once of each operator that is an exception, until clear() forgets them."""

    def __init__(self):
        self._said = set()

    def clear(self):
        self._said.clear()

    def say(self, name, device, reason):
        if (name, device) not in self._said:
            self._said.add((name, device))
            kind = "a GPU" if device == "cuda" else "the processor"
            text = f"batch_invariant(): {name} is not invariant on {kind}: {reason} (docs/pytorch.md lists what is)"
            warnings.warn(text, UserWarning, stacklevel=3)


said = Warnings()


def warning(operator, name, devices, reason, current):
    """Returns the kernel of an operator that is an exception: PyTorch's, after a warning."""
    made = with_tensors(operator)

    def kernel(keys, *arguments, **keywords):
        arguments = made(arguments)
        if current() is not None:
            first = next((x for x in arguments if isinstance(x, torch.Tensor)), None)
            if first is not None and first.device.type in devices and are_plain(arguments):
                said.say(name, first.device.type, reason)
        return operator.redispatch(keys & _below, *arguments, **keywords)

    return kernel


def long_softmax(function):
    """Warns of a GPU's softmax of long rows, which reads rows from the next multiple of 16 bytes on."""

    def kernel(call, x, dim, *others):
        if x.is_cuda and x.dim() > 0:
            size = x.shape[dim]
            if size > lists.LONG_SOFTMAX and size * x.element_size() % 16 != 0:
                said.say("softmax", "cuda", f"rows of {size} elements do not all begin at multiples of 16 bytes")
        return function(call, x, dim, *others)

    return kernel


@functools.cache
def kernels(current):
    """Returns the kernels by the operators' names. `current` says which modes are in force, or None."""
    found = {}
    functions = {name: long_softmax(f) if name in ("_softmax", "_log_softmax") else f for name, f in FUNCTIONS.items()}
    for packet in {name.partition(".")[0] for name in functions}:
        for operator in of_packet(packet) + of_packet(packet + "_"):
            name = name_of(operator)
            if operator._schema.is_mutable:
                source = written_into(name)
            else:
                source = operator
            if source is None:
                continue
            function = functions.get(name_of(source)) or functions.get(name_of(source).partition(".")[0])
            if function is None:
                continue
            if source is operator:
                found[name] = computing(operator, function, current)
            else:
                found[name] = writing(operator, source, function, current)
    for name, (devices, reason) in lists.EXCEPTIONS.items():
        operator = overload(name)
        if operator is not None:
            found[name] = warning(operator, name.partition(".")[0], devices, reason, current)
    return found
