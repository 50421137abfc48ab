"""Attention: sdpa.c."""
import torch

flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu


def reference(q, k, v, dropout, causal, mask, scale):
    return flash(q, k, v, dropout, bool(causal), attn_mask=mask, scale=scale)


def exact(q, k, v, dropout, causal, mask, scale):
    """In float64, written out."""
    if k.shape[1] != q.shape[1]:
        k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    s = q @ k.transpose(2, 3) * (scale if scale is not None else q.shape[3] ** -0.5)
    if mask is not None:
        s = s + mask
    if causal:
        s = s.masked_fill(~torch.ones(s.shape[2:], dtype=torch.bool).tril(), float("-inf"))
    lse = s.logsumexp(-1)
    dead = torch.isinf(lse)
    p = torch.softmax(s, -1).masked_fill(dead.unsqueeze(-1), 0)
    return p @ v, lse.masked_fill(dead, 0)


def mask_for(t, b, h, n, s, dtype):
    m = t.rand(*t.pick([(n, s), (b, h, n, s), (b, 1, 1, s), (1, 1, n, s), (n, 1), (1, s)])).to(t.pick([dtype, torch.float32]))
    how = t.int(0, 3)
    if how == 0:
        m = torch.where(m > 0.5, float("-inf"), 0.0).to(m.dtype)
    if how == 1:
        m = m.masked_fill(t.rand(*m.shape) > 1, torch.finfo(m.dtype).min)
    if how == 2 and m.dim() == 2 and m.shape[1] > 1:
        m[0] = float("-inf")
    return t.strided(m)


def cases(t):
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
        t.group(f"flash attention {str(dtype)[6:]}")
        for _ in range(60):
            b, h, n, s, d = t.int(1, 3), t.pick([1, 2, 4, 6]), t.pick([1, 3, 17, 64, 100]), t.pick([1, 2, 9, 64, 130]), t.pick([1, 8, 16, 64, 33])
            hk = h // 2 if h % 2 == 0 and t.int(0, 3) == 0 else h
            q, k, v = (t.strided(t.rand(b, hh, x, d, dtype=dtype)) for hh, x in ((h, n), (hk, s), (hk, s)))
            if t.int(0, 2) == 0:
                q = t.rand(b, n, h, d, dtype=dtype).transpose(1, 2)
            # torch's kernel reads rows with unit stride only
            q, k, v = (x if x.stride(3) == 1 else x.contiguous() for x in (q, k, v))
            causal = t.int(0, 2) == 0
            mask = mask_for(t, b, h, n, s, dtype) if t.int(0, 1) and not causal else None
            t.check("_scaled_dot_product_flash_attention_for_cpu", q, k, v, 0.0, int(causal), mask, t.pick([None, None, 0.3]),
                    torch=reference, exact=exact)
        t.group(f"flash attention {str(dtype)[6:]}: long, large numbers")
        q, k, v = (t.rand(1, 2, 600, 64, dtype=dtype) for _ in range(3))
        for causal in (0, 1):
            t.check("_scaled_dot_product_flash_attention_for_cpu", q, k, v, 0.0, causal, None, None, torch=reference, exact=exact)
        t.check("_scaled_dot_product_flash_attention_for_cpu", q * 20, k * 20, v, 0.0, 0, None, None, torch=reference, exact=exact)
        any_stride = t.rand(2, 3, 40, 16, dtype=dtype)
        k, v = (t.strided(t.rand(2, 3, 50, 16, dtype=dtype), "permuted") for _ in range(2))
        got = t.shim.call("_scaled_dot_product_flash_attention_for_cpu", any_stride, k, v, 0.0, 0, None, None)
        want = t.shim.call("_scaled_dot_product_flash_attention_for_cpu", any_stride, k.contiguous(), v.contiguous(), 0.0, 0, None, None)
        t.same(got[0], want[0], "any strides of keys and values")
    t.group("flash attention: NaN, refusals")
    q, k, v = (t.rand(1, 2, 20, 16) for _ in range(3))
    q[0, 1, 3, 2] = float("nan")
    out = t.shim.call("_scaled_dot_product_flash_attention_for_cpu", q, k, v, 0.0, 0, None, None)[0]
    t.same(out.isnan().any(-1), torch.isnan(q).any(-1), "a NaN in a query comes out, in its row alone")
    t.check("_scaled_dot_product_flash_attention_for_cpu", q, k, v, 0.5, 0, None, None, torch=reference)
    t.check("_scaled_dot_product_flash_attention_for_cpu", q, k, t.rand(1, 2, 20, 8), 0.0, 0, None, None, torch=reference)
    t.check("_scaled_dot_product_flash_attention_for_cpu", q, k, v, 0.0, 0, t.rand(20), None, torch=reference)
