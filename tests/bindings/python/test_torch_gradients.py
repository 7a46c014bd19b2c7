"""tessera.torch under autograd: what a recorded product keeps, and that it behaves as PyTorch's own product does."""

import itertools

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: pip install torch")

import tessera.torch as tt  # noqa: E402
from test_torch import random, way  # noqa: E402, F401

ops = torch.ops.tessera
functional = torch.nn.functional

#: The function, the same operator by PyTorch's dispatcher, PyTorch's own, and the shapes of the tensors.
PRODUCTS = {
    "mm": (tt.mm, ops.mm.default, torch.mm, ((3, 4), (4, 5))),
    "bmm": (tt.bmm, ops.bmm.default, torch.bmm, ((2, 3, 4), (2, 4, 5))),
    "addmm": (tt.addmm, ops.addmm.default, torch.addmm, ((5,), (3, 4), (4, 5))),
    "baddbmm": (tt.baddbmm, ops.baddbmm.default, torch.baddbmm, ((2, 3, 5), (2, 3, 4), (2, 4, 5))),
    "linear": (tt.linear, ops.linear.default, functional.linear, ((2, 3, 4), (5, 4), (5,))),
}


@pytest.fixture(params=["function", "operator"])
def product(request):
    """Returns a function that gives a product of tessera.torch, PyTorch's own one and the tensors' shapes."""
    return lambda name: (PRODUCTS[name][request.param == "operator"], *PRODUCTS[name][2:])


def tensors(shapes, needing, dtype=torch.float64):
    return [random(*shape, dtype=dtype, seed=i).requires_grad_(need) for i, (shape, need) in enumerate(zip(shapes, needing))]


def kept_by(result):
    return [x for x in result.grad_fn.saved_tensors if x is not None]


@pytest.mark.parametrize("name", PRODUCTS)
def test_each_choice_of_inputs_that_need_gradients(name, product, way):  # noqa: F811
    ours, theirs, shapes = product(name)
    for needing in itertools.product((False, True), repeat=len(shapes)):
        x = tensors(shapes, needing)
        result, expected = ours(*x), theirs(*x)
        assert torch.allclose(result, expected)
        assert result.requires_grad == any(needing) and (result.grad_fn is None) == (not any(needing))
        if not any(needing):
            continue
        g = random(*expected.shape, dtype=torch.float64, seed=7)
        needed = [t for t in x if t.requires_grad]
        for own, other in zip(torch.autograd.grad(result, needed, g), torch.autograd.grad(expected, needed, g), strict=True):
            assert own.shape == other.shape and torch.allclose(own, other)


def test_only_what_the_backward_pass_reads_is_kept(product):
    for name, factors in (("mm", 0), ("bmm", 0), ("addmm", 1), ("baddbmm", 1), ("linear", 0)):
        ours, _, shapes = product(name)
        for needing in ((True, False), (False, True), (True, True)):
            flags = [False] * len(shapes)
            flags[factors : factors + 2] = needing
            x = tensors(shapes, flags)
            kept = kept_by(ours(*x))
            read = [t for t, need in zip(x[factors : factors + 2], reversed(needing), strict=True) if need]
            assert [t.data_ptr() for t in kept] == [t.data_ptr() for t in read]
    ours, _, shapes = product("addmm")
    assert not kept_by(ours(*tensors(shapes, (True, False, False))))


@pytest.mark.parametrize("by_rows", [True, False])
def test_groups_keep_what_the_backward_pass_reads(by_rows):
    offsets = torch.tensor([1, 4])
    shapes = ((4, 3), (2, 3, 5)) if by_rows else ((3, 4), (4, 5))
    both = None
    for function in (tt.grouped_mm, ops.grouped_mm.default):
        for needing in ((True, True), (True, False), (False, True)):
            x = tensors(shapes, needing)
            result = function(*x, offsets)
            kept = [t.data_ptr() for t in kept_by(result)]
            assert kept == [t.data_ptr() for t, other in zip(x, reversed(x), strict=True) if other.requires_grad] + [
                offsets.data_ptr()
            ]
            needed = [t for t in x if t.requires_grad]
            found = torch.autograd.grad(result.square().sum(), needed)
            both = both or found
            assert all(torch.equal(g, f) for g, f in zip(found, itertools.compress(both, needing), strict=True))


