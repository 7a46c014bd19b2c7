"""Which of PyTorch's operators keep a row's bits under batch_invariant(), and why: the one list of them.

An operator is in one of three lists for each kind of device: replaced, found invariant, or an exception, which
warns. One that is in none was not looked at. tests/bindings/python/test_torch_invariance.py measures the lists on the processor.
"""

#: Replaced by Tessera's products on every device.
PRODUCTS = ("mm", "bmm", "addmm", "baddbmm", "mv", "addmv", "_addmm_activation")

#: Replaced on every device: sums are products with ones (_rows.py).
SUMS = ("sum", "mean")

#: Replaced on the processor: functions of each element whose kernels compute the end of a thread's share otherwise than
#: the rest (_elementwise.py). On a GPU one function computes all elements.
ELEMENTS = tuple(
    """
    exp2 expm1 log10 rsqrt reciprocal sigmoid sinh cosh asinh acosh atanh logit erfinv
    silu gelu mish softplus elu hardswish hardsigmoid
    pow addcmul addcdiv lerp atan2 hypot logaddexp logaddexp2 xlogy
    silu_backward gelu_backward mish_backward softplus_backward elu_backward hardswish_backward hardsigmoid_backward
    log_sigmoid_backward sigmoid_backward tanh_backward logit_backward
    """.split()
)
GATED = ("glu", "glu_backward")

#: Replaced on the processor: softmax along another dimension than the last one, and attention in one operator.
SOFTMAX = ("_softmax", "_log_softmax", "_softmax_backward_data", "_log_softmax_backward_data")
ATTENTION = ("_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention_for_cpu_backward")

#: Found invariant on the processor: each row or element is computed by itself, by one function.
INVARIANT = frozenset(
    """
    abs add alias all amax amin any arange argmax argmin bitwise_and bitwise_not bitwise_or cat ceil clamp clamp_min
    clamp_max clone constant_pad_nd copy_ cos cumsum detach div embedding empty empty_like eq erf exp expand fill_
    floor floor_divide full full_like gather ge gt index index_select isinf isnan le leaky_relu lift_fresh linspace
    log log1p log2 logical_and logical_not logical_or logsumexp lt masked_fill max maximum min minimum mul
    native_layer_norm native_layer_norm_backward ne neg new_empty new_empty_strided new_full new_ones new_zeros ones
    ones_like permute relu repeat roll round rsub scalar_tensor scatter select select_backward sign sin slice
    slice_backward sort split split_with_sizes sqrt squeeze stack sub t tan tanh threshold_backward topk transpose
    tril triu trunc unbind unsafe_view unsqueeze view where zeros zeros_like _fused_rms_norm _grouped_mm
    _local_scalar_dense _safe_softmax _to_copy _unsafe_view histc index_put index_put_ embedding_dense_backward
    log_sigmoid_forward unfold as_strided _reshape_alias bernoulli_ native_group_norm
    """.split()
)

_ORDER = "its sums are divided among threads by the number of results"
_RANDOM = "random numbers belong to places in the batch"
_LIBRARY = "a library chooses an algorithm by the size of the batch"

#: Exceptions, with the kinds of device and the reason that the warning gives.
EXCEPTIONS = {
    "convolution": (("cpu", "cuda"), _LIBRARY),
    "convolution_backward": (("cpu", "cuda"), _LIBRARY),
    "mkldnn_rnn_layer": (("cpu",), _LIBRARY),
    "_cudnn_rnn": (("cuda",), _LIBRARY),
    "_native_multi_head_attention": (("cpu", "cuda"), "one operator computes a layer, with functions of PyTorch's own"),
    "_transformer_encoder_layer_fwd": (("cpu", "cuda"), "one operator computes a layer, with functions of PyTorch's own"),
    "var.correction": (("cpu", "cuda"), _ORDER),
    "std.correction": (("cpu", "cuda"), _ORDER),
    "var_mean.correction": (("cpu", "cuda"), _ORDER),
    "linalg_vector_norm": (("cpu", "cuda"), _ORDER),
    "norm.ScalarOpt_dim": (("cpu", "cuda"), _ORDER),
    "prod.dim_int": (("cpu", "cuda"), _ORDER),
    "cumsum": (("cuda",), "a single row is added up by another kernel than many"),
    "cumprod": (("cuda",), "a single row is multiplied by another kernel than many"),
    "_grouped_mm": (("cuda",), "a library multiplies the groups; tessera.torch.grouped_mm keeps the bits"),
    "_scaled_dot_product_flash_attention": (("cuda",), "keys are divided among blocks by the size of the batch"),
    "_scaled_dot_product_efficient_attention": (("cuda",), "PyTorch's kernel has products of its own"),
    "_scaled_dot_product_cudnn_attention": (("cuda",), _LIBRARY),
    "native_dropout": (("cpu", "cuda"), _RANDOM),
    "bernoulli_.float": (("cpu", "cuda"), _RANDOM),
    "native_batch_norm": (("cpu", "cuda"), "statistics of a batch that is trained are the batch's"),
}

#: On a GPU, softmax of rows of more elements than this, of which some do not begin at a multiple of 16 bytes.
LONG_SOFTMAX = 1024
