"""Results that would be lost: in copies, in masks; and results that would be written over one another."""

import ctypes

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import tessera as ts
from conftest import Deleter, ManagedVersioned, Tensor, integers

a, b = integers(3, 4), integers(4, 2, seed=2)
product = a @ b
many = np.stack([a, 2 * a, -a])
products = many @ b


class Versioned:
    """A NumPy array as DLPack 1 exports it, with flags of choice."""

    def __init__(self, array, flags):
        self.array = array
        self.sizes = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.deleter = Deleter(lambda _: None)
        tensor = Tensor(array.ctypes.data, 1, 0, array.ndim, 2, 8 * array.itemsize, 1, self.sizes, None)
        self.managed = ManagedVersioned(1, 0, None, self.deleter, flags, tensor)

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **_):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), b"dltensor_versioned", None)


read_only, is_copied = 1, 2


@pytest.mark.parametrize("flags, words", [(is_copied, "exports a copy of its elements by DLPack"), (read_only, "read-only"), (read_only | is_copied, "read-only")])
def test_exports_of_copies(flags, words):
    out = np.full((3, 2), 7, np.float32)
    with pytest.raises(ts.InvalidArgument, match=f"out .*{words}"):
        ts.gemm(a, b, out=Versioned(out, flags))
    with pytest.raises(ts.InvalidArgument, match=f"out .*{words}"):
        ts.gemm_batch([a], [b], out=[Versioned(out, flags)])
    assert (out == 7).all()
    assert np.array_equal(ts.gemm(Versioned(a, flags), Versioned(b, flags), c=Versioned(product, flags), beta=1), 2 * product)
    assert ts.gemm(a, b, out=Versioned(out, 0)) is not None and np.array_equal(out, product)


class Copies:
    """A stack that makes a new array of each matrix that it is asked for, as an array in a file does."""

    ndim = 3

    def __init__(self, stack):
        self.stack, self.shape = stack, stack.shape

    def __len__(self):
        return len(self.stack)

    def __getitem__(self, i):
        return self.stack[i].copy()


class Views(Copies):
    def __getitem__(self, i):
        return self.stack[i]


def test_stacks_that_copy():
    out = np.full((3, 3, 2), 7, np.float32)
    with pytest.raises(ts.InvalidArgument, match="out is a .*Copies, which makes a new matrix each time"):
        ts.gemm_batch(many, b, out=Copies(out))
    assert (out == 7).all()
    assert np.array_equal(ts.gemm_batch(Copies(many), b), products)
    ts.gemm_batch(many, b, out=Views(out))
    assert np.array_equal(out, products)


@pytest.mark.parametrize("out", [[[0.0] * 2] * 3, tuple([(0.0, 0.0)] * 3), iter([]), {}, "out", object()])
def test_what_is_no_array(out):
    with pytest.raises(TypeError, match="out must be an array"):
        ts.gemm(a, b, out=out)


@pytest.mark.parametrize("out", [iter([]), {}, "out", object(), [[[0.0] * 2] * 3] * 3])
def test_what_is_no_array_in_batches(out):
    with pytest.raises((TypeError, ValueError)):
        ts.gemm_batch(many, b, out=out)


masked = np.ma.array(np.ones((3, 4), np.float32), mask=np.eye(3, 4, dtype=bool))
masked_b = np.ma.array(b, mask=False)
masked_out = np.ma.zeros((3, 2), np.float32)


