"""tessera.torch in PyTorch's dispatcher: opcheck, gradients, torch.compile, autocast, functorch and tracing."""

import os

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: pip install torch")

import tessera.torch as tt  # noqa: E402
from test_torch import random  # noqa: E402

DOUBLE = torch.float64

#: inductor compiles C++ for most of a minute, so it takes part only where that is asked for.
BACKENDS = ["eager", "aot_eager"] + ["inductor"] * ("TESSERA_TEST_INDUCTOR" in os.environ)


def needing(*shape, dtype=DOUBLE, seed=1):
    return random(*shape, dtype=dtype, seed=seed).requires_grad_()


OFFSETS = torch.tensor([1, 4])
SAMPLES = {
    "mm": [(needing(2, 3), needing(3, 4)), (needing(2, 3, dtype=torch.complex128), random(3, 1, dtype=torch.complex128))],
    "addmm": [(needing(4), needing(2, 3), needing(3, 4), 2.0, 0.5), (needing(2, 1), random(2, 3, dtype=DOUBLE), needing(3, 4))],
    "bmm": [(needing(2, 2, 3), needing(2, 3, 4))],
    "baddbmm": [(needing(2, 1, 4), needing(2, 2, 3), needing(2, 3, 4), 0.5, 2.0)],
    "linear": [(needing(2, 2, 3), needing(4, 3), needing(4), word) for word in (None, "relu", "gelu")],
    "grouped_mm": [(needing(4, 3), needing(2, 3, 5), OFFSETS), (needing(3, 4), needing(4, 5), OFFSETS)],
}
CALLS = [(name, sample) for name, samples in SAMPLES.items() for sample in samples]


@pytest.mark.parametrize(("name", "sample"), CALLS)
def test_opcheck(name, sample):
    torch.library.opcheck(getattr(torch.ops.tessera, name).default, sample)


@pytest.mark.parametrize("name", ["mm", "linear"])
def test_opcheck_of_single_precision(name):
    sample = tuple(x.detach().float().requires_grad_() if isinstance(x, torch.Tensor) else x for x in SAMPLES[name][0])
    torch.library.opcheck(getattr(torch.ops.tessera, name).default, sample)


def call(name, sample):
    """Calls the function of tessera.torch, whose options have names."""
    function = getattr(tt, name)
    if name in ("addmm", "baddbmm") and len(sample) > 3:
        return lambda *x: function(*x[:3], beta=sample[3], alpha=sample[4])
    return function


@pytest.mark.parametrize(("name", "sample"), CALLS)
def test_gradients(name, sample):
    assert torch.autograd.gradcheck(call(name, sample), sample)
    if name != "grouped_mm" and sample[-1] != "relu":
        assert torch.autograd.gradgradcheck(call(name, sample), sample)
    assert torch.autograd.gradcheck(lambda *x: getattr(torch.ops.tessera, name)(*x), sample)


def test_gradients_are_products_of_the_contract():
    """Rows of dx do not depend on the batch, and dw has the bits of tessera's own product."""
    x, w = random(9, 3000).requires_grad_(), random(5, 3000).requires_grad_()
    g = random(9, 5, seed=3)
    tt.linear(x, w).backward(g)
    assert torch.equal(x.grad, tt.mm(g, w.detach())) and torch.equal(w.grad, tt.mm(g.t(), x.detach()))
    alone = x.detach()[4:5].clone().requires_grad_()
    tt.linear(alone, w).backward(g[4:5])
    assert torch.equal(alone.grad, x.grad[4:5])


def test_gradient_of_a_result_of_another_type():
    a, b = (random(3, 3, dtype=torch.bfloat16).requires_grad_() for _ in range(2))
    tt.mm(a, b, out_dtype=torch.float32).sum().backward()
    assert a.grad.dtype == torch.bfloat16 and torch.allclose(a.grad, (torch.ones(3, 3) @ b.detach().float().t()).bfloat16())


def model(x, w, v, bias):
    h = tt.linear(x, w, bias, "gelu")
    h = tt.addmm(bias[:4], h, v, beta=0.5)
    return tt.bmm(h.expand(2, *h.shape), h.t().expand(2, *h.t().shape)).sum(0) + tt.mm(h, h.t(), math="strict")


@pytest.mark.parametrize("backend", BACKENDS)
def test_compile(backend):
    arguments = [random(6, 8), random(7, 8), random(7, 4), random(7)]
    plain = [x.clone().requires_grad_() for x in arguments]
    compiled = [x.clone().requires_grad_() for x in arguments]
    torch._dynamo.reset()
    expected = model(*plain)
    found = torch.compile(model, fullgraph=True, backend=backend, dynamic=False)(*compiled)
    assert torch.allclose(found, expected, atol=1e-5) if backend == "inductor" else torch.equal(found, expected)
    expected.sum().backward()
    found.sum().backward()
    for x, y in zip(plain, compiled, strict=True):
        assert torch.allclose(x.grad, y.grad, atol=1e-4)


def test_compile_with_other_sizes_and_out():
    torch._dynamo.reset()
    compiled = torch.compile(lambda x, w, out: tt.mm(x, w, out=out), fullgraph=True, backend="aot_eager", dynamic=True)
    for m in (3, 5, 8):
        x, w, out = random(m, 4), random(4, 2), torch.empty(m, 2)
        assert torch.equal(compiled(x, w, out), tt.mm(x, w)) and torch.equal(out, tt.mm(x, w))
    with pytest.raises(Exception, match="3x4 and 5x2"):
        torch.compile(lambda x, w: tt.mm(x, w), fullgraph=True, backend="eager")(random(3, 4), random(5, 2))


