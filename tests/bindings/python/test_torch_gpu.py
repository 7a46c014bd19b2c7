"""tessera.torch on a CUDA device: bits, streams, CUDA graphs, gradients and batch_invariant(). It needs a GPU."""

import os

import pytest

import tessera as ts

torch = pytest.importorskip("torch", reason="no PyTorch: pip install torch")

import tessera.torch as tt  # noqa: E402
from test_torch import COMPLEX, REAL, random, same_bits, views  # noqa: E402
from test_torch_batch_invariant import campaign  # noqa: E402

pytestmark = pytest.mark.usefixtures("device")

HALVES = [torch.float16, torch.bfloat16]


@pytest.fixture
def device(cuda):
    if not torch.cuda.is_available():
        pytest.skip("PyTorch has no CUDA device")


def on_gpu(*shape, dtype=torch.float32, seed=1):
    return random(*shape, dtype=dtype, seed=seed).cuda()


@pytest.mark.parametrize("dtype", REAL + COMPLEX)
def test_strict_bits_are_those_of_the_processor(dtype):
    a, b, c = random(33, 1500, dtype=dtype), random(1500, 17, dtype=dtype), random(33, 17, dtype=dtype)
    x, y, z = a.cuda(), b.cuda(), c.cuda()
    assert same_bits(tt.mm(x, y, math="strict").cpu(), tt.mm(a, b))
    assert same_bits(tt.addmm(z, x, y, beta=2, alpha=0.5, math="strict").cpu(), tt.addmm(c, a, b, beta=2, alpha=0.5))
    assert same_bits(tt.linear(x, y.t(), math="strict").cpu(), tt.linear(a, b.t()))
    stack = tt.bmm(x.expand(3, 33, 1500), y.expand(3, 1500, 17), math="strict")
    assert same_bits(stack[2].cpu(), tt.mm(a, b))
    stack = tt.baddbmm(z, x.expand(3, 33, 1500), y.expand(3, 1500, 17), math="strict")
    assert same_bits(stack[2].cpu(), tt.addmm(c, a, b))


def test_epilogue_and_groups():
    x, w, bias = random(20, 300), random(40, 300), random(40)
    for word in (None, "relu", "gelu"):
        assert torch.equal(tt.linear(x.cuda(), w.cuda(), bias.cuda(), word).cpu(), tt.linear(x, w, bias, word))
    experts, offsets = random(3, 300, 8), torch.tensor([4, 4, 17], dtype=torch.int32)
    y = tt.grouped_mm(x, experts, offsets)
    assert torch.equal(tt.grouped_mm(x.cuda(), experts.cuda(), offsets.cuda()).cpu(), y)
    assert torch.equal(tt.grouped_mm(x.t().cuda(), y.cuda(), offsets.cuda()).cpu(), tt.grouped_mm(x.t(), y, offsets))


