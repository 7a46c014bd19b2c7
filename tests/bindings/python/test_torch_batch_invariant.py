"""tessera.torch.batch_invariant(): what it replaces, and that everything is as before at the end."""

import os
import threading

import numpy as np
import pytest

import tessera as ts

torch = pytest.importorskip("torch", reason="no PyTorch: pip install torch")

import tessera.torch as tt  # noqa: E402
from tessera.torch import _batch_invariant as module  # noqa: E402
from tessera.torch import _products as products  # noqa: E402
from test_torch import random  # noqa: E402

functional = torch.nn.functional
k = 1500
a, b = random(7, k), random(k, 5)


def replaced():
    return torch.equal(torch.mm(a, b), tt.mm(a, b)) and not torch.equal(torch.mm(a, b), pytorchs)


pytorchs = torch.mm(a, b)


def overridden(name="aten::mm"):
    return torch._C._dispatch_has_kernel_for_dispatch_key(name, "BackendSelect")


def left_behind(name="aten::mm"):
    """Is an override there that should be gone? With other threads alive it may stay, and then does nothing."""
    return overridden(name) and threading.active_count() == 1


def calls(a, b):
    c, v = random(5), b[:, 0].contiguous()
    stack = a.expand(3, *a.shape), b.expand(3, *b.shape)
    return {
        "mm": torch.mm(a, b),
        "@": a @ b,
        "out": torch.mm(a, b, out=torch.empty(7, 5)),
        "matmul of three dimensions": torch.matmul(stack[0], b),
        "linear": functional.linear(a, b.t()),
        "linear with a bias": functional.linear(a, b.t(), c) - c + c,
        "addmm": torch.addmm(c, a, b, beta=2, alpha=0.5),
        "addmm_": torch.zeros(7, 5).addmm_(a, b),
        "bmm": torch.bmm(*stack),
        "bmm out": torch.bmm(*stack, out=torch.empty(3, 7, 5)),
        "baddbmm": torch.baddbmm(c, *stack),
        "baddbmm_": torch.zeros(3, 7, 5).baddbmm_(*stack),
        "einsum": torch.einsum("ik,kj->ij", a, b),
        "mv": torch.mv(a, v),
        "matrix and vector": a @ v,
        "addmv": torch.addmv(torch.ones(7), a, v),
        "addmv_": torch.zeros(7).addmv_(a, v),
        "_addmm_activation": torch._addmm_activation(c, a, b),
    }


def test_products_are_tesseras():
    c, column = random(5), b[:, :1].contiguous()
    product, vector = tt.mm(a, b), tt.mm(a, column)[:, 0]
    with tt.batch_invariant():
        found = calls(a, b)
    expected = {
        "linear with a bias": tt.addmm(c, a, b) - c + c,
        "addmm": tt.addmm(c, a, b, beta=2, alpha=0.5),
        "baddbmm": tt.addmm(c, a, b).expand(3, 7, 5),
        "mv": vector,
        "matrix and vector": vector,
        "addmv": tt.addmm(torch.ones(7, 1), a, column)[:, 0],
        "addmv_": vector,
        "_addmm_activation": tt.addmm(c, a, b).relu(),
    }
    for name, result in found.items():
        wanted = expected.get(name, product)
        assert torch.equal(result, wanted.expand(result.shape)), name
    assert not torch.equal(pytorchs, product)  # the comparison says something


def test_gradients_are_tesseras():
    x, w = a.clone().requires_grad_(), b.clone().requires_grad_()
    g = random(7, 5)
    with tt.batch_invariant():
        y = x @ w
        assert "MmBackward" in str(y.grad_fn)  # PyTorch's own derivative
        y.backward(g)
    assert torch.equal(x.grad, tt.mm(g, b.t())) and torch.equal(w.grad, tt.mm(a.t(), g))


def test_everything_is_back_at_the_end():
    with tt.batch_invariant():
        assert replaced() and overridden() and overridden("aten::addmm.out")
    assert torch.equal(torch.mm(a, b), pytorchs) and not left_behind() and not left_behind("aten::addmm.out")
    with pytest.raises(ZeroDivisionError), tt.batch_invariant():
        1 / 0
    assert torch.equal(torch.mm(a, b), pytorchs) and not left_behind() and module.current() is None


def test_nested():
    with tt.batch_invariant() as outer:
        with tt.batch_invariant(math="strict"):
            assert replaced()
        assert replaced()
        with outer:
            assert replaced()
        assert replaced()
    assert torch.equal(torch.mm(a, b), pytorchs) and not left_behind()


def test_other_threads_are_not_affected():
    found, inside, done = [], threading.Event(), threading.Event()

    def other():
        inside.wait(30)
        found.append(torch.equal(torch.mm(a, b), pytorchs))
        with tt.batch_invariant():
            found.append(replaced())
        found.append(torch.equal(torch.mm(a, b), pytorchs))
        done.set()

    thread = threading.Thread(target=other)
    thread.start()
    with tt.batch_invariant():
        inside.set()
        assert done.wait(30) and replaced()
    thread.join()
    assert found == [True, True, True] and torch.equal(torch.mm(a, b), pytorchs)
    with tt.batch_invariant():
        pass
    assert not left_behind()


