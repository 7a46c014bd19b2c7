"""tessera.torch: values, gradients, layouts and bad input of the operators, on the processor."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tessera as ts

torch = pytest.importorskip("torch", reason="no PyTorch: pip install torch")

import tessera.torch as tt  # noqa: E402
from tessera.torch import _products as products  # noqa: E402

REAL = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
COMPLEX = [torch.complex64, torch.complex128]


def random(*shape, dtype=torch.float32, seed=1):
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(seed + sum(shape)))


def same_bits(x, y):
    return x.dtype == y.dtype and x.shape == y.shape and (bytes_of(x) == bytes_of(y)).all()


def bytes_of(x):
    return torch.view_as_real(x).contiguous().view(torch.uint8) if x.is_complex() else x.contiguous().view(torch.uint8)


@pytest.fixture(params=["C functions", "tuples"])
def way(request, monkeypatch):
    """Runs a test also as with a PyTorch that has no table of C functions."""
    if request.param == "C functions":
        if not products.READS_TENSORS:
            pytest.skip(f"PyTorch {torch.__version__} has no table of C functions")
        yield
        return
    monkeypatch.setattr(torch.Tensor, "__dlpack_c_exchange_api__", None, raising=False)
    assert not products._set_up()
    yield
    monkeypatch.undo()
    assert products._set_up() == products.READS_TENSORS


@pytest.mark.parametrize("dtype", REAL + COMPLEX)
def test_bits_are_those_of_gemm(dtype, way):
    a, b = random(17, 1500, dtype=dtype), random(1500, 9, dtype=dtype)
    expected = ts.gemm(a, b, out=torch.empty(17, 9, dtype=dtype))
    assert same_bits(tt.mm(a, b), expected)
    assert same_bits(tt.bmm(a.expand(2, 17, 1500), b.expand(2, 1500, 9))[1], expected)
    assert same_bits(tt.linear(a, b.t().contiguous()), expected)
    input = random(17, 9, dtype=dtype, seed=4)
    expected = ts.gemm(a, b, out=input.clone(), alpha=0.5, beta=2)
    assert same_bits(tt.addmm(input, a, b, beta=2, alpha=0.5), expected)
    stack = tt.baddbmm(input, a.expand(3, 17, 1500), b.expand(3, 1500, 9), beta=2, alpha=0.5)
    assert same_bits(stack[2], expected)


def test_out_dtype(way):
    a, b = random(5, 40, dtype=torch.bfloat16), random(40, 6, dtype=torch.bfloat16)
    wide = tt.mm(a, b, out_dtype=torch.float32)
    assert wide.dtype == torch.float32 and torch.equal(wide, tt.mm(a.float(), b.float()))
    assert torch.equal(tt.mm(a, b), wide.bfloat16())
    assert tt.mm(a.float(), b.float(), out_dtype=torch.float16).dtype == torch.float16
    with pytest.raises(RuntimeError, match="out_dtype = torch.float64, but a is torch.bfloat16"):
        tt.mm(a, b, out_dtype=torch.float64)


@pytest.mark.parametrize("input", [(6,), (1,), (), (5, 1), (1, 6), (5, 6)])
def test_input_is_broadcast(input, way):
    a, b = random(5, 3, dtype=torch.float64), random(3, 6, dtype=torch.float64)
    c = random(*input, dtype=torch.float64)
    for beta, alpha in ((1, 1), (2, 0.5), (0, 1), (-1, 0)):
        assert torch.allclose(tt.addmm(c, a, b, beta=beta, alpha=alpha), torch.addmm(c, a, b, beta=beta, alpha=alpha))
    stack = a.expand(2, 5, 3), b.expand(2, 3, 6)
    assert torch.allclose(tt.baddbmm(c, *stack, beta=2), torch.baddbmm(c, *stack, beta=2))


def test_large_input_is_added(way):
    a, b, c = random(90, 3), random(3, 80), random(90, 80)
    assert torch.equal(tt.addmm(c, a, b, beta=2), torch.from_numpy(ts.gemm(a, b, c=c, beta=2)))
    assert torch.equal(tt.addmm(c, a, b, beta=2)[:4, :7], tt.addmm(c[:4, :7], a[:4], b[:, :7], beta=2))


def test_input_is_not_read_without_beta(way):
    nan = torch.full((2, 2), float("nan"))
    assert torch.equal(tt.addmm(nan, torch.eye(2), torch.eye(2), beta=0), torch.eye(2))


@pytest.mark.parametrize("shape", [(5, 7), (7,), (2, 3, 7), (2, 1, 3, 7), (0, 7), (2, 0, 7)])
@pytest.mark.parametrize("activation", [None, "relu", "gelu"])
def test_linear(shape, activation, way):
    x, w, bias = random(*shape, dtype=torch.float64), random(4, 7, dtype=torch.float64), random(4, dtype=torch.float64)
    apply = {
        None: lambda y: y,
        "relu": torch.relu,
        "gelu": lambda y: torch.nn.functional.gelu(y, approximate="tanh"),
    }[activation]
    for b in (bias, None):
        expected = apply(torch.nn.functional.linear(x, w, b))
        found = tt.linear(x, w, b, activation)
        assert found.shape == expected.shape and torch.allclose(found, expected)


def test_linear_reads_rows_in_any_number_of_dimensions(way):
    x, w = random(2, 3, 4, 5, 7), random(6, 7)
    wide = random(2, 3, 4, 5, 14)
    for rows in (x, x[:, :, 1:3], x.transpose(0, 2), x[:, 1, ::2], wide[..., :7], wide[..., ::2], x[:1, :1, :1, :1]):
        y = tt.linear(rows, w, activation="relu")
        assert y.shape == (*rows.shape[:-1], 6) and y.is_contiguous()
        assert torch.equal(y.reshape(-1, 6), tt.linear(rows.reshape(-1, 7), w, activation="relu"))
    many = random(*(1, 2) * 4, 7)
    assert torch.equal(tt.linear(many, w).reshape(-1, 6), tt.linear(many.reshape(-1, 7), w))


def test_grouped_mm(way):
    x, w = random(10, 6, dtype=torch.float64), random(3, 6, 4, dtype=torch.float64)
    offsets = torch.tensor([2, 2, 7], dtype=torch.int32)
    y = tt.grouped_mm(x, w, offsets)
    assert torch.equal(y[:2], tt.mm(x[:2], w[0])) and torch.equal(y[2:7], tt.mm(x[2:7], w[2]))
    assert not y[7:].any()
    by_k = tt.grouped_mm(x.t(), y, offsets)
    assert by_k.shape == (3, 6, 4) and not by_k[1].any() and torch.equal(by_k[2], tt.mm(x[2:7].t(), y[2:7]))
    assert torch.equal(tt.grouped_mm(x, w.mT.contiguous().mT, offsets), y)
    for bad in ([2, 1, 7], [2, 2, 11], [-1, 2, 3]):
        with pytest.raises(RuntimeError, match=r"offsets\[\d\] = "):
            tt.grouped_mm(x, w, torch.tensor(bad))
    with pytest.raises(RuntimeError, match="w must be a 3D tensor"):
        tt.grouped_mm(x, w[0, 0], offsets)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        tt.grouped_mm(x, w.mT, offsets)
    with pytest.raises(RuntimeError, match="offsets must be torch.int32 or torch.int64"):
        tt.grouped_mm(x, w, offsets.double())
    with pytest.raises(RuntimeError, match="3 matrices, but offsets 2 numbers"):
        tt.grouped_mm(x, w, torch.tensor([1, 2]))


def views(x):
    """The layouts that a kernel reads, each with the elements of x."""
    wide = torch.full((*x.shape[:-2], x.shape[-2] + 3, x.shape[-1] + 5), float("nan"), dtype=x.dtype, device=x.device)
    wide[..., 1:-2, 2:-3] = x
    yield x
    yield x.mT.contiguous().mT
    yield wide[..., 1:-2, 2:-3]
    yield wide.mT.contiguous().mT[..., 1:-2, 2:-3]


def test_layouts_are_read_where_they_are(way, monkeypatch):
    a, b = random(3, 7, 5), random(3, 5, 4)
    cases = [(f, list(views(x)), list(views(y))) for f, x, y in ((tt.mm, a[0], b[0]), (tt.bmm, a, b))]
    monkeypatch.setattr(torch.Tensor, "contiguous", lambda self: pytest.fail("an operand was copied"))
    for multiply, left, right in cases:
        expected = multiply(left[0], right[0])
        assert all(torch.equal(multiply(x, y), expected) for x in left for y in right)


def test_other_layouts_are_copied(way):
    a, b = random(6, 8), random(8, 4)
    spread = torch.zeros(6, 16)
    spread[:, ::2] = a
    assert torch.equal(tt.mm(spread[:, ::2], b), tt.mm(a, b))
    row = random(1, 8)
    assert torch.equal(tt.mm(row.expand(6, 8), b), tt.mm(row.repeat(6, 1), b))
    assert torch.equal(tt.mm(a, random(8, 1).expand(8, 4)), tt.mm(a, random(8, 1).repeat(1, 4)))
    ones = torch.ones(()).expand(6, 8)
    assert torch.equal(tt.mm(ones, b), tt.mm(torch.ones(6, 8), b))
    z = torch.complex(a, -a)
    assert torch.equal(tt.mm(z.conj(), torch.complex(b, b)), tt.mm(z.conj().resolve_conj(), torch.complex(b, b)))
    assert torch.equal(tt.mm(z.conj().imag, b), tt.mm(a, b))
    one = torch.complex(torch.ones(1, 1), torch.ones(1, 1)).conj().imag
    assert one.is_neg() and tt.mm(one, torch.ones(1, 1)).item() == -1


@pytest.mark.parametrize("m, k, n", [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0), (1, 1, 1)])
def test_empty(m, k, n, way):
    a, b, c = random(m, k), random(k, n), random(m, n)
    assert tt.mm(a, b).shape == (m, n) and torch.allclose(tt.mm(a, b), a @ b)
    assert torch.allclose(tt.addmm(c, a, b, beta=2), torch.addmm(c, a, b, beta=2))
    assert tt.bmm(random(0, m, k), random(0, k, n)).shape == (0, m, n)
    assert torch.allclose(tt.linear(a, b.t(), torch.ones(n)), torch.nn.functional.linear(a, b.t(), torch.ones(n)))


def test_out(way):
    a, b = random(3, 4), random(4, 5)
    for out in (torch.empty(3, 5), torch.empty(5, 3).t(), torch.empty(6, 10)[::2, ::2], torch.empty(0)):
        version = out._version
        assert tt.mm(a, b, out=out) is out and torch.equal(out, tt.mm(a, b))
        assert out._version > version
    with pytest.warns(UserWarning, match="resized"):
        tt.mm(a, b, out=torch.empty(2, 2))
    c = random(3, 5)
    expected = tt.addmm(c, a, b, beta=2)
    assert torch.equal(tt.addmm(c, a, b, beta=2, out=torch.empty(3, 5)), expected)
    assert tt.addmm(c, a, b, beta=2, out=c) is c and torch.equal(c, expected)
    out = torch.empty(2, 3, 5, dtype=torch.float32)
    assert tt.bmm(a.expand(2, 3, 4).half(), b.expand(2, 4, 5).half(), out_dtype=torch.float32, out=out) is out
    with pytest.raises(RuntimeError, match="dtype torch.float32, but got torch.float64"):
        tt.mm(a, b, out=torch.empty(3, 5, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        tt.mm(a.clone().requires_grad_(), b, out=torch.empty(3, 5))
    square = random(3, 3)
    before = square.clone()
    with pytest.raises(RuntimeError, match="shares memory with an operand"):
        tt.mm(square, square.clone(), out=square)
    assert torch.equal(square, before)
    whole = torch.zeros(20, 20)
    for part in whole, whole.T:  # by rows and by columns
        c = part[3:9, 3:11]
        with pytest.raises(RuntimeError, match=r"c overlaps a .*c is 6×8, a is 6×4"):
            tt.mm(part[:6, :4], random(4, 8), out=c)
        with pytest.raises(RuntimeError, match=r"c overlaps b .*c is 6×8, b is 4×8"):
            tt.mm(random(6, 4), part[:4, :8], out=c)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64])
def test_results_that_share_elements(dtype):
    a, b = torch.ones(3, 3, 4, dtype=dtype), torch.ones(3, 4, 2, dtype=dtype)
    c = torch.ones(3, 3, 2, dtype=dtype)
    base = torch.zeros(40, dtype=dtype)
    for strides in ((2, 2, 1), (0, 2, 1), (4, 2, 1)):
        out = base.as_strided((3, 3, 2), strides)
        with pytest.raises(RuntimeError, match="unsupported operation: more than one element of"):
            tt.bmm(a, b, out=out)
        with pytest.raises(RuntimeError, match="unsupported operation: more than one element of"):
            tt.baddbmm(c, a, b, out=out)
        assert not base.any()
    out = base.as_strided((3, 3, 2), (2, 6, 1))  # blocks of columns
    assert tt.bmm(a, b, out=out) is out and bool((out == 4).all())
    assert tt.baddbmm(c, a, b, out=out) is out and bool((out == 5).all())


def test_whether_elements_share_a_place():
    """Random strides: the answer is what a list of all places says."""
    random_numbers = np.random.default_rng(3)
    found = 0
    for _ in range(3000):
        sizes = [int(x) for x in random_numbers.integers(1, 6, random_numbers.integers(1, 4))]
        strides = [int(x) for x in random_numbers.integers(0, 25, len(sizes))]
        places = np.zeros(sizes, int)
        for axis, (size, step) in enumerate(zip(sizes, strides)):
            places += (step * np.arange(size)).reshape([-1 if i == axis else 1 for i in range(len(sizes))])
        shared = np.unique(places).size < places.size
        assert tt._products.share_a_place(sizes, strides) == shared, (sizes, strides)
        found += shared
    assert 300 < found < 2700


def test_bad_input_raises_as_pytorch_does():
    a, b = random(2, 3), random(4, 5)
    cases = [
        (lambda o: o.mm(a, b), r"2x3 and 4x5"),
        (lambda o: o.mm(a[0], b), r"matrix"),
        (lambda o: o.mm(random(1, 2, 3), random(1, 3, 2)), r"matrix"),
        (lambda o: o.bmm(a, b), r"3D"),
        (lambda o: o.bmm(random(2, 3, 4), random(3, 4, 5)), r"2.*3|3.*2"),
        (lambda o: o.mm(a, random(3, 5).double()), r"[Ff]loat.*[Dd]ouble|float32.*float64|float64.*float32"),
        (lambda o: o.addmm(random(4), a, random(3, 5)), r"5.*4|4.*5"),
        (lambda o: o.addmm(random(5).double(), a, random(3, 5)), r"[Ff]loat|float64"),
        (lambda o: o.addmm(random(1, 2, 5), a, random(3, 5)), r"dimensions"),
        (lambda o: o.mm(a, "b"), r"must be Tensor, not str"),
        (lambda o: o.mm(a, None), r"must be Tensor, not NoneType"),
    ]
    for call, text in cases:
        with pytest.raises((RuntimeError, TypeError), match=text) as ours:
            call(tt)
        with pytest.raises((RuntimeError, TypeError)) as theirs:
            call(torch)
        assert type(ours.value) in (type(theirs.value), RuntimeError), (ours.value, theirs.value)
    with pytest.raises(RuntimeError, match="a is on cpu and b is on meta"):
        tt.mm(a, random(3, 5).to("meta"))
    with pytest.raises(RuntimeError, match="complex"):
        tt.addmm(random(5), a, random(3, 5), alpha=1j)
    with pytest.raises(RuntimeError, match="bias has 4 elements, but w"):
        tt.linear(a, random(5, 3), random(4))


def test_types_and_layouts_without_products():
    ones = torch.ones(2, 2, dtype=torch.int64)
    with pytest.raises(NotImplementedError, match="'?tessera::mm\"? not implemented for torch.int64"):
        tt.mm(ones, ones)
    with pytest.raises(NotImplementedError, match="tessera::mm.*SparseCPU"):
        tt.mm(torch.eye(2).to_sparse(), torch.eye(2))
    meta = tt.addmm(torch.empty(4, device="meta"), torch.empty(2, 3, device="meta"), torch.empty(3, 4, device="meta"))
    assert meta.device.type == "meta" and meta.shape == (2, 4)
    with pytest.raises(RuntimeError, match="2x3 and 2x3"):
        tt.mm(torch.empty(2, 3, device="meta"), torch.empty(2, 3, device="meta"))


def test_modes():
    a, b = random(4, 5), random(5, 6)
    assert torch.equal(tt.mm(a, b, math="strict"), tt.mm(a, b))
    assert not torch.equal(tt.mm(random(9, 3000), random(3000, 9), math="compensated"), tt.mm(random(9, 3000), random(3000, 9)))
    with pytest.raises(ts.InvalidArgument, match="did you mean"):
        tt.mm(a, b, math="strickt")
    with pytest.raises(ts.KernelRejected):
        tt.mm(a.double(), b.double(), math="tf32")
    with pytest.raises(ts.InvalidArgument, match="unknown activation 'tanh'"):
        tt.linear(a, random(6, 5), None, "tanh")


def test_results_are_ordinary_tensors():
    y = tt.mm(random(3, 4), random(4, 5))
    assert type(y) is torch.Tensor and y.untyped_storage().resizable() and y.is_contiguous()
    parameter = torch.nn.Parameter(random(4, 5))
    assert tt.mm(random(3, 4), parameter).grad_fn is not None
    with torch.no_grad():
        assert tt.mm(random(3, 4), parameter).grad_fn is None
    with torch.inference_mode():
        assert tt.mm(random(3, 4), parameter).is_inference()


def test_results_hold_their_memory_alone(way):
    a, b = random(6, 5), random(5, 4)
    for result, expected in [(tt.mm(a, b), torch.mm(a, b)), (tt.linear(a, b.t()), torch.nn.functional.linear(a, b.t()))]:
        assert result._use_count() == expected._use_count() == 1
    with tt.batch_invariant():
        assert torch.mm(a, b)._use_count() == 1
    recorded = tt.mm(a.requires_grad_(), b)
    recorded.sum().backward()
    assert recorded._use_count() == 1


def test_rows_do_not_depend_on_the_batch():
    x, w, bias = random(65, 300), random(40, 300), random(40)
    whole = tt.linear(x, w, bias, "gelu")
    for rows in (slice(0, 1), slice(64, 65), slice(7, 20)):
        assert torch.equal(tt.linear(x[rows], w, bias, "gelu"), whole[rows])
    assert np.array_equal(whole.numpy(), ts.gemm(x, w.t(), bias=bias, activation="gelu"))


root = Path(__file__).resolve().parents[3]
blocks = [
    block
    for page in ("start.md", "pytorch.md")
    for block in re.findall(r"^```python\n(.*?)^```", (root / "docs" / page).read_text(), re.DOTALL | re.MULTILINE)
    if "import torch" in block
]


@pytest.mark.parametrize("block", blocks, ids=range(1, len(blocks) + 1))
def test_documentation(block):
    exec(compile(block, "a program of docs", "exec"), {"__name__": "__main__"})


def test_doctests():
    results = doctest.testmod(tt)
    assert results.failed == 0 and results.attempted > 0 and len(blocks) >= 5


def test_the_example():
    program = root / "apps/examples/batch_invariance.py"
    ran = subprocess.run([sys.executable, program, "--batch", "9"], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "batch_invariant(): 0 of 1000 logits differ" in ran.stdout
    assert re.search(r"aten: \d+ of 1000 logits differ", ran.stdout)
