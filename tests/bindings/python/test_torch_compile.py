"""Gradients of compiled operators: each choice of arguments that need them, options left out, and other sizes."""

import itertools
import os
import shutil

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: pip install torch")

import tessera.torch as tt  # noqa: E402
from test_torch import random  # noqa: E402

ops = torch.ops.tessera

#: The shapes of the tensors, and the arguments after them.
CALLS = {
    "mm": ("mm", ((3, 4), (4, 5)), ()),
    "bmm": ("bmm", ((2, 3, 4), (2, 4, 5)), ()),
    "addmm": ("addmm", ((5,), (3, 4), (4, 5)), ()),
    "addmm with factors": ("addmm", ((5,), (3, 4), (4, 5)), (2.0, 0.5)),
    "baddbmm": ("baddbmm", ((3, 5), (2, 3, 4), (2, 4, 5)), ()),
    "linear": ("linear", ((6, 4), (5, 4)), ()),
    "linear, None": ("linear", ((6, 4), (5, 4)), (None,)),
    "linear, a word": ("linear", ((6, 4), (5, 4)), (None, "relu")),
    "linear with a bias": ("linear", ((2, 3, 4), (5, 4), (5,)), ()),
    "linear with all": ("linear", ((2, 3, 4), (5, 4), (5,)), ("gelu", "strict")),
    "linear of a vector": ("linear", ((2, 3, 4), (4,)), ()),
    "linear of a vector with a bias": ("linear", ((3, 4), (4,), (1,)), ("relu",)),
    "grouped_mm": ("grouped_mm", ((6, 3), (2, 3, 5)), (torch.tensor([1, 4]),)),
    "grouped_mm of columns": ("grouped_mm", ((3, 6), (6, 5)), (torch.tensor([1, 6]),)),
}


def backend_or_skip(backend):
    if backend != "inductor":
        return
    if "TESSERA_TEST_INDUCTOR" not in os.environ:
        pytest.skip("inductor compiles C++ for minutes: TESSERA_TEST_INDUCTOR=1 asks for it")
    if not any(map(shutil.which, (os.environ.get("CXX", "g++"), "clang++"))):
        pytest.skip("inductor needs a C++ compiler: g++ or clang++")


def tensors(shapes, needing):
    return [random(*shape, dtype=torch.float64, seed=i).requires_grad_(need) for i, (shape, need) in enumerate(zip(shapes, needing))]


def gradients(function, shapes, needing, more):
    x = tensors(shapes, needing)
    y = function(*x, *more)
    return [y, *torch.autograd.grad(y.square().sum(), [t for t in x if t.requires_grad])]


@pytest.mark.parametrize("dynamic", [False, True], ids=["fixed", "dynamic"])
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("name", CALLS)
def test_each_choice_of_arguments(name, backend, dynamic):
    backend_or_skip(backend)
    operator, shapes, more = CALLS[name]
    plain = getattr(ops, operator)
    for needing in itertools.product((False, True), repeat=len(shapes)):
        if not any(needing):
            continue
        torch._dynamo.reset()
        compiled = torch.compile(lambda *x: plain(*x), fullgraph=True, backend=backend, dynamic=dynamic)
        found, expected = (gradients(f, shapes, needing, more) for f in (compiled, plain))
        assert all(map(torch.allclose, found, expected)), needing


@pytest.mark.parametrize("activation", [None, "relu", "gelu"])
@pytest.mark.parametrize("bias", [False, True])
def test_functions_with_named_options(activation, bias):
    torch._dynamo.reset()
    layer = lambda x, w, b=None: tt.linear(x, w, b, activation=activation)  # noqa: E731
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager", dynamic=True)
    for rows in (3, 7):
        shapes = ((rows, 4), (5, 4), (5,))[: 3 if bias else 2]
        needing = [True] * len(shapes)
        assert all(map(torch.allclose, gradients(compiled, shapes, needing, ()), gradients(layer, shapes, needing, ())))


@pytest.mark.parametrize("name", CALLS)
def test_opcheck(name):
    operator, shapes, more = CALLS[name]
    x = tensors(shapes, [True] * len(shapes))
    torch.library.opcheck(getattr(ops, operator).default, (*x, *more))


@pytest.mark.parametrize("bias", [False, True])
def test_a_layer_compiled_within_batch_invariant(bias):
    torch._dynamo.reset()
    layer = torch.nn.Linear(3, 4, bias=bias)
    x = random(5, 3).requires_grad_()
    with tt.batch_invariant():
        found = torch.autograd.grad(torch.compile(layer, backend="aot_eager")(x).square().sum(), x)[0]
        assert torch.equal(found, torch.autograd.grad(layer(x).square().sum(), x)[0])