def test_what_is_no_product_of_tessera_stays_pytorchs():
    ones = torch.ones(2, 2, dtype=torch.int64)
    sparse = torch.eye(3).to_sparse()
    with tt.batch_invariant():
        assert torch.equal(ones @ ones, 2 * ones)
        assert torch.equal(torch.mm(sparse, torch.ones(3, 3)), torch.ones(3, 3))
        assert torch.empty(2, 3, device="meta").mm(torch.empty(3, 4, device="meta")).shape == (2, 4)
        with pytest.raises(RuntimeError, match="2x3 and 2x3"):
            torch.mm(torch.ones(2, 3), torch.ones(2, 3))
        with pytest.raises(RuntimeError, match="same dtype"):
            torch.mm(torch.ones(2, 3), torch.ones(3, 2).double())
        with pytest.raises(RuntimeError, match="size|shape"):
            torch.ones(3).addmm_(torch.ones(2, 3), torch.ones(3, 3))
        square = torch.ones(3, 3)
        if products.READS_TENSORS:  # else the product goes through memory of its own
            with pytest.raises(RuntimeError, match="memory"):
                square.addmm_(square, torch.ones(3, 3))
        with pytest.warns(UserWarning, match="resized"):
            torch.mm(torch.ones(2, 3), torch.ones(3, 2), out=torch.empty(5))
        z = torch.complex(a, a)
        assert torch.equal(z.conj() @ torch.complex(b, b), tt.mm(z.conj(), torch.complex(b, b)))
        assert torch.equal(torch.vmap(torch.mv, (None, 1))(a, b), tt.mm(a, b).t())
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert torch.equal(a @ b, tt.mm(a.bfloat16(), b.bfloat16()))


@pytest.mark.parametrize("mode", ["tf32", "fp16", "emulated_fp16x3", "scaled_fp16"])
def test_modes_of_matrix_units_on_the_processor(mode):
    with tt.batch_invariant(math=mode):
        whole, alone = a @ b, a[3:4] @ b
    assert torch.equal(alone, whole[3:4]) and torch.equal(whole, tt.mm(a, b, math=mode))
    assert not torch.equal(whole, tt.mm(a, b, math="strict"))


def test_modes_whose_rows_depend_on_the_batch_are_refused():
    with pytest.raises(ts.InvalidArgument, match="'strict' has them"):
        tt.batch_invariant(math="compensated")
    with pytest.raises(ts.InvalidArgument, match="did you mean"):
        tt.batch_invariant(math="strikt")


def test_allow_tf32_is_for_a_gpu():
    with tt.batch_invariant(allow_tf32=True):
        assert torch.equal(a @ b, tt.mm(a, b))  # strict: the processor computes the mode slowly, for tests
    with pytest.raises(ts.InvalidArgument, match="allow_tf32"):
        tt.batch_invariant(math="tf32", allow_tf32=True)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compile(backend):
    torch._dynamo.reset()
    layer = torch.nn.Sequential(torch.nn.Linear(k, 5), torch.nn.GELU(), torch.nn.Linear(5, 3))
    compiled = torch.compile(layer, fullgraph=True, backend=backend)
    plain = compiled(a)
    with tt.batch_invariant():
        invariant = compiled(a)
        assert torch.equal(invariant, layer(a))
        assert torch.equal(compiled(a.clone().requires_grad_()), invariant)
    assert torch.equal(invariant[3:4], run_alone(layer, a[3:4])) and torch.equal(compiled(a), plain)


def run_alone(layer, x):
    with tt.batch_invariant():
        return layer(x)


def test_a_model_alone_and_in_a_batch():
    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True)
    x = random(64, 10, 64)
    with tt.batch_invariant():
        batch = layer(x)
        alone = layer(x[17:18])
        assert torch.equal(alone, batch[17:18])
    layer.eval()
    with torch.inference_mode(), tt.batch_invariant():  # PyTorch then computes the layer in one operator
        assert torch.equal(layer(x)[17:18], layer(x[17:18]))


def campaign(device, dtype, count):
    """Multiplies random rows in random batches, sizes, layouts and places, and compares them with what they give alone."""
    draw = np.random.default_rng(7)
    for _ in range(count):
        m, n, k = (int(2 ** draw.uniform(0, top)) for top in (7, 8, 11))
        x, w = (random(*shape, dtype=dtype, seed=int(draw.integers(1000))).to(device) for shape in ((m, k), (n, k)))
        first = int(draw.integers(m))
        rows = slice(first, int(draw.integers(first, m)) + 1)
        case = f"m = {m}, n = {n}, k = {k}, {dtype}, rows {rows.start} to {rows.stop}"
        if draw.integers(2):
            x = x.t().contiguous().t()
        whole, part = x @ w.t(), x[rows] @ w.t()
        assert torch.equal(part, whole[rows]), case
        stack = torch.bmm(x[rows].expand(3, *part.shape[:1], k), w.t().expand(3, k, n))
        assert torch.equal(stack[1], part), case
        bias = w[:, 0].contiguous()
        assert torch.equal(functional.linear(x[rows].contiguous(), w, bias), functional.linear(x, w, bias)[rows]), case


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_campaign(dtype):
    with tt.batch_invariant():
        campaign("cpu", dtype, int(os.environ.get("TESSERA_TEST_CAMPAIGN", 20)))
