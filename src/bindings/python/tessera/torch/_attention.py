"""Attention of Tessera's products in place of PyTorch's fused kernels for the processor."""

import torch

BLOCK = 1 << 22  #: scores that are in memory at a time


def widened(x):
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def spread(x, heads):
    """Returns keys or values with as many heads as the queries have."""
    own = x.shape[1]
    return x if own == heads else x.repeat_interleave(heads // own, 1)


def gathered(g, heads):
    """The gradient of spread()."""
    return g if g.shape[1] == heads else g.unflatten(1, (heads, -1)).sum(2)


def scores(q, k, mask, is_causal, scale, rows):
    """Returns the scaled and masked products of some rows of the queries with all keys."""
    s = torch.matmul(q[:, :, rows], k.mT).mul_(scale)
    if is_causal:
        i = torch.arange(rows.start, rows.start + s.shape[-2], device=s.device)
        later = torch.arange(s.shape[-1], device=s.device) > i.unsqueeze(1)
        s.masked_fill_(later, float("-inf"))
    if mask is not None:
        part = mask if mask.shape[-2] == 1 else mask[..., rows, :]
        s = s.masked_fill_(~part, float("-inf")) if part.dtype == torch.bool else s.add_(part)
    return s


def parts(length, size):
    return [slice(i, min(i + size, length)) for i in range(0, length, size)]


def blocks(q, k, mask):
    """Returns what is computed at a time: batches, with their part of the mask, and rows of queries. How many rows does not
    depend on the batch, because gradients of keys are sums over these parts."""
    of_row = max(1, q.shape[1] * k.shape[2])
    rows = min(max(1, BLOCK // of_row), q.shape[2])
    for batch in parts(q.shape[0], max(1, BLOCK // (of_row * rows))):
        of_batch = mask[batch] if mask is not None and mask.dim() == 4 and mask.shape[0] > 1 else mask
        for some in parts(q.shape[2], rows):
            yield batch, of_batch, some


def is_taken(q, k, v, dropout_p, mask):
    tensors = [t for t in (q, k, v, mask) if t is not None]
    return (
        dropout_p == 0  # random numbers depend on the place
        and all(t.device.type == "cpu" for t in tensors)
        and q.dim() == 4
        and q.is_floating_point()
        and k.shape[1] > 0
        and q.shape[1] % k.shape[1] == 0
        and k.shape[1] == v.shape[1]
        and all(t.numel() > 0 for t in tensors)
    )


def attention(call, query, key, value, dropout_p=0.0, is_causal=False, *, attn_mask=None, scale=None):
    """_scaled_dot_product_flash_attention_for_cpu: the result, and the logarithm of each row's sum."""
    if not is_taken(query, key, value, dropout_p, attn_mask):
        return None
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    batch, heads, length, _ = query.shape
    q, k, v = widened(query), spread(widened(key), heads), spread(widened(value), heads)
    out = query.new_empty(batch, length, heads, v.shape[-1]).transpose(1, 2)
    sums = q.new_empty(batch, length, heads).transpose(1, 2)
    for batch, mask, rows in blocks(q, k, attn_mask):
        s = scores(q[batch], k[batch], mask, is_causal, scale, rows)
        of_rows = torch.logsumexp(s, -1)
        nothing = of_rows.unsqueeze(-1) == float("-inf")  # all keys are masked
        out[batch, :, rows] = torch.matmul(torch.softmax(s, -1).masked_fill_(nothing, 0), v[batch]).to(out.dtype)
        sums[batch, :, rows] = of_rows
    return out, sums


def attention_backward(call, g, query, key, value, out, sums, dropout_p, is_causal, *, attn_mask=None, scale=None):
    if not is_taken(query, key, value, dropout_p, attn_mask):
        return None
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    heads = query.shape[1]
    q, k, v = widened(query), spread(widened(key), heads), spread(widened(value), heads)
    g, out = widened(g), widened(out)
    of_q, of_k, of_v = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for batch, mask, rows in blocks(q, k, attn_mask):
        own_q, own_k, own_g, own_sums = q[batch, :, rows], k[batch], g[batch, :, rows], sums[batch, :, rows].unsqueeze(-1)
        p = torch.exp(scores(q[batch], own_k, mask, is_causal, scale, rows) - own_sums)
        p.masked_fill_(own_sums == float("-inf"), 0)
        of_row = torch.sum(own_g * out[batch, :, rows], -1, keepdim=True)
        of_scores = (torch.matmul(own_g, v[batch].mT) - of_row).mul_(p).mul_(scale)
        of_q[batch, :, rows] = torch.matmul(of_scores, own_k)
        of_k[batch] += torch.matmul(of_scores.mT, own_q)
        of_v[batch] += torch.matmul(p.mT, own_g)
    of_k, of_v = gathered(of_k, key.shape[1]), gathered(of_v, value.shape[1])
    return of_q.to(query.dtype), of_k.to(key.dtype), of_v.to(value.dtype)