class Metres(np.ndarray):
    """An array with a rule of its own for arithmetic, as arrays with units have."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        raise TypeError("metres and feet")


@pytest.mark.parametrize("strange, words", [(masked, "whose mask a product would pass over; pass its filled"), (np.ones((3, 4), np.float32).view(Metres), "__array_ufunc__")])
def test_arrays_whose_class_says_more(strange, words):
    flat = np.asarray(strange)
    calls = [
        ("a", lambda: ts.gemm(strange, b)),
        ("b", lambda: ts.gemm(b.T, strange.T)),
        ("c", lambda: ts.gemm(a[:, :3], flat[:3], c=strange, beta=1)),
        ("out", lambda: ts.gemm(a[:, :3], flat[:3], out=strange)),
        ("bias", lambda: ts.gemm(a, a.T, bias=strange[:1, :3])),
        ("residual", lambda: ts.gemm(a[:, :3], flat[:3], residual=strange)),
        ("a", lambda: ts.gemm_batch([a, strange], b)),
        ("a", lambda: ts.gemm_batch(strange[None], b)),
        ("b", lambda: ts.gemm_batch(b.T, strange.T)),
        ("out", lambda: ts.gemm_batch([a[:, :3]], [flat[:3]], out=[strange])),
        ("out", lambda: ts.gemm_batch([a[:, :3]], [flat[:3]], out=strange[None])),
        ("a", lambda: ts.compare(strange, b)),
        ("a", lambda: ts.check(strange, b, product)),
        ("c", lambda: ts.check(a[:, :3], flat[:3], strange)),
        ("a", lambda: ts.check([strange], [b], [product])),
    ]
    before = flat.copy()
    for name, call in calls:
        with pytest.raises(TypeError, match=f"^{name} is a .*{words}"):
            call()
    assert np.array_equal(flat, before)


def test_a_mask_without_masked_elements_is_a_mask():
    with pytest.raises(TypeError, match="b is a numpy.ma.MaskedArray"):
        ts.gemm(a, masked_b)
    assert np.array_equal(ts.gemm(a, masked_b.data), product)
    assert np.array_equal(ts.gemm(masked.filled(0), b), np.where(np.eye(3, 4), 0, 1).astype(np.float32) @ b)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_classes_whose_elements_are_all(tmp_path):
    class Named(np.ndarray):
        pass

    np.save(tmp_path / "a.npy", a)
    for x in (np.matrix(a), a.view(Named), np.load(tmp_path / "a.npy", mmap_mode="r"), a.view(np.recarray)):
        assert np.array_equal(ts.gemm(x, b), product)
        assert np.array_equal(ts.gemm_batch([x, x], b)[1], product)
        assert ts.check(x, b, product).right


def overlapping(kind=np.float32):
    """Results in memory that share elements, as out of gemm_batch, with the numbers of two that do."""
    base = np.zeros(100, kind)
    one, size = np.zeros((3, 2), kind), base.itemsize
    whole = np.zeros((6, 8), kind)
    return {
        "stack": (as_strided(base, (3, 3, 2), (2 * size, 2 * size, size)), 0, 1),
        "broadcast": (as_strided(base, (3, 3, 2), (0, 2 * size, size)), 0, 1),
        "backwards": (as_strided(base[20:], (3, 3, 2), (-4 * size, 2 * size, size)), 1, 2),
        "thrice": ([one, one, one], 0, 1),
        "views": ([one, one[:], one.view()], 0, 1),
        "the last": ([one, one.copy(), one], 0, 2),
        "rows": ([whole[0:3, :2], whole[3:, :2], whole[2:5, :2]], 0, 2),
        "columns": ([whole[:3, 0:2], whole[:3, 4:6], whole[:3, 5:7]], 1, 2),
        "transposed": ([whole[:3, :2], np.zeros((3, 2), kind), whole[:2, :3].T], 0, 2),
        "every other row": ([whole[::2, :2], whole[1::2, :2], whole[2:5, 1:3]], 0, 2),
    }


def apart(kind=np.float32):
    whole = np.zeros((6, 8), kind)
    cube = np.zeros((3, 3, 8), kind)
    return {
        "blocks of columns": [whole[:3, 0:2], whole[:3, 2:4], whole[:3, 4:6]],
        "blocks of columns as a stack": whole[:3, :6].reshape(3, 3, 2).swapaxes(0, 1),
        "any order": [whole[3:, 4:6], whole[:3, 0:2], whole[3:, 0:2]],
        "every third row": [whole.reshape(3, 16)[:, :2], whole.reshape(3, 16)[:, 8:10], whole.reshape(3, 16)[:, 14:16]],
        "columns and rows": [whole[:3, :2], whole[3:, 2:4], np.zeros((2, 3), kind).T],
        "backwards": cube[::-1, :, 3:5],
        "two pitches": [whole[:3, :2], whole[::2, 4:6], whole[3:, :2]],
    }


def expected(outs):
    return all(np.array_equal(np.asarray(one).astype(np.float32), right) for one, right in zip(outs, products))


@pytest.mark.parametrize("name", overlapping())
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_results_that_share_elements(name, kind):
    out, first, second = overlapping(kind)[name]
    x, y = many.astype(kind), b.astype(kind)
    for beta in (0, 1):
        for arguments in ((list(x), y), (x, [y, y, y])):
            with pytest.raises(ts.InvalidArgument, match=rf"out\[{first}\] and out\[{second}\] share elements"):
                ts.gemm_batch(*arguments, out=out, beta=beta)
    assert not any(np.asarray(one).any() for one in out)


@pytest.mark.parametrize("name", apart())
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_results_that_lie_between_one_another(name, kind):
    out = apart(kind)[name]
    assert ts.gemm_batch(many.astype(kind), b.astype(kind), out=out) is out
    assert expected(out)


def test_unlike_shapes_that_share_elements():
    whole = np.zeros((6, 8))
    x, y = np.ones((2, 3)), np.ones((3, 4))
    with pytest.raises(ts.InvalidArgument, match=r"out\[0\] and out\[2\] share"):
        ts.gemm_batch([x, x[:1], x], [y, y, y[:, :2]], out=[whole[:2, :4], whole[5:, :4], whole[1:3, 3:5]])
    assert not whole.any()
    ts.gemm_batch([x, x[:1], x], [y, y, y[:, :2]], out=[whole[:2, :4], whole[5:, :4], whole[1:3, 4:6]])
    assert whole.sum() == 3 * (8 + 4 + 4)


def test_random_rectangles():
    """The answer is what a map gives in which each element notes its writer."""
    random = np.random.default_rng(7)
    met = 0
    for _ in range(300):
        whole = np.zeros((8, 12), np.float32)
        owner = np.zeros(whole.shape, int)
        outs = []
        for _ in range(random.integers(2, 6)):
            top, left = random.integers(0, 7), random.integers(0, 11)
            rows, cols, step = random.integers(1, 4), random.integers(1, 4), random.integers(1, 3)
            place = (slice(top, top + rows * step, step), slice(left, left + cols))
            owner[place] += 1
            outs.append(whole[place])
        if random.integers(2):  # a turned one, whose lines are of the same pitch
            outs = [x.T for x in outs]
        x = [np.ones((one.shape[0], 1), np.float32) for one in outs]
        y = [np.ones((1, one.shape[1]), np.float32) for one in outs]
        if (owner > 1).any():
            met += 1
            with pytest.raises(ts.InvalidArgument, match="share elements"):
                ts.gemm_batch(x, y, out=outs)
            assert not whole.any()
        else:
            ts.gemm_batch(x, y, out=outs)
            assert np.array_equal(whole, owner)
    assert 50 < met < 290


def test_empty_results_share_nothing():
    empty = np.zeros((0, 2), np.float32)
    ts.gemm_batch([a[:0]] * 3, b, out=[empty] * 3)


def test_results_that_overlap_operands_of_other_products():
    whole = np.zeros((3, 12), np.float32)
    x, y, z = whole[:, :4], whole[:, 4:8], whole[:, 8:10]
    x[...], y[...] = a, 2 * a
    before = whole.copy()
    cases = [
        ([x, y], [b, b], [np.zeros((3, 2), np.float32), whole[:, 2:4]], r"out\[1\] overlaps a\[0\]"),
        ([a, x], [b, b], [y[:, :2], y[:, 2:]], None),
        ([a, y], [b, b], [y[:, :2], z], r"out\[0\] overlaps a\[1\]"),
        ([y, y], [b, b], [z, whole[:, 3:5]], r"out\[1\] overlaps a\[0\]"),
        ([a, a], [b, x.T[:, :2]], [whole[:3, 0:2], z], r"out\[0\] overlaps b\[1\]"),
        (x, [b, b], [z, x[:, :2]], r"out\[1\] overlaps a in memory"),
        (np.stack([a, a]), x.T[:, :2], [z, x[:, :2]], r"out\[1\] overlaps b in memory"),
        (whole[:, :8].reshape(3, 2, 4).swapaxes(0, 1), b, [z, y[:, 2:]], r"out\[1\] overlaps a\[1\]"),
        (whole[:, :8].reshape(3, 2, 4).swapaxes(0, 1), b, [z, whole[:, 10:]], None),
    ]
    for left, right, out, words in cases:
        if words is None:
            wanted = [np.array(p) @ np.array(q) for p, q in zip(left, right if isinstance(right, list) else [right] * 2)]
            ts.gemm_batch(left, right, out=out)
            assert all(np.array_equal(c, d) for c, d in zip(out, wanted))
            whole[...] = before
            continue
        with pytest.raises(ts.InvalidArgument, match=words):
            ts.gemm_batch(left, right, out=out)
        assert np.array_equal(whole, before)
