"""Tensors without elements, with any strides: results and gradients equal the ones of PyTorch's own operators."""

import itertools

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: pip install torch")

import tessera.torch as tt  # noqa: E402
from test_torch import way  # noqa: E402, F401

functional = torch.nn.functional


def layouts(shape):
    """Tensors of ones of a shape: without gaps, transposed, expanded in all and in one dimension, and cut out."""
    yield torch.ones(shape, dtype=torch.float64)
    if len(shape) > 1:
        yield torch.ones((*shape[:-2], shape[-1], shape[-2]), dtype=torch.float64).mT
        yield torch.ones(shape[::-1], dtype=torch.float64).permute(*reversed(range(len(shape))))
        yield torch.ones(shape[1:], dtype=torch.float64).expand(shape)
    yield torch.ones((), dtype=torch.float64).expand(shape)
    yield torch.ones([2 * size + 1 for size in shape], dtype=torch.float64)[tuple(slice(1, 2 * size + 1, 2) for size in shape)]


def sizes():
    """Some sizes of a stack, rows, columns and sums of which at least one is nothing."""
    return [size for size in itertools.product((0, 2), (0, 3), (0, 1, 4), (0, 5)) if 0 in size]


def calls(s, m, n, k):
    return {
        "mm": (lambda a, b: tt.mm(a, b), lambda a, b: torch.mm(a, b), ((m, k), (k, n))),
        "bmm": (lambda a, b: tt.bmm(a, b), lambda a, b: torch.bmm(a, b), ((s, m, k), (s, k, n))),
        "addmm": (lambda a, b, c: tt.addmm(c, a, b), lambda a, b, c: torch.addmm(c, a, b), ((m, k), (k, n), (n,))),
        "baddbmm": (
            lambda a, b, c: tt.baddbmm(c, a, b, beta=2, alpha=0.5),
            lambda a, b, c: torch.baddbmm(c, a, b, beta=2, alpha=0.5),
            ((s, m, k), (s, k, n), (s, m, n)),
        ),
        "linear": (tt.linear, functional.linear, ((s, m, k), (n, k), (n,))),
        "linear of a vector": (tt.linear, functional.linear, ((s, m, k), (k,))),
    }


def outcome(function, operands):
    leaves = [x.detach().requires_grad_() for x in operands]
    y = function(*leaves)
    return [y.detach(), *torch.autograd.grad(y.sum() * 3, leaves)]


def same(found, expected):
    return all(x.shape == y.shape and torch.equal(x, y) for x, y in zip(found, expected, strict=True))


@pytest.mark.parametrize("size", sizes(), ids=str)
def test_results_and_gradients(size, way):  # noqa: F811
    for name, (ours, theirs, shapes) in calls(*size).items():
        for a, b in itertools.product(layouts(shapes[0]), layouts(shapes[1])):
            rest = [torch.ones((), dtype=torch.float64).expand(shape) for shape in shapes[2:]]
            expected = outcome(theirs, (a, b, *rest))
            assert same(outcome(ours, (a, b, *rest)), expected), (name, a.stride(), b.stride())
            with tt.batch_invariant():
                assert same(outcome(theirs, (a, b, *rest)), expected), (name, a.stride(), b.stride())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64])
def test_types_and_results_of_the_caller(dtype):
    a, b = torch.ones((), dtype=dtype).expand(0, 5, 6), torch.ones((), dtype=dtype).expand(0, 6, 7)
    assert tt.bmm(a, b).shape == (0, 5, 7) and torch.ops.tessera.bmm(a, b).dtype == dtype
    out = torch.ones((), dtype=dtype).expand(0, 5, 7)
    assert tt.bmm(a, b, out=out) is out
    assert not tt.mm(torch.ones((), dtype=dtype).expand(5, 0), torch.ones((), dtype=dtype).expand(0, 6)).any()


@pytest.mark.parametrize("by_rows", [True, False])
def test_groups(by_rows):
    for rows, groups in ((0, 0), (0, 2), (4, 2)):
        offsets = torch.full((groups,), rows)
        for inner, columns in ((0, 3), (3, 0), (0, 0), (3, 2)):
            shapes = ((rows, inner), (groups, inner, columns)) if by_rows else ((inner, rows), (rows, columns))
            for x, w in itertools.product(*map(layouts, shapes)):
                found = outcome(lambda x, w: tt.grouped_mm(x, w, offsets), (x, w))
                dense = outcome(lambda x, w: tt.grouped_mm(x, w, offsets), (x.contiguous(), w.contiguous()))
                assert same(found, dense)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled(backend, dynamic):
    for size in ((0, 3, 4, 5), (2, 0, 4, 5), (2, 3, 0, 5), (2, 3, 4, 0)):
        for name, (ours, theirs, shapes) in calls(*size).items():
            torch._dynamo.reset()
            operands = [torch.ones((), dtype=torch.float64).expand(shape) for shape in shapes]
            compiled = torch.compile(ours, fullgraph=True, backend=backend, dynamic=dynamic)
            assert same(outcome(compiled, operands), outcome(theirs, operands)), (name, size)


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("make", [
    lambda: torch.nn.MultiheadAttention(8, 2, batch_first=True),
    lambda: torch.nn.MultiheadAttention(8, 2),
])
def test_attention_of_an_empty_batch(make, need_weights):
    layer = make()
    x = torch.zeros((0, 5, 8) if layer.batch_first else (5, 0, 8), requires_grad=True)
    for grad in (True, False):
        with tt.batch_invariant(), torch.set_grad_enabled(grad):
            y = layer(x, x, x, need_weights=need_weights)[0]
            assert y.shape == x.shape
            if grad:
                assert torch.autograd.grad(y.sum(), x)[0].shape == x.shape
