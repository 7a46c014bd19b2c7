"""Families of transformers under batch_invariant(): rows alone and in batches, and which operators the models call."""

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch: pip install torch")
transformers = pytest.importorskip("transformers", reason="no transformers: pip install transformers")

import tessera.torch as tt  # noqa: E402
from tessera.torch import _invariance as lists  # noqa: E402

TOKENS = 17
SIZES = {
    "vocab_size": 101,
    "hidden_size": 60,
    "intermediate_size": 200,
    "num_hidden_layers": 2,
    "num_attention_heads": 5,
    "max_position_embeddings": 40,
    "initializer_range": 0.3,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
GPT2 = {
    "vocab_size": 101,
    "n_embd": 60,
    "n_inner": 200,
    "n_layer": 2,
    "n_head": 5,
    "n_positions": 40,
    "initializer_range": 0.3,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
T5 = {"vocab_size": 101, "d_model": 60, "d_kv": 12, "d_ff": 200, "num_layers": 2, "num_heads": 5}

#: The classes of the model and of its configuration, and what the configuration has.
FAMILIES = {
    "Llama": ("LlamaForCausalLM", "LlamaConfig", SIZES),
    "GPT-2": ("GPT2LMHeadModel", "GPT2Config", GPT2),
    "BERT": ("BertModel", "BertConfig", SIZES),
    "Qwen2": ("Qwen2ForCausalLM", "Qwen2Config", SIZES | {"num_key_value_heads": 1}),
    "Mistral": ("MistralForCausalLM", "MistralConfig", SIZES | {"num_key_value_heads": 1, "sliding_window": 8, "head_dim": 12}),
    "T5": ("T5EncoderModel", "T5Config", T5 | {"feed_forward_proj": "gated-gelu"}),
}


def model_of(family, dtype, attention="sdpa", device="cpu"):
    model, config, sizes = FAMILIES[family]
    torch.manual_seed(3)
    made = getattr(transformers, model)(getattr(transformers, config)(**sizes, attn_implementation=attention))
    return made.eval().to(device, dtype)


def logits_and_gradient(model, ids):
    """Returns the model's result, and the gradient of its input embeddings, whose weights are the same in each row."""
    x = model.get_input_embeddings()(ids).detach().requires_grad_()
    found = model(inputs_embeds=x)
    y = found.logits if hasattr(found, "logits") else found.last_hidden_state
    g = torch.linspace(-1, 1, y[0].numel(), device=y.device).view(y[0].shape).to(y.dtype)
    return y.detach(), torch.autograd.grad(y, x, g.expand_as(y))[0]


def ids_of(rows, device="cpu"):
    return torch.randint(0, 101, (rows, TOKENS), generator=torch.Generator().manual_seed(rows)).to(device)


def differing(model, batches=(2, 7, 32), device="cpu"):
    """Returns how many logits and elements of gradients differ between rows alone and in batches."""
    ids = ids_of(max(batches), device)
    alone = {i: logits_and_gradient(model, ids[i : i + 1]) for i in (0, 1, 6, 31) if i < max(batches)}
    count = 0
    for rows in batches:
        whole = logits_and_gradient(model, ids[:rows])
        for i in (i for i in alone if i < rows):
            count += sum(int((x[0] != y[i]).sum()) for x, y in zip(alone[i], whole, strict=True))
    return count


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("family", FAMILIES)
def test_rows_alone_and_in_batches(family, dtype, threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for attention in ("sdpa", "eager"):
            model = model_of(family, dtype, attention)
            with tt.batch_invariant():
                assert differing(model) == 0, attention
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_lists_have_the_models_operators(family):
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = set()
    ids = ids_of(3)

    class Seeing(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            seen.add(function._schema.name.removeprefix("aten::"))
            return function(*args, **(kwargs or {}))

    for attention in ("sdpa", "eager"):
        model = model_of(family, torch.float32, attention)
        with Seeing():
            logits_and_gradient(model, ids)
    replaced = {*lists.PRODUCTS, *lists.SUMS, *lists.ELEMENTS, *lists.GATED, *lists.SOFTMAX, *lists.ATTENTION}
    known = replaced | lists.INVARIANT
    unknown = {name for name in seen if name not in known and name.removesuffix("_") not in known}
    assert not unknown and "mm" in seen