@pytest.mark.parametrize("shape", [(4,), (0, 4), (3, 2, 1, 2, 4), (3, 4, 2, 2)])
def test_linear_of_any_number_of_dimensions(shape, product):
    ours, theirs, _ = product("linear")
    x, w, bias = tensors((shape[:-1] + (4,), (5, 4), (5,)), (True, True, True))
    strided = x.expand(2, *x.shape)[1] if shape[-1] == 4 else x.transpose(0, 1)
    result, expected = ours(strided, w, bias), theirs(strided, w, bias)
    g = random(*expected.shape, dtype=torch.float64)
    own, other = (torch.autograd.grad(y, (x, w, bias), g) for y in (result, expected))
    assert torch.allclose(result, expected) and all(map(torch.allclose, own, other))


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("needing", [(True, False, False), (False, True, False), (False, False, True), (True, True, True)])
def test_activations(activation, needing, product):
    ours, _, shapes = product("linear")
    x = tensors(shapes, needing)
    act = torch.relu if activation == "relu" else lambda y: functional.gelu(y, approximate="tanh")
    needed = [t for t in x if t.requires_grad]
    g = random(2, 3, 5, dtype=torch.float64)
    own = torch.autograd.grad(ours(*x, activation), needed, g)
    assert all(map(torch.allclose, own, torch.autograd.grad(act(functional.linear(*x)), needed, g)))


def test_options_reach_the_backward_pass(product):
    ours, theirs, shapes = product("addmm")
    x = tensors(shapes, (True, True, True))
    function = ours is tt.addmm
    for beta, alpha in ((1, 1), (2, 1), (1, 0.5), (-1.5, 2**40)):
        keywords = {"beta": beta, "alpha": alpha}
        result = ours(*x, **keywords) if function else ours(*x, beta, alpha)
        g = torch.ones_like(result)
        expected = torch.autograd.grad(theirs(*x, **keywords), x, g)
        assert all(map(torch.allclose, torch.autograd.grad(result, x, g), expected))
    a, b = tensors(((3, 2000), (2000, 4)), (True, True), torch.float32)
    multiply = (lambda m: tt.mm(a, b, math=m)) if function else (lambda m: ops.mm.default(a, b, m))
    strict, other = (torch.autograd.grad(multiply(m), b, torch.ones(3, 4))[0] for m in ("strict", "tf32"))
    assert not torch.equal(strict, other) and torch.equal(other, tt.mm(a.detach().t(), torch.ones(3, 4), math="tf32"))


@pytest.mark.parametrize("name", PRODUCTS)
def test_views_and_what_is_changed_in_place(name, product):
    """A tensor that the backward pass reads must not change; one that it does not read may."""
    for ours in product(name)[:2]:
        shapes = PRODUCTS[name][3]
        first = len(shapes) - 2 if name != "linear" else 0
        bases = tensors(shapes, [False] * len(shapes))
        x = [base.mT.contiguous().mT if base.dim() > 1 else base for base in bases]
        x[first].requires_grad_()
        loss = ours(*x).sum()
        with torch.no_grad():
            x[first].mul_(2)  # the gradient of this one does not read it
        loss.backward()
        loss = ours(*x).sum()
        x[first + 1].mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()


def test_the_result_changed_in_place(product):
    ours, theirs, shapes = product("linear")
    for y in (ours, theirs):
        x, w, bias = tensors(shapes, (True, True, True))
        changed = y(x, w, bias).mul_(3)
        g = torch.autograd.grad(changed.sum(), x)[0]
        assert torch.allclose(g, 3 * torch.autograd.grad(theirs(x, w, bias).sum(), x)[0])
    x, w, bias = tensors(shapes, (True, True, True))
    result = ours(x, w, bias, "relu")
    loss = result.sum()
    with torch.no_grad():
        result.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("name", PRODUCTS)