def test_export():
    class Layer(torch.nn.Module):
        def forward(self, x, w):
            return tt.linear(x, w, None, "relu")

    program = torch.export.export(Layer(), (random(3, 4), random(5, 4)))
    assert "tessera.linear" in program.graph_module.code
    assert torch.equal(program.module()(random(3, 4), random(5, 4)), tt.linear(random(3, 4), random(5, 4), None, "relu"))


def test_fake_tensors_and_make_fx():
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    with FakeTensorMode():
        y = tt.bmm(torch.empty(2, 3, 4), torch.empty(2, 4, 5))
        assert y.shape == (2, 3, 5)
        assert tt.linear(torch.empty(2, 3, 4, dtype=torch.half), torch.empty(6, 4, dtype=torch.half)).dtype == torch.half
    graph = make_fx(lambda a, b: tt.mm(a, b))(random(2, 3), random(3, 4))
    assert "tessera.mm" in graph.code
    traced = torch.jit.trace(lambda a, b: tt.mm(a, b), (random(2, 3), random(3, 4)), check_trace=False)
    assert torch.equal(traced(random(2, 3, seed=9), random(3, 4)), tt.mm(random(2, 3, seed=9), random(3, 4)))


def test_autocast():
    x, w = random(3, 4), random(5, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = tt.linear(x, w, None, "relu")
        z = tt.mm(x, w.t())
        assert tt.mm(x.double(), w.t().double()).dtype == torch.float64
        p = w.clone().requires_grad_()
        tt.mm(x, p.t()).sum().backward()
        assert p.grad.dtype == torch.float32
        with torch.autocast("cpu", enabled=False):
            assert tt.mm(x, w.t()).dtype == torch.float32
    assert y.dtype == z.dtype == torch.bfloat16
    assert torch.equal(z, tt.mm(x.bfloat16(), w.t().bfloat16()))


@pytest.mark.skipif(not hasattr(torch.library, "register_vmap"), reason="this PyTorch has no register_vmap")
@pytest.mark.parametrize(
    ("function", "shapes", "dims"),
    [
        (tt.mm, [(3, 2, 4), (4, 5)], (0, None)),
        (tt.mm, [(2, 4), (4, 5, 3)], (None, 2)),
        (tt.mm, [(2, 3, 4), (3, 4, 5)], (1, 0)),
        (tt.bmm, [(3, 2, 2, 4), (2, 4, 5)], (0, None)),
        (tt.addmm, [(5,), (3, 2, 4), (4, 5)], (None, 0, None)),
        (tt.addmm, [(3, 2, 5), (2, 4), (4, 5)], (0, None, None)),
        (tt.baddbmm, [(2, 1, 5), (3, 2, 2, 4), (2, 4, 5)], (None, 0, None)),
        (tt.baddbmm, [(3, 5), (2, 2, 4), (3, 2, 4, 5)], (0, None, 0)),
        (tt.linear, [(3, 2, 4), (5, 4), (5,)], (0, None, None)),
        (tt.linear, [(2, 4), (3, 5, 4), (5,)], (None, 0, None)),
        (tt.linear, [(4,), (3, 5, 4)], (None, 0)),
    ],
)
def test_vmap(function, shapes, dims):
    arguments = [random(*shape) for shape in shapes]
    found = torch.vmap(function, dims)(*arguments)
    for i in range(3):
        each = [x if dim is None else x.select(dim, i) for x, dim in zip(arguments, dims, strict=True)]
        assert torch.equal(found[i], function(*each))


def test_functorch_gradients():
    x, w = random(2, 3, dtype=DOUBLE), random(3, 4, dtype=DOUBLE)
    assert torch.allclose(torch.func.grad(lambda a: tt.mm(a, w).sum())(x), torch.ones(2, 4, dtype=DOUBLE) @ w.t())
    per_sample = torch.vmap(torch.func.grad(lambda w, a: tt.linear(a, w).square().sum()), (None, 0))(w.t(), x)
    assert per_sample.shape == (2, 4, 3)
    # vmap within a gradient: the vectorised product is differentiated in its turn.
    stack = random(3, 2, 5, dtype=DOUBLE)
    found = torch.func.grad(lambda w: torch.vmap(lambda a: tt.linear(a, w).square())(stack).sum())(random(4, 5, dtype=DOUBLE))
    each = torch.func.grad(lambda w: tt.linear(stack, w).square().sum())(random(4, 5, dtype=DOUBLE))
    assert torch.allclose(found, each)
    weights = random(3, 4, 5, dtype=DOUBLE)
    found = torch.func.grad(lambda w: torch.vmap(lambda a, w: tt.linear(a, w).square())(stack, w).sum())(weights)
    assert torch.allclose(found, 2 * (stack @ weights.mT).mT @ stack)


def test_forward_mode_is_refused():
    """A tangent is never dropped in silence."""
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(random(2, 3), random(2, 3))
        with pytest.raises(RuntimeError, match="forward|jvp"):
            tt.mm(dual, random(3, 4))


def test_modes_of_python_see_the_operators():
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Dispatch(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    class Function(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    for mode in (Dispatch(), Function()):
        with mode:
            tt.mm(random(2, 3), random(3, 4))
        assert any("tessera.mm" in name for name in seen), seen
        seen.clear()
