"""batch_invariant() beside products: elements, sums, softmax and attention, alone and in a batch, with PyTorch's values."""

import itertools
import warnings

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: pip install torch")

import tessera.torch as tt  # noqa: E402
from tessera.torch import _elementwise as elementwise  # noqa: E402
from tessera.torch import _invariance as lists  # noqa: E402
from tessera.torch import _overrides as overrides  # noqa: E402
from test_torch import random  # noqa: E402

functional = torch.nn.functional
aten = torch.ops.aten
TYPES = [torch.float32, torch.float64, torch.bfloat16]
DEVICES = ["cpu"]


@pytest.fixture(params=[1, 2])
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


def gradient(x):
    return x * 1.25 + 0.5


def by_name(name):
    """Returns a call of an operator of elements, or None where this PyTorch has none."""
    operator = overrides.overload(name)
    if operator is None:
        return None
    special = {
        "addcmul": lambda x: aten.addcmul(x, x + 1, x - 1, value=0.3),
        "addcdiv": lambda x: aten.addcdiv(x, x + 1, x.abs() + 0.5, value=0.3),
        "elu_backward": lambda x: aten.elu_backward(gradient(x), 1.0, 1.0, 1.0, False, x),
        "softplus_backward": lambda x: aten.softplus_backward(gradient(x), x, 1, 20),
        "log_sigmoid_backward": lambda x: aten.log_sigmoid_backward(gradient(x), x, aten.log_sigmoid_forward(x)[1]),
        "logit_backward": lambda x: aten.logit_backward(gradient(x), torch.sigmoid(x)),
        "logit": lambda x: aten.logit(x / 8 + 0.5, 1e-6),
        "erfinv": lambda x: aten.erfinv(x / 8),
        "atanh": lambda x: aten.atanh(x / 8),
        "acosh": lambda x: aten.acosh(x.abs() + 1),
        "rsqrt": lambda x: aten.rsqrt(x.abs() + 0.5),
        "log10": lambda x: aten.log10(x.abs() + 0.5),
    }
    if name in special:
        return special[name]
    if name.endswith("_backward"):
        return lambda x: operator(gradient(x), x)
    if name in ("atan2", "hypot", "logaddexp", "logaddexp2"):
        return lambda x: operator(x, x + 1)
    return operator


ELEMENTS = {name: f for name in lists.ELEMENTS if (f := by_name(name)) is not None}
ELEMENTS |= {
    "gelu tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "gelu_backward tanh": lambda x: aten.gelu_backward(gradient(x), x, approximate="tanh"),
    "pow 3": lambda x: x.pow(3),
    "pow 1.7": lambda x: x.abs().pow(1.7),
    "pow tensor": lambda x: x.abs().pow(x),
    "pow scalar": lambda x: torch.pow(2.5, x),
    "lerp": lambda x: torch.lerp(x, x * x, 0.3),
    "lerp tensor": lambda x: torch.lerp(x, x * x, x),
    "xlogy": lambda x: torch.xlogy(x, x.abs() + 0.5),
    "glu": lambda x: functional.glu(torch.cat([x, x + 1], -1)),
    "glu_backward": lambda x: aten.glu_backward(gradient(x), torch.cat([x, x + 1], -1), -1),
    "silu in place": lambda x: functional.silu(x.clone(), inplace=True),
    "sigmoid out": lambda x: torch.sigmoid(x, out=torch.empty_like(x)),
}
ROWS = {
    "sum": lambda x: x.sum(-1),
    "sum of the middle": lambda x: x.sum(1),
    "mean": lambda x: x.mean(-1, keepdim=True),
    "mean of the middle": lambda x: x.mean(1),
    "mean of both": lambda x: x.mean((1, 2)),
    "softmax": lambda x: x.softmax(-1),
    "softmax of the middle": lambda x: x.softmax(1),
    "log_softmax of the middle": lambda x: x.log_softmax(1),
    "softmax backward": lambda x: aten._softmax_backward_data(gradient(x), x.softmax(1), 1, x.dtype),
    "logsumexp": lambda x: x.logsumexp(-1),
    "layer_norm": lambda x: functional.layer_norm(x, x.shape[-1:], x[0, 0] * 0 + 1.5),
    "rms_norm": lambda x: functional.rms_norm(x, x.shape[-1:], x[0, 0] * 0 + 1.5),
    "cumsum": lambda x: x.cumsum(-1),
    "logsigmoid": functional.logsigmoid,
    "exp": torch.exp,
    "tanh": torch.tanh,
    "cos": torch.cos,
}


