"""batch_invariant() beside products on a CUDA device, and tensors without elements. It needs a GPU."""

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: pip install torch")

import tessera.torch as tt  # noqa: E402
from test_torch import random  # noqa: E402
from test_torch_gpu import device  # noqa: E402, F401
from test_torch_invariance import ELEMENTS, ROWS, differing  # noqa: E402

pytestmark = pytest.mark.usefixtures("device")

functional = torch.nn.functional
TYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]

#: What docs/pytorch.md does not promise on a GPU.
NOT_PROMISED = {"cumsum"}


@pytest.mark.parametrize("dtype", TYPES)
def test_elements_and_rows_alone_and_in_a_batch(dtype):
    promised = {name: f for name, f in {**ELEMENTS, **ROWS}.items() if name not in NOT_PROMISED}
    wrong = {}
    with tt.batch_invariant():
        for name, function in promised.items():
            for size in ((8, 17, 200), (32, 1, 33), (24, 19, 131)):
                count = differing(function, random(*size, dtype=dtype), "cuda")
                if count:
                    wrong[name, size] = count
    assert not wrong


@pytest.mark.parametrize("dtype", TYPES)
def test_long_rows_are_added_up_alone_as_in_a_batch(dtype):
    x = random(5, 40001, dtype=dtype).cuda()
    with tt.batch_invariant():
        for function in (lambda x: x.sum(-1), lambda x: x.mean(-1), lambda x: x.t().contiguous().sum(0)):
            whole = function(x)
            assert all(torch.equal(function(x[i : i + 1]), whole[i : i + 1]) for i in range(5))
            assert torch.allclose(whole.double(), function(x.double()), rtol=2e-2, atol=1e-2)


def test_exceptions_warn():
    q = random(2, 2, 64, 64, dtype=torch.float16).cuda()
    with pytest.warns(UserWarning, match="attention"), tt.batch_invariant():
        functional.scaled_dot_product_attention(q, q, q)
    with pytest.warns(UserWarning, match="rows of 1025 elements"), tt.batch_invariant():
        torch.ones(3, 1025, device="cuda").softmax(-1)


def test_tensors_without_elements():
    one = torch.ones((), device="cuda")
    for s, m, k, n in ((0, 5, 10, 4), (2, 0, 10, 4), (2, 5, 0, 4), (2, 5, 10, 0)):
        a, b = one.expand(s, m, k).detach().requires_grad_(), one.expand(s, k, n).detach().requires_grad_()
        for function in (tt.bmm, lambda a, b: tt.baddbmm(one, a, b)):
            y = function(a, b)
            assert y.shape == (s, m, n) and [g.shape for g in torch.autograd.grad(y.sum(), (a, b))] == [a.shape, b.shape]
        with tt.batch_invariant():
            assert torch.equal(torch.bmm(a, b), torch.full((s, m, n), float(k), device="cuda"))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("family", ["Llama", "GPT-2", "BERT", "Qwen2"])
def test_families_of_transformers(family, dtype):
    pytest.importorskip("transformers", reason="no transformers: pip install transformers")
    from test_torch_transformers import differing as differing_rows
    from test_torch_transformers import model_of

    model = model_of(family, dtype, "eager", "cuda")
    with tt.batch_invariant():
        assert differing_rows(model, (2, 7, 32), "cuda") == 0
