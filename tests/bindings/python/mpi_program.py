"""A program of mpi4py that test_mpi.py starts on several ranks. It ends with 0 where every check holds.

mpi_program.py arrays | residence: what is checked. Arrays with a residence stay on the stand-in for a CUDA device, or
in the host's memory where the stand-in is absent.
"""

import sys

import numpy as np
from mpi4py import MPI

import tessera as ts
import tessera.mpi as tm

comm = MPI.COMM_WORLD
types = [np.float32, np.float64, np.complex64, np.complex128, np.float16]


def same(x, y):
    return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()


def random(rng, shape, dtype):
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape)).astype(dtype) if np.dtype(dtype).kind == "c" else x.astype(dtype)


def spread(grid, whole, blocks=None, order="C"):
    x = tm.DistributedArray(grid, whole.shape, whole.dtype, blocks, order=order)
    x.local[...] = whole[np.ix_(x.rows, x.cols)] if grid.position else 0
    return x


def own(x, whole):
    return np.ascontiguousarray(whole[np.ix_(x.rows, x.cols)]) if x.grid.position else np.zeros((0, 0), x.dtype)


def products(grid, dtype):
    rng = np.random.default_rng(1)  # the same on every rank
    a, b, c = random(rng, (37, 2100), dtype), random(rng, (2100, 29), dtype), random(rng, (37, 29), dtype)
    x, y = spread(grid, a), spread(grid, b, (100, 7))
    plan = tm.plan_gemm(x, y, threads=1)
    result = tm.gemm(x, y, threads=1)
    assert plan["bytes"] == plan["host_bytes"] + plan["device_bytes"] == result.report["planned_bytes"]
    for name in ("engine", "counts_bytes", "bytes_expected"):
        assert plan[name] == result.report[name], name
    assert same(np.ascontiguousarray(result.local), own(result, ts.gemm(a, b))), "values"
    assert result.report["counts_bytes"] == (result.report["engine"] == "summa")
    assert result.report["bytes_received"] == result.report["bytes_expected"]
    direct = tm.gemm(x, y, threads=1, engine="summa", device_messages=True)
    assert same(direct.local, result.local), "panels from and into the memory of backends"
    assert direct.report["broadcasts"] == 0
    out = spread(grid, c, (5, 9), order="F")
    at, bt = spread(grid, np.ascontiguousarray(a.conj().T)), spread(grid, b.T, (3, 500), order="F")
    tm.gemm(at.H, bt.T, out=out, alpha=0.5, beta=-2, threads=1)
    expected = ts.gemm(a, b, c=c, alpha=0.5, beta=-2)
    assert same(np.ascontiguousarray(out.local), own(out, expected)), "transposes in Fortran order"
    whole = out.gather(1)
    assert (whole is None) == (comm.rank != 1)
    assert whole is None or same(whole, expected)
    again = tm.DistributedArray.scatter(grid, whole, 1, blocks=(8, 8)).redistribute((2, 3))
    assert same(np.ascontiguousarray(again.local), own(again, expected)), "copies"


def chain(grid, here, dtype, order):
    """Products of arrays that stay where they are, and what a program changes between them."""
    rng = np.random.default_rng(2)
    a, b, c = random(rng, (31, 1500), dtype), random(rng, (1500, 26), dtype), random(rng, (31, 26), dtype)
    x = tm.DistributedArray(grid, a.shape, dtype, (5, 1024), order=order, residence=here)
    assert not x.read().any(), "zeros"
    x.local[...] = own(x, a)
    y = tm.DistributedArray.scatter(grid, b if comm.rank == 1 else None, 1, residence=here)
    product = ts.gemm(a, b)
    xy = tm.gemm(x, y, threads=1)
    assert xy.residence is here
    assert same(np.ascontiguousarray(xy.read()), own(xy, product)), "product"
    xy.local *= 2
    assert same(np.ascontiguousarray(xy.read()), own(xy, 2 * product)), "changed elements"
    out = tm.DistributedArray(grid, c.shape, dtype, (4, 3), order=order, residence=here)
    out.local[...] = own(out, c)
    tm.gemm(x, y, out=out, alpha=0.5, beta=-2, threads=1)
    expected = ts.gemm(a, b, c=c, alpha=0.5, beta=-2)
    whole = out.gather(2)
    assert whole is None or same(whole, expected)
    back = tm.DistributedArray(grid, (31, 31), dtype, residence=here)
    tm.gemm(xy, xy.H, out=back, threads=1)
    doubled = np.ascontiguousarray((2 * product).conj().T)
    assert same(np.ascontiguousarray(back.read()), own(back, ts.gemm(2 * product, doubled))), "a chain"
    moved = back.redistribute((7, 6), residence=here)
    assert same(moved.read(), own(moved, ts.gemm(2 * product, doubled))), "redistributed"
    seen = out.read()
    assert not seen.flags.writeable or seen.size == 0
    del out
    assert seen.size == 0 or np.isfinite(seen).all()  # the view keeps the library's memory


def raises(kind, text, call):
    try:
        call()
    except kind as error:
        assert text in str(error), str(error)
    else:
        raise AssertionError(f"no {kind.__name__} with {text}")