def layouts(x):
    """Batches with the elements of x in several layouts, and a row of each as a tensor of its own."""
    wide = torch.cat([x, x], -1)
    for batch in (x, wide[..., : x.shape[-1]], x.mT.contiguous().mT):
        yield batch, lambda i, j, batch=batch: batch[i:j]
        yield batch, lambda i, j, batch=batch: batch[i:j].clone(memory_format=torch.contiguous_format)


def differing(function, x, device="cpu"):
    """Returns how many of the results of some rows differ alone and in the batch."""
    found = 0
    for batch, rows in layouts(x.to(device)):
        whole = function(batch)
        for i, j in ((0, 1), (len(x) // 2, len(x) // 2 + 1), (1, 3), (len(x) - 1, len(x))):
            part = function(rows(i, j))
            found += int((~torch.isclose(part, whole[i:j], rtol=0, atol=0, equal_nan=True)).sum())
    return found


def sizes(dtype):
    return [(8, 17, 200), (32, 1, 33), (24, 19, 131)] if dtype != torch.float64 else [(8, 17, 200), (9, 3, 31)]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("device", DEVICES)
def test_elements_and_rows_alone_and_in_a_batch(device, dtype, threads):
    wrong = {}
    with tt.batch_invariant():
        for (name, function), size in itertools.product({**ELEMENTS, **ROWS}.items(), sizes(dtype)):
            count = differing(function, random(*size, dtype=dtype), device)
            if count:
                wrong[name, size] = count
    assert not wrong


@pytest.mark.parametrize("dtype", TYPES)
def test_a_long_row_is_added_up_alone_as_in_a_batch(dtype, threads):
    x = random(5, 40001, dtype=dtype)
    with tt.batch_invariant():
        for function in (lambda x: x.sum(-1), lambda x: x.mean(-1), lambda x: x.t().contiguous().sum(0), lambda x: x.logsumexp(-1)):
            whole = function(x)
            assert all(torch.equal(function(x[i : i + 1]), whole[i : i + 1]) for i in range(5))


def test_what_the_test_finds_without_batch_invariant():
    """Else the tests above say nothing."""
    x = random(24, 17, 200)
    assert any(differing(ELEMENTS[name], x) for name in ("silu", "sigmoid", "gelu tanh"))


@pytest.mark.parametrize("dtype", TYPES)
def test_values_and_layouts_are_pytorchs(dtype):
    tolerance = {torch.float32: 1e-6, torch.float64: 1e-14, torch.bfloat16: 2e-2}[dtype]
    for name, function in {**ELEMENTS, **ROWS}.items():
        for x, _ in layouts(random(5, 6, 37, dtype=dtype)):
            expected = function(x)
            with tt.batch_invariant():
                found = function(x)
            assert found.dtype == expected.dtype and found.shape == expected.shape, name
            scale = float(expected.abs().nan_to_num(0, 0, 0).max()) + 1
            assert torch.allclose(found, expected, rtol=tolerance, atol=scale * tolerance, equal_nan=True), name
            if name in lists.ELEMENTS:
                assert found.stride() == expected.stride(), name


def test_special_numbers():
    x = torch.tensor([0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1e-40, 3e38, -3e38, 88.0, -104.0])
    for name in ("sigmoid", "silu", "gelu", "softplus", "mish", "elu"):
        line = x.repeat(64)
        expected = ELEMENTS[name](line)[:10]
        with tt.batch_invariant():
            assert torch.equal(ELEMENTS[name](x).nan_to_num(7), expected.nan_to_num(7)), name
    with tt.batch_invariant():
        assert torch.tensor([[float("inf"), 1.0], [float("inf"), -float("inf")]]).sum(1).isinf().tolist() == [True, False]
        assert torch.ones(2, 0).sum(1).tolist() == [0, 0] and torch.ones(2, 0).mean(1).isnan().all()
        assert torch.ones(3, 4, dtype=torch.int32).sum(1).tolist() == [4, 4, 4] and torch.ones(0, 4).sigmoid().shape == (0, 4)
        assert torch.ones(3, 4).half().sum(1, dtype=torch.float64).dtype == torch.float64
        with pytest.raises(IndexError):
            torch.ones(3, 4).sum(2)


@pytest.mark.parametrize("count", [1, 127, 128, 16384, 16385, 32768, 32769, 100000, 1000001])
@pytest.mark.parametrize("early", [False, True])
def test_shares_of_threads_are_whole_vectors(count, early, threads):
    length = elementwise.padded(count, early)
    assert count <= length < count + 2 * elementwise.LANES * torch.get_num_threads()
    grain = length // torch.get_num_threads() if early and length > elementwise.EARLY_GRAIN else elementwise.GRAIN
    share = -(-length // min(torch.get_num_threads(), -(-length // grain)))
    assert share % elementwise.LANES == 0


def attend(q, k, v, g, **options):
    q, k, v = (t.detach().clone().requires_grad_() for t in (q, k, v))
    y = functional.scaled_dot_product_attention(q, k, v, **options)
    return [y, *torch.autograd.grad(y, (q, k, v), g)]


MASK = torch.arange(11) > torch.arange(7).unsqueeze(1) - 2
OPTIONS = [{}, {"is_causal": True}, {"attn_mask": MASK}, {"attn_mask": MASK.float()}, {"scale": 0.3}, {"attn_mask": torch.zeros(7, 11, dtype=torch.bool)}]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("options", OPTIONS, ids=[str(i) for i in range(len(OPTIONS))])
def test_attention(dtype, options, monkeypatch):
    shapes = ((4, 3, 7, 9), (4, 3, 11, 9), (4, 3, 11, 9), (4, 3, 7, 9))
    tensors = [random(*shape, dtype=dtype, seed=i) for i, shape in enumerate(shapes)]
    options = {k: v.to(dtype) if k == "attn_mask" and v.dtype != torch.bool else v for k, v in options.items()}
    expected = attend(*tensors, **options)
    tolerance = 3e-2 if dtype == torch.bfloat16 else 1e-5
    for block in (1 << 22, 300):  # all rows at once, and some
        monkeypatch.setattr("tessera.torch._attention.BLOCK", block)
        with tt.batch_invariant():
            whole = attend(*tensors, **options)
            alone = [attend(*(t[i : i + 1] for t in tensors), **options) for i in range(4)]
        for found, wanted, *rows in zip(whole, expected, *alone, strict=True):
            assert found.shape == wanted.shape and torch.allclose(found, wanted, rtol=tolerance, atol=tolerance)
            assert torch.equal(torch.cat(rows), found)


def test_exceptions_warn_once():
    x, kernel = random(2, 3, 8), random(4, 3, 3)
    with pytest.warns(UserWarning, match="convolution is not invariant on the processor"), tt.batch_invariant():
        functional.conv1d(x, kernel)
    with warnings.catch_warnings(record=True) as seen, tt.batch_invariant():
        warnings.simplefilter("always")
        for _ in range(3):
            x.var(-1)
    assert len(seen) == 1 and "var" in str(seen[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        functional.conv1d(x, kernel), x.var(-1)


def test_lists_have_each_operator_once():
    replaced = [*lists.PRODUCTS, *lists.SUMS, *lists.ELEMENTS, *lists.GATED, *lists.SOFTMAX, *lists.ATTENTION]
    assert len(set(replaced)) == len(replaced)
    on_processor = {name.partition(".")[0] for name, (devices, _) in lists.EXCEPTIONS.items() if "cpu" in devices}
    assert not on_processor & set(replaced)


def test_inductor_is_refused():
    """A function that a backend would compile by inductor says so; it is not compiled, which takes a minute."""
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: functional.silu(x) + 1, backend="inductor")
    with tt.batch_invariant(), pytest.raises(Exception, match="inductor computes with loops of its own"):
        compiled(random(3))
    torch._dynamo.reset()