def test_graphs_are_kept_on_demand(name, product):
    ours, _, shapes = product(name)
    x = tensors(shapes, [True] * len(shapes))
    loss = ours(*x).sum()
    first = torch.autograd.grad(loss, x, retain_graph=True)
    assert all(map(torch.equal, first, torch.autograd.grad(loss, x)))
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(loss, x)
    doubled = torch.autograd.grad(ours(*x).square().sum(), x, create_graph=True)
    assert all(t.requires_grad for t in doubled)


def test_where_nothing_is_recorded(product):
    ours, _, shapes = product("mm")
    a, b = tensors(shapes, (True, True))
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            result = ours(a, b)
        assert not result.requires_grad and result.is_leaf
        assert result.is_inference() == (mode is torch.inference_mode)
    assert not ours(a.detach(), b.detach()).requires_grad
    with torch.no_grad(), torch.enable_grad():
        assert ours(a, b).requires_grad


def test_hooks_and_parameters(product):
    """Hooks of tensors, of nodes and of what is saved are called, and parameters accumulate gradients."""
    ours, theirs, shapes = product("linear")
    x, w, bias = tensors(shapes, (True, False, False))
    w, bias = torch.nn.Parameter(w), torch.nn.Parameter(bias)
    packed, seen = [], []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t.clone(), lambda t: t):
        result = ours(x, w, bias)
    assert len(packed) == 2
    result.register_hook(lambda g: seen.append("tensor") or 2 * g)
    result.grad_fn.register_hook(lambda inputs, outputs: seen.append("node"))
    for _ in range(2):
        result.sum().backward(retain_graph=True)
    assert seen == ["tensor", "node"] * 2
    expected = torch.autograd.grad(theirs(x, w, bias).sum(), (x, w, bias))
    assert all(torch.allclose(t.grad, 4 * g) for t, g in zip((x, w, bias), expected, strict=True))


def test_graphs_do_not_outlive_their_results(product):
    """A dropped result frees what its node holds, at once and without Python's collector."""
    ours, _, shapes = product("mm")
    a, b = tensors(shapes, (True, True))
    a = a * 1
    uses = a._use_count()
    result = ours(a, b)
    assert a._use_count() > uses
    del result
    assert a._use_count() == uses


def test_results_that_need_help_are_recorded_too(product):
    """Strides that no kernel reads, and a type of its own for the result, take the way through Python."""
    ours, theirs, _ = product("mm")
    a = random(3, 8)[:, ::2].requires_grad_()
    b = random(4, 5).requires_grad_()
    own = torch.autograd.grad(ours(a, b).sum(), (a, b))
    assert all(map(torch.allclose, own, torch.autograd.grad(theirs(a, b).sum(), (a, b))))
    half = random(3, 4, dtype=torch.bfloat16).requires_grad_()
    other = random(4, 5, dtype=torch.bfloat16)
    keywords = {"out_dtype": torch.float32} if ours is tt.mm else {}
    arguments = () if ours is tt.mm else (None, torch.float32)
    result = ours(half, other, *arguments, **keywords)
    assert result.dtype == torch.float32
    assert torch.autograd.grad(result.sum(), half)[0].dtype == torch.bfloat16


def test_functorch_wrappers_whose_level_has_ended(product):
    """A tensor that leaves torch.func.grad() is a plain one again."""
    ours, theirs, shapes = product("mm")
    a, b = tensors(shapes, (False, True))
    escaped = []
    torch.func.grad(lambda x: escaped.append(x) or (x * x).sum())(a)
    assert torch.allclose(ours(escaped[0], b), theirs(a, b))
    g = torch.autograd.grad(ours(escaped[0], b).sum(), b)[0]
    assert torch.allclose(g, torch.autograd.grad(theirs(a, b).sum(), b)[0])