def residences():
    on_device = next(x for x in ts.backends() if x.name == "cuda").device == "small device"
    assert on_device or len(sys.argv) < 3 or sys.argv[2] != "stand_in"
    here = tm.Residence("cuda", comm.rank % 2) if on_device else tm.Residence("reference")
    for number, grid in enumerate([tm.Grid(comm, 2, 1), tm.Grid(comm, 1, 3), tm.Grid(comm, 1, 1)]):
        for dtype in types[number::2]:
            chain(grid, here, dtype, "CF"[number % 2])
    grid = tm.Grid(comm, 1, 1)
    x, y = (tm.DistributedArray(grid, (20, 20), np.float32, residence=here) for _ in range(2))
    plan = tm.plan_gemm(x, x, out=y)
    if on_device:  # nothing crosses to the host, which needs no memory
        assert plan["host_bytes"] == 0 and (plan["device_bytes"] > 0) == (comm.rank == 0)

    def make(where, **more):
        return lambda: tm.DistributedArray(grid, (4, 4), np.float32, residence=where, **more)

    raises(ts.InvalidArgument, "'auto'", make(tm.Residence("auto")))
    raises(ts.InvalidArgument, "rank 1", make(tm.Residence("cudda" if comm.rank == 1 else "reference")))
    raises(ts.InvalidArgument, "device = -1", lambda: tm.Residence("cuda", -1))
    raises(ts.BackendUnavailable, "rank 2", make(tm.Residence("cuda", 9) if comm.rank == 2 else here))
    raises(ts.InvalidArgument, "residence", make(here, local=np.zeros((4, 4), np.float32)))
    raises(TypeError, "Residence, not str", make("cuda"))
    raises(ts.InvalidArgument, "overlaps", lambda: tm.gemm(x, x, out=x))


def errors(grid):
    x = tm.DistributedArray(grid, (10, 20), np.float32)
    for wrong, kind, text in [
        (lambda: tm.gemm(x, x), ts.InvalidArgument, "20"),
        (lambda: tm.gemm(x, x.T, engine="suma"), ts.InvalidArgument, "summa"),
        (lambda: tm.gemm(x, x.T, memory_limit=1 if comm.rank == 1 else 0), ts.OutOfMemory, "rank 1"),
        (lambda: tm.plan_gemm(x, x), ts.InvalidArgument, "20"),
        (lambda: tm.plan_gemm(x, x.T, engine="pblas", device_messages=True), ts.KernelRejected, "device_messages"),
        (lambda: tm.gemm(x, x.T, device_messages=comm.rank == 1), ts.InvalidArgument, "disagree on device_messages"),
        (lambda: tm.gemm(x, x.T, threads=0 if comm.rank == 1 else 1), ts.InvalidArgument, "rank 1"),
        (lambda: tm.gemm(x, x.T, alpha="x"), ts.Error, "alpha"),
        (lambda: tm.gemm(x, np.ones((20, 3))), TypeError, "ndarray"),
        (lambda: tm.gemm(x, x.T, beta=1), ts.InvalidArgument, "out"),
        (lambda: tm.Grid(comm, 7, 1), ts.InvalidArgument, "ranks"),
        (lambda: tm.Grid(0, 1, 1), TypeError, "MPI.COMM_WORLD"),
        (lambda: tm.DistributedArray(grid, (4, 4), local=np.zeros((9, 9))), ts.InvalidArgument, "(9, 9)"),
        (lambda: tm.DistributedArray(grid, (4, 4), local=np.ma.zeros((4, 4))), TypeError, "local is a numpy.ma"),
        (lambda: tm.DistributedArray.scatter(grid, np.ma.zeros((4, 4)) if comm.rank == 1 else None, 1), TypeError, "mask"),
        (lambda: tm.Grid(comm, 1.5, 1), TypeError, "rows must be a whole number, not float"),
        (lambda: tm.Grid.best(comm, 4, 4, "4"), TypeError, "k must be a whole number, not str"),
        (lambda: tm.DistributedArray(grid, (4.5, 4)), TypeError, "shape[0] must be a whole number"),
        (lambda: tm.DistributedArray(grid, (4, 4), blocks=(2.5, 2)), TypeError, "blocks must be a whole number"),
        (lambda: tm.gemm(x, x.T, memory_limit=0.5), TypeError, "memory_limit must be a whole number"),
        (lambda: tm.gemm(x, x.T, threads=1.5), ts.InvalidArgument, "threads must be an int"),
        (lambda: x.gather(0.5), TypeError, "root must be a whole number"),
    ]:
        raises(kind, text, wrong)


def arrays():
    grids = [tm.Grid(comm, 2, 1), tm.Grid(comm, 1, 1, comm.size), tm.Grid.best(comm, 100, 100, 100)]
    for number, dtype in enumerate(types):
        for grid in grids[number % 2 :: 2]:
            products(grid, dtype)
    errors(grids[0])
    one, four = np.int64(1), np.uint8(4)
    grid = tm.Grid(comm, one, np.int32(1), layers=one)
    x = tm.DistributedArray(grid, (four, four), np.float32, blocks=(four, one))
    tm.gemm(x, x.T, threads=one, memory_limit=np.int64(1 << 30))
    tm.DistributedArray.scatter(tm.Grid.best(comm, four, four, four), x.gather(one), one)
    nothing = tm.DistributedArray(grids[0], (4, 4), np.float32)
    assert tm.plan_gemm(nothing, nothing, alpha=0)["engine"] is None


{"arrays": arrays, "residence": residences}[sys.argv[1]]()
sys.stdout.write(f"rank {comm.rank} of {comm.size} is done\n")