@pytest.mark.parametrize("dtype", HALVES)
def test_matrix_units_are_the_default_of_16_bits(dtype):
    a, b = on_gpu(64, 256, dtype=dtype), on_gpu(256, 128, dtype=dtype)
    mode = {torch.float16: "fp16", torch.bfloat16: "bf16"}[dtype]
    assert torch.equal(tt.mm(a, b), tt.mm(a, b, math=mode))
    wide = tt.mm(a, b, out_dtype=torch.float32)
    assert torch.allclose(wide, a.float() @ b.float(), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("mode", ["tf32", "bf16", "fp16", "emulated_fp16x3", "emulated_bf16x6", "scaled_fp16"])
def test_modes(mode):
    a, b = on_gpu(128, 256), on_gpu(256, 64)
    kernels = [one for one in ts.kernels("cuda") if one.math == mode and one.dtype == "float32"]
    if not kernels:
        with pytest.raises(ts.KernelRejected):
            tt.mm(a, b, math=mode)
        return
    assert torch.allclose(tt.mm(a, b, math=mode), a @ b, rtol=0.05, atol=0.5)


def test_layouts():
    a, b = on_gpu(7, 5), on_gpu(5, 4)
    expected = tt.mm(a, b)
    for x in views(a):
        for y in views(b):
            assert torch.equal(tt.mm(x, y), expected)
    for out in (torch.empty(7, 4, device="cuda"), torch.empty(4, 7, device="cuda").t(), torch.empty(14, 8, device="cuda")[::2, ::2]):
        assert tt.mm(a, b, out=out) is out and torch.equal(out, expected)
    assert torch.equal(tt.mm(on_gpu(1, 5).expand(7, 5), b), tt.mm(on_gpu(1, 5).repeat(7, 1), b))
    assert tt.mm(on_gpu(0, 5), b).shape == (0, 4) and not tt.mm(on_gpu(3, 0), on_gpu(0, 4)).any()


def test_current_stream_orders_the_product():
    """The host does not wait; the product waits for the stream, and the stream for the product."""
    stream = torch.cuda.Stream()
    ones = torch.ones(2000, 2000, device="cuda")
    tt.mm(ones, ones)
    torch.cuda.synchronize()
    for attempt in range(5):
        with torch.cuda.stream(stream):
            torch.cuda._sleep(200_000_000)  # about 100 ms
            left = ones * (attempt + 1)
            product = tt.mm(left, ones)
            assert not stream.query()
            doubled = product * 2
            del left, product  # PyTorch may use their memory again in the stream's order
            torch.zeros(2000, 2000, device="cuda")
        stream.synchronize()
        assert float(doubled[7, 9]) == 4000.0 * (attempt + 1)


def test_streams_do_not_wait_for_one_another():
    busy, free = torch.cuda.Stream(), torch.cuda.Stream()
    ones = torch.ones(256, 256, device="cuda")
    for stream in (busy, free):  # makes the queues
        with torch.cuda.stream(stream):
            tt.mm(ones, ones)
    torch.cuda.synchronize()
    with torch.cuda.stream(busy):
        torch.cuda._sleep(1_000_000_000)
        tt.mm(ones, ones)
    with torch.cuda.stream(free):
        result = tt.mm(ones, ones)
    free.synchronize()
    assert not busy.query() and float(result[0, 0]) == 256
    busy.synchronize()


@pytest.mark.parametrize(
    ("dtype", "mode"), [(torch.float32, "strict"), (torch.float64, "strict"), (torch.bfloat16, None), (torch.float16, None)]
)
@pytest.mark.parametrize("shape", [(1, 4096, 512), (64, 256, 128), (512, 2048, 512)])
def test_cuda_graphs(dtype, mode, shape):
    m, k, n = shape
    x, w, bias = on_gpu(m, k, dtype=dtype), on_gpu(n, k, dtype=dtype), on_gpu(n, dtype=dtype)

    def step():
        y = tt.linear(x, w, bias, "relu", math=mode)
        return tt.addmm(bias, y, w[:, :n].t() if k >= n else w, math=mode) if k >= n else y

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(2):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = step()
    for seed in (5, 6):
        x.copy_(on_gpu(m, k, dtype=dtype, seed=seed))
        graph.replay()
        assert torch.equal(captured, step())
    eager = tt.mm(x, w.t())  # other streams are as before
    torch.cuda.synchronize()
    assert eager.shape == (m, n)


def test_graphs_beside_other_work():
    """Two graphs and eager products run at once: none uses what another one keeps in device memory."""
    x, w = on_gpu(64, 8192), on_gpu(96, 8192)
    expected = tt.mm(x, w.t())
    torch.cuda.synchronize()
    graphs, results, streams = [], [], [torch.cuda.Stream() for _ in range(3)]
    for _ in range(2):
        graphs.append(torch.cuda.CUDAGraph())
        with torch.cuda.graph(graphs[-1]):
            results.append([tt.mm(x, w.t()) for _ in range(8)])
    for _ in range(20):
        for graph, stream in zip(graphs, streams, strict=False):
            with torch.cuda.stream(stream):
                graph.replay()
        with torch.cuda.stream(streams[2]):
            results.append([tt.mm(x, w.t()) for _ in range(8)])
    torch.cuda.synchronize()
    assert all(torch.equal(y, expected) for some in results for y in some)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_a_captured_product_of_groups_reads_the_offsets_of_each_replay(dtype):
    x, w = on_gpu(700, 96).to(dtype), on_gpu(40, 96, 72).to(dtype)
    offsets = torch.zeros(40, dtype=torch.int32, device="cuda")
    tt.grouped_mm(x, w, offsets)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = tt.grouped_mm(x, w, offsets)
    for seed in range(4):
        ends = torch.randint(0, 701, (40,), generator=torch.Generator().manual_seed(seed)).sort().values
        offsets.copy_(ends)
        graph.replay()
        begin, expected = 0, torch.zeros_like(y)
        for group, end in enumerate(ends.tolist()):
            expected[begin:end] = tt.mm(x[begin:end], w[group])
            begin = end
        assert torch.equal(y, expected)
        assert torch.equal(tt.grouped_mm(x, w, ends.cuda()), expected)


def test_offsets_that_the_host_has_to_read_cannot_be_captured():
    x, w, offsets = on_gpu(8, 4), on_gpu(2, 4, 4), torch.tensor([3, 8], device="cuda")
    for arguments in ((x, w, offsets, "emulated_fp16x3"), (x.t(), on_gpu(8, 5), offsets, None)):
        torch.cuda.synchronize()
        with pytest.raises(RuntimeError, match="CUDA graph"), torch.cuda.graph(torch.cuda.CUDAGraph()):
            tt.grouped_mm(*arguments[:3], math=arguments[3])


def test_gradients_in_autograds_threads():
    x, w = on_gpu(9, 3000).requires_grad_(), on_gpu(5, 3000).requires_grad_()
    g = on_gpu(9, 5, seed=3)
    tt.linear(x, w).backward(g)
    strict = x.grad.clone(), w.grad.clone()
    assert torch.equal(strict[0].cpu(), tt.mm(g.cpu(), w.detach().cpu()))
    x.grad = w.grad = None
    with tt.batch_invariant():
        torch.nn.functional.linear(x, w).backward(g)
    assert torch.equal(x.grad, strict[0]) and torch.equal(w.grad, strict[1])


@pytest.mark.parametrize("way", [tt, torch.ops.tessera], ids=["function", "operator"])
def test_recorded_products_have_the_bits_of_the_processor(way):
    x, w, bias, c = random(2, 3, 4, 300), random(40, 300), random(40), random(24, 40)
    calls = {
        "mm": (lambda x, w: way.mm(x.reshape(-1, 300), w.t(), math="strict")),
        "bmm": (lambda x, w: way.bmm(x[0], w.t().expand(3, 300, 40), math="strict")),
        "addmm": (lambda x, w: way.addmm(c.to(x.device), x.reshape(-1, 300), w.t(), beta=2, math="strict")),
        "linear": (lambda x, w: way.linear(x, w, bias.to(x.device), "relu", math="strict")),
    }
    for name, function in calls.items():
        found = []
        for device in ("cpu", "cuda"):
            operands = [t.to(device).requires_grad_() for t in (x, w)]
            y = function(*operands)
            found.append([y, *torch.autograd.grad(y, operands, random(*y.shape, seed=5).to(device))])
        same = [torch.equal(host, gpu.cpu()) for host, gpu in zip(*found, strict=True)]
        assert all(same[:2]) and (same[2] or name == "bmm"), name  # PyTorch sums what bmm's expanded operand gets


def test_a_graph_captures_a_recorded_product_with_its_backward_pass():
    x, w = on_gpu(6, 64), on_gpu(32, 64).requires_grad_()

    def step():
        return torch.autograd.grad(tt.linear(x, w, activation="relu").sum(), w)[0]

    expected = step()
    with torch.cuda.stream(torch.cuda.Stream()):
        step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = step()
    captured.zero_()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(captured, expected)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_compile(backend):
    torch._dynamo.reset()
    x, w, bias = on_gpu(6, 64), on_gpu(32, 64), on_gpu(32)
    compiled = torch.compile(lambda x, w, bias: tt.linear(x, w, bias, "relu") + 1, fullgraph=True, backend=backend)
    assert torch.equal(compiled(x, w, bias), tt.linear(x, w, bias, "relu") + 1)


def test_results_give_their_memory_back():
    a, b = on_gpu(512, 512), on_gpu(512, 512)
    c = torch.empty(512, 512, device="cuda")
    needing = b.clone().requires_grad_()

    def products():
        tt.mm(a, needing), torch.ops.tessera.mm(a, needing), tt.linear(a, needing, activation="relu").sum().backward()
        needing.grad = None
        tt.mm(a, b), tt.addmm(c, a, b), tt.linear(a, b), tt.bmm(a.expand(2, 512, 512), b.expand(2, 512, 512))
        with tt.batch_invariant():
            torch.mm(a, b), torch.addmm(c, a, b), torch.nn.functional.linear(a, b, b[0])

    products()
    before = torch.cuda.memory_allocated()
    for _ in range(3):
        products()
    assert torch.cuda.memory_allocated() == before


def test_errors():
    x, y = on_gpu(2, 3), on_gpu(3, 4)
    with pytest.raises(RuntimeError, match="a is on cuda:0 and b is on cpu"):
        tt.mm(x, y.cpu())
    with pytest.raises(RuntimeError, match="2x3 and 2x3"):
        tt.mm(x, x)
    with pytest.raises(NotImplementedError, match="int64"):
        tt.mm(x.long(), y.long())
    if torch.cuda.device_count() > 1:
        with pytest.raises(ValueError, match="TESSERA_CUDA_DEVICE=1"):
            tt.mm(x.to("cuda:1"), y.to("cuda:1"))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rows_do_not_depend_on_the_batch(dtype):
    w = on_gpu(512, 2048, dtype=dtype)
    x = on_gpu(8192, 2048, dtype=dtype)
    with tt.batch_invariant():
        whole = x @ w.t()
        for m in (1, 2, 7, 64, 129, 1000, 4096):
            assert torch.equal(x[:m] @ w.t(), whole[:m]), m
            assert torch.equal(x[-m:] @ w.t(), whole[-m:]), m


def test_rows_of_float32_with_the_accuracy_of_tf32():
    w, x = on_gpu(512, 2048), on_gpu(1000, 2048)
    mode = "tf32" if torch.cuda.get_device_capability()[0] == 9 else "strict"
    with tt.batch_invariant(allow_tf32=True):
        whole = x @ w.t()
        assert torch.equal(whole, tt.mm(x, w.t(), math=mode))
        for m in (1, 2, 7, 64, 129, 500):
            assert torch.equal(x[:m] @ w.t(), whole[:m]), m


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_campaign(dtype):
    with tt.batch_invariant():
        campaign("cuda", dtype, int(os.environ.get("TESSERA_TEST_CAMPAIGN", 40)))


def test_out_of_memory_is_pytorchs():
    free, _ = torch.cuda.mem_get_info()
    m = int((free * 1.2 / 4) ** 0.5)
    x = torch.zeros(1, device="cuda").expand(m, 1)
    with pytest.raises((torch.cuda.OutOfMemoryError, MemoryError)):
        tt.mm(x.contiguous(), x.contiguous().t())
    assert tt.mm(on_gpu(2, 3), on_gpu(3, 2)).shape == (2, 2)
