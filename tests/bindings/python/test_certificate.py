"""tessera.check and tessera.testing: arrays of each kind, batches, what is found, what is refused."""

import numpy as np
import pytest

import tessera as ts
from tessera.testing import assert_product

rng = np.random.default_rng(1)


def random(*shape, dtype=np.float32):
    return rng.uniform(-1, 1, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_products_of_numpy_are_right(dtype):
    a, b = random(40, 30, dtype=dtype), random(30, 50, dtype=dtype)
    wide = a.astype(np.float32) if dtype == "float16" else a
    c = (wide @ b.astype(wide.dtype)).astype(dtype)
    answer = ts.check(a, b, c)
    assert answer and answer.verdict == "right" and str(answer).startswith("right")
    assert answer.rows == answer.rows_compared == 40 and answer.vectors == 0
    assert answer.max_over_bound <= 1 and answer.findings == []
    assert ts.check(a, b, c, rows=2, vectors=20).rows_judged == 40
    c[17, 3] += 1
    answer = ts.check(a, b, c)
    assert not answer and answer.elements_beyond == 1
    assert (answer.worst[0].row, answer.worst[0].col) == (17, 3)
    assert answer.worst[0].computed == c[17, 3] and answer.worst[0].over_bound > 1


def test_layouts_are_read_as_they_are():
    a, b = random(60, 50), random(40, 70)
    for left in (a, np.asfortranarray(a), a[:, ::2], a[::-1], a[5:20, 3:33], a.T[3:40].T):
        for right in (random(left.shape[1], 9), random(9, left.shape[1]).T):
            assert ts.check(left, right, left @ right)
            assert ts.check(left, right, np.asfortranarray(left @ right))
    assert ts.check(a[:1, :3], b[:3, :1], a[:1, :3] @ b[:3, :1])
    assert ts.check(np.zeros((0, 3), "f4"), b[:3], np.zeros((0, 70), "f4"))
    assert ts.check(memoryview(a), random(50, 2), np.zeros((60, 2), "f4")).verdict == "wrong"


def test_factors_and_epilogues():
    a, b, old = random(20, 30, dtype="f8"), random(30, 25, dtype="f8"), random(20, 25, dtype="f8")
    bias, residual = random(25, dtype="f8"), random(20, 25, dtype="f8")
    c = np.maximum(0.5 * (a @ b) - 2 * old + bias, 0) + residual
    options = dict(alpha=0.5, beta=-2, c_before=old, bias=bias, activation="relu", residual=residual)
    assert ts.check(a, b, c, **options)
    assert ts.check(a, b, c, **{**options, "bias": bias.reshape(1, 25)})
    assert [x.diagnosis for x in ts.check(a, b, c - residual, **options).findings] == ["missing_residual"]
    gelu = 0.5 * (a @ b) * (1 + np.tanh(np.sqrt(2 / np.pi) * ((a @ b) + 0.044715 * (a @ b) ** 3)))
    assert ts.check(a, b, gelu, activation="gelu")


def test_batches():
    a, b = random(5, 20, 30), random(5, 30, 10)
    c = a @ b
    assert ts.check(a, b, c).rows == 100
    assert ts.check(list(a), list(b), list(c))
    assert ts.check(a, b[0], a @ b[0])
    assert ts.check(a, b, c, rows=10, vectors=16).rows_judged == 100
    c[3, 7, 2] = np.nan
    answer = ts.check(a, b, c)
    assert (answer.worst[0].product, answer.worst[0].row, answer.worst[0].col) == (3, 7, 2)
    assert np.isnan(answer.worst[0].computed) and answer.findings[0].diagnosis == "non_finite"
    assert ts.check([random(2, 3), a[0]], [np.eye(3, dtype="f4"), b[0]], [np.zeros((2, 3), "f4"), c[0]]).rows == 22
    with pytest.raises(ts.InvalidArgument, match="b holds 4 matrices, but there are 5"):
        ts.check(a, b[:4], c)
    with pytest.raises(ts.InvalidArgument, match="c is one matrix, but there are 5"):
        ts.check(a, b, c[0])


def test_whole_numbers():
    a = rng.integers(-128, 128, (30, 200), dtype=np.int8)
    b = rng.integers(-128, 128, (200, 20), dtype=np.int8)
    c = a.astype(np.int32) @ b.astype(np.int32)
    assert ts.check(a, b, c)
    assert ts.check(a, b, c.astype(np.float32))
    c[4, 5] -= 1
    assert ts.check(a, b, c).elements_beyond == 1
    with pytest.raises(ts.InvalidArgument, match="a and b hold i8, c holds f64"):
        ts.check(a, b, c.astype(np.float64))


def test_types_of_ml_dtypes():
    types = pytest.importorskip("ml_dtypes")
    for left, right in (
        (types.bfloat16, types.bfloat16),
        (types.float8_e4m3fn, types.float8_e4m3fn),
        (types.float8_e4m3fn, types.float8_e5m2),
    ):
        a, b = random(20, 30).astype(left), random(30, 10).astype(right)
        exact = a.astype(np.float64) @ b.astype(np.float64)
        assert ts.check(a, b, exact.astype(np.float32))
        assert ts.check(a.T.copy().T, b, exact.astype(types.bfloat16))
        exact[3, 4] += 1
        assert (ts.check(a, b, exact.astype(np.float32)).worst[0].row) == 3
    with pytest.raises(ts.InvalidArgument, match="float8_e4m3b11fnuz"):
        ts.check(random(2, 2).astype(types.float8_e4m3b11fnuz), b[:2], np.zeros((2, 10), "f4"))


def test_other_libraries():
    a, b = random(20, 30), random(30, 10)
    torch = pytest.importorskip("torch")
    assert ts.check(torch.from_numpy(a), torch.from_numpy(b), torch.from_numpy(a) @ torch.from_numpy(b))
    assert ts.check(torch.from_numpy(a).bfloat16(), torch.from_numpy(b).bfloat16(),
                    (torch.from_numpy(a).bfloat16() @ torch.from_numpy(b).bfloat16()))


class OnlyDLPack:
    """An array that exports nothing but DLPack."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack():
    a, b = random(20, 30), random(10, 30).T
    assert ts.check(OnlyDLPack(a), OnlyDLPack(b), OnlyDLPack(a @ b))
    assert not ts.check(OnlyDLPack(a), OnlyDLPack(b), OnlyDLPack(a @ b + 1))


def message_of(*arguments, **options):
    with pytest.raises(AssertionError) as failure:
        assert_product(*arguments, **options)
    return str(failure.value)


def test_assertions_say_what_is_wrong():
    a, b = random(40, 40), random(40, 40)
    assert_product(a, b, a @ b)
    c = a @ b
    c[11, 12] += 1e-3
    message = message_of(a, b, c)
    for part in ("c(11, 12) = ", "exact ", "bound ", "1 compared elements are beyond", "40 of 40 rows"):
        assert part in message
    assert "transposed_b" in message_of(a, b, a @ b.T)
    assert "transposed_c" in message_of(a, b, (a @ b).T)
    assert "sums that end at k = 32 of 40" in message_of(a, b, a[:, :32] @ b[:32])
    assert "0.5 times" in message_of(a, b, (a @ b) / 2)
    assert "not_written" in message_of(a, b, np.zeros_like(a))
    old = random(40, 40)
    assert "stale" in message_of(a, b, old.copy(), c_before=old)
    rounded = lambda x: (x.view(np.uint32) & 0xFFFF0000).view(np.float32)
    assert "operands that were cut to bf16" in message_of(a, b, rounded(a) @ rounded(b))
    assert_product(a, b, rounded(a) @ rounded(b), math="bf16")
    assert "rows beyond: 11" in message_of(a, b, c + 0 * c + np.eye(40, dtype="f4")[11:12].T * 5, rows=2, vectors=16)


@pytest.mark.parametrize(
    "change, error, parts",
    [
        (dict(a=[[1.0]]), TypeError, "a must be an array.*list"),
        (dict(a=random(4, 4)), ts.InvalidArgument, "4×4.*4 ≠ 5"),
        (dict(b=random(5, 6, dtype="f8")), ts.InvalidArgument, "a holds f32, b holds f64"),
        (dict(c=random(4, 5)), ts.InvalidArgument, "c is 4×5, but the product is 4×6"),
        (dict(c=random(4, 6).astype("c8")), ts.InvalidArgument, "complex64.*real and imaginary"),
        (dict(a=random(5)), ts.InvalidArgument, "a has 1 dimensions"),
        (dict(beta=1), ts.InvalidArgument, "beta = 1.*c_before"),
        (dict(c_before=random(4, 6, dtype="f8")), ts.InvalidArgument, "c_before holds float64, c holds float32"),
        (dict(bias=random(7)), ts.InvalidArgument, "bias is 1×7.*1×6"),
        (dict(activation="rely"), ts.InvalidArgument, "rely.*relu"),
        (dict(math="strickt"), ts.InvalidArgument, "strict"),
        (dict(rows=-1), ts.InvalidArgument, "rows = -1"),
        (dict(vectors=10**30), ts.InvalidArgument, "vectors = 10+ is too large"),
        (dict(seed=1.5), TypeError, "seed must be a whole number"),
        (dict(threads=0), ts.InvalidArgument, "threads = 0"),
        (dict(alpha="1"), TypeError, "alpha must be a real number"),
    ],
)
def test_bad_arguments(change, error, parts):
    arguments = dict(a=random(4, 5), b=random(5, 6), c=random(4, 6)) | change
    with pytest.raises(error, match=parts):
        ts.check(**arguments)


def test_assertions_that_could_not_fail_fail():
    a, b = random(3, 300_000), random(300_000, 4)
    c = a @ b
    for result in (c, np.zeros_like(c)):
        answer = ts.check(a, b, result)
        assert answer.right and answer.zero_would_pass and answer.blind_products == 1
        assert "a zero C would pass" in str(answer)
        assert "could not fail" in message_of(a, b, result)
        assert_product(a, b, result, zero_may_pass=True)
    a, b = a.astype("f8"), b.astype("f8")
    assert_product(a, b, a @ b)
    assert not ts.check(a, b, a @ b).zero_would_pass
