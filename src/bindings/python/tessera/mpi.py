"""Products of matrices that are spread over the ranks of an MPI program, on mpi4py.

>>> from mpi4py import MPI
>>> import numpy as np
>>> import tessera.mpi as tm
>>> grid = tm.Grid.best(MPI.COMM_WORLD, 300, 200, 100)
>>> a = tm.DistributedArray(grid, (300, 100), np.float32)
>>> b = tm.DistributedArray(grid, (100, 200), np.float32)
>>> a.local[...] = 1 + a.rows[:, None] % 2       # each rank fills its own rows and columns
>>> b.local[...] = b.cols
>>> c = tm.gemm(a, b)                            # all ranks call it
>>> whole = c.gather(0)                          # on rank 0, None elsewhere
>>> if whole is not None: print(whole[1, :3])
[  0. 200. 400.]

The result has the bits of tessera.gemm on one rank, on every grid and with every block size. Every function is
collective, and errors are agreed on: one rank's exception is thrown on all ranks. docs/distributed.md says which rank
holds what.
"""

import operator

import numpy as np

from . import _core
from ._errors import InvalidArgument

__all__ = ["DistributedArray", "Grid", "Residence", "gemm", "plan_gemm"]

_OPERATIONS = {"N": 0, "T": 1, "H": 2}
_MOST_BLOCK = 1024


def _mpi():
    """mpi4py's MPI, with what to do where it is missing."""
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ImportError(
            "tessera.mpi needs mpi4py and an MPI library: pip install mpi4py, and Open MPI or MPICH (Debian: "
            "libopenmpi-dev or libmpich-dev); if mpi4py is installed, it says: " + str(error)
        ) from error
    return MPI


def _whole(number, name):
    """A whole number, of any type that Python takes as an index."""
    try:
        return operator.index(number)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {type(number).__name__}") from None


class Grid:
    """rows×cols×layers ranks of a communicator: rank l·rows·cols + p·cols + q is in row p and column q of layer l.

    Further ranks hold nothing. Arrays lie on layer 0; the layers share out k. A rank that waits for another one longer
    than time_limit seconds raises DeviceError.
    """

    def __init__(self, comm, rows, cols, layers=1, time_limit=600.0):
        sizes = _whole(rows, "rows"), _whole(cols, "cols"), _whole(layers, "layers")
        self._take(comm, _core._Grid(*self._handle(comm), *sizes, time_limit))

    @classmethod
    def best(cls, comm, m, n, k, time_limit=600.0):
        """The grid of all ranks that receives the fewest elements in an m×n×k product."""
        grid = cls.__new__(cls)
        sizes = _whole(m, "m"), _whole(n, "n"), _whole(k, "k")
        grid._take(comm, _core._Grid.best(*cls._handle(comm), *sizes, time_limit))
        return grid

    @staticmethod
    def _handle(comm):
        mpi = _mpi()
        if not isinstance(comm, mpi.Comm):
            raise TypeError(f"comm must be a communicator of mpi4py, such as MPI.COMM_WORLD, not {type(comm).__name__}")
        return mpi._addressof(comm), mpi._sizeof(type(comm))

    def _take(self, comm, core):
        self.comm = comm
        self._core = core
        self.rows, self.cols, self.layers = core.shape
        self.rank = core.rank
        holds = self.rank < self.rows * self.cols
        #: This rank's process row and column on layer 0; None where the rank holds no elements.
        self.position = divmod(self.rank, self.cols) if holds else None

    def __repr__(self):
        return f"Grid(rows={self.rows}, cols={self.cols}, layers={self.layers}, rank={self.rank})"


def _indices(size, block, count, coordinate):
    """The indices of a dimension that a coordinate holds."""
    every = np.arange(size)
    return every[every // block % count == coordinate]


def _default_block(size, count):
    return min(max(-(-size // count), 1), _MOST_BLOCK)


class Residence:
    """The backend in whose memory a rank's elements stay between products, which then copy what MPI sends, and no more.

    backend: such as 'cuda'; for a backend of the host that is host memory.
    device: the backend's device, counted from 0; None: the backend's choice.

    Ranks may differ in both, but all ranks pass a Residence, or none does.
    """

    def __init__(self, backend, device=None):
        self.backend = backend
        self.device = -1 if device is None else _whole(device, "device")
        if device is not None and self.device < 0:
            raise InvalidArgument(f"device = {device} is negative; pass a device's number, or None")

    def __repr__(self):
        return f"Residence({self.backend!r}, {None if self.device < 0 else self.device})"


class _Memory:
    """This rank's elements of a matrix in the library's memory, for NumPy, which keeps them alive."""

    def __init__(self, matrix, interface):
        self.matrix = matrix
        self.__array_interface__ = interface


class DistributedArray:
    """A matrix over the ranks of a grid: block (i, j) lies on process row i mod P and process column j mod Q.

    shape: rows and columns of the whole matrix; dtype: float32, float64, complex64, complex128 or float16.
    blocks: rows and columns of a block; None: as large as gives every rank a part, at most 1024. Blocks of
        (-(-rows // P), -(-columns // Q)) give each rank one rectangle.
    local: this rank's elements as a two-dimensional array, which is used as it is; None: a new array of zeros. It has
        len(x.rows) rows and len(x.cols) columns, and the elements of a row, or with order 'F' of a column, lie side by
        side. All ranks pass the same order.
    residence: a Residence, where the elements then stay; the array is one of zeros, and local must be None.

    local, rows and cols are this rank's elements, and the rows and columns of the whole matrix that they are. Where
    there is a residence, local brings the newest elements to the host each time that it is asked for, and the copy on
    the device is then the older one; read() leaves it the newest. Ask anew after each product.
    """

    def __init__(self, grid, shape, dtype=None, blocks=None, local=None, order="C", residence=None):
        self.grid = grid
        self.shape = (_whole(shape[0], "shape[0]"), _whole(shape[1], "shape[1]"))
        if order not in ("C", "F"):
            raise InvalidArgument(f"order = {order!r} is neither 'C' nor 'F'")
        self.order = order
        counts = (grid.rows, grid.cols)
        given = blocks or (None, None)
        self.blocks = tuple(
            _default_block(size, count) if block is None else _whole(block, "blocks")
            for size, count, block in zip(self.shape, counts, given)
        )
        if min(self.blocks) < 1 or min(self.shape) < 0:
            raise InvalidArgument(f"shape = {self.shape} and blocks = {self.blocks} must be sizes")
        dims = zip(self.shape, self.blocks, counts, grid.position or (-1, -1))
        self.rows, self.cols = (_indices(*dim) for dim in dims)
        expected = (len(self.rows), len(self.cols)) if grid.position else (0, 0)
        self.report = None
        self.residence = residence
        self._matrix = None
        if residence is not None:
            self._reside(residence, np.dtype(np.float64 if dtype is None else dtype), local)
            return
        if local is None:
            local = np.zeros(expected, np.float64 if dtype is None else dtype, order)
        elif not isinstance(local, np.ndarray):
            raise TypeError(f"local must be a numpy.ndarray, not {type(local).__name__}")
        else:
            _core.expect_plain(local, "local")
        if dtype is not None and local.dtype != dtype:
            raise TypeError(f"local holds {local.dtype}, not {np.dtype(dtype)}; nothing is converted unasked")
        if local.shape != expected:
            raise InvalidArgument(f"local is {local.shape}, but this rank holds {expected} of {self.shape}")
        self._local = local
        self.dtype = local.dtype

    def _reside(self, residence, dtype, local):
        if not isinstance(residence, Residence):
            raise TypeError(f"residence must be a Residence, not {type(residence).__name__}")
        if local is not None:
            raise InvalidArgument("local is given, and residence, whose memory is the library's; pass one of them")
        self.dtype = dtype
        where = (residence.backend, residence.device)
        self._matrix = _core._Matrix(self.grid._core, dtype.name, *self.shape, *self.blocks, self.order == "F", *where)
        self.local[...] = 0

    @property
    def local(self):
        """This rank's elements, which may be changed until the next function that takes the array."""
        return self._local if self._matrix is None else self._seen(True)

    @local.setter
    def local(self, values):
        self.local[...] = values

    def read(self):
        """This rank's elements as a read-only array, until the next function that takes the array."""
        if self._matrix is not None:
            return self._seen(False)
        seen = self._local.view()
        seen.flags.writeable = False
        return seen

    def _seen(self, writes):
        """The elements in the library's memory, once they were brought to the host."""
        self._matrix.bring(writes)
        shape = (len(self.rows), len(self.cols))
        line, item = self._matrix.ld * self.dtype.itemsize, self.dtype.itemsize
        interface = {
            "version": 3,
            "shape": shape,
            "typestr": self.dtype.str,
            "strides": (line, item) if self.order == "C" else (item, line),
            "data": (self._matrix.address, not writes),
        }
        if 0 in shape:
            return np.zeros(shape, self.dtype, self.order)
        return np.asarray(_Memory(self._matrix, interface))

    @staticmethod
    def _described(whole):
        """The shape and the element type of a whole array, or the error that all ranks raise."""
        try:
            _core.expect_plain(whole, "whole")
        except TypeError as error:
            return error
        return whole.shape, whole.dtype.str

    @classmethod
    def scatter(cls, grid, whole, root=0, blocks=None, residence=None):
        """Spreads the array `whole` of the rank root; other ranks pass None."""
        root = _whole(root, "root")
        described = grid.comm.bcast(cls._described(whole) if grid.rank == root else None, root)
        if isinstance(described, TypeError):
            raise described
        shape, dtype = described
        made = cls(grid, shape, np.dtype(dtype), blocks, residence=residence)
        source = np.ascontiguousarray(whole) if grid.rank == root else np.empty((0, 0))
        address = source.ctypes.data if source.size else 0
        _core._scatter(grid._core, made.dtype.name, address, max(1, shape[1]), root, made._part(made._own()))
        return made

    def gather(self, root=0):
        """The whole matrix on the rank root, None on the others."""
        root = _whole(root, "root")
        here = self.grid.rank == root
        whole = np.empty(self.shape if here else (0, 0), self.dtype)
        local = self._readable()
        address = whole.ctypes.data if whole.size else 0
        _core._gather(self.grid._core, self.dtype.name, self._part(local), address, max(1, self.shape[1]), root)
        return whole if here else None

    def redistribute(self, blocks=None, grid=None, residence=None):
        """Returns the matrix with other blocks, or on another grid of its communicator, as a new array."""
        made = DistributedArray(grid or self.grid, self.shape, self.dtype, blocks, residence=residence)
        local = self._readable()
        source, target = self._part(local), made._part(made._own())
        _core._redistribute(self.grid._core, source, made.grid._core, target, self.dtype.name)
        return made

    @property
    def T(self):
        """The transpose, as an operand of gemm. Nothing is copied."""
        return _Operand(self, "T")

    @property
    def H(self):
        """The conjugate transpose, as an operand of gemm."""
        return _Operand(self, "H" if self.dtype.kind == "c" else "T")

    def _own(self):
        """The array that the library reads and writes; None where the memory is the library's."""
        return self._local if self._matrix is None else None

    def _fits(self):
        """Can the library read and write `local` where it is, in this order?"""
        if self._matrix is not None:
            return True
        line, step = (0, 1) if self.order == "C" else (1, 0)
        x = self._local
        if x.size == 0:
            return True
        dense = x.strides[step] == x.itemsize or x.shape[step] == 1
        wide = x.strides[line] % x.itemsize == 0 and x.strides[line] >= x.shape[step] * x.itemsize
        return dense and (wide or x.shape[line] == 1) and x.flags.aligned and x.dtype.isnative

    def _readable(self):
        return self._own() if self._fits() else np.array(self._local, self.dtype, order=self.order)

    def _part(self, local):
        if local is None:
            return self._matrix
        line, step = (0, 1) if self.order == "C" else (1, 0)
        lines = local.strides[line] // local.itemsize if local.size and local.shape[line] > 1 else 0
        ld = max(1, local.shape[step], lines)
        return (*self.shape, *self.blocks, local.ctypes.data if local.size else 0, self.order == "F", ld)

    def __repr__(self):
        held = (len(self.rows), len(self.cols)) if self.grid.position else (0, 0)
        return f"DistributedArray(shape={self.shape}, dtype={self.dtype}, blocks={self.blocks}, local={held})"


class _Operand:
    """An array, and how a product reads it."""

    def __init__(self, array, op):
        self.array = array
        self.op = op
        self.shape = array.shape if op == "N" else array.shape[::-1]


def _operand(x, name):
    if isinstance(x, _Operand):
        return x
    if isinstance(x, DistributedArray):
        return _Operand(x, "N")
    raise TypeError(f"{name} must be a DistributedArray, or its .T or .H, not {type(x).__name__}")


class _Product:
    """The checked arguments of gemm and plan_gemm."""

    def __init__(self, a, b, out, alpha, beta, choices):
        a, b = _operand(a, "a"), _operand(b, "b")
        if out is None:
            if beta != 0:
                raise InvalidArgument(f"beta = {beta} needs a matrix: pass out, whose old elements are then read")
            residence = a.array.residence or b.array.residence
            out = DistributedArray(a.array.grid, (a.shape[0], b.shape[1]), a.array.dtype, residence=residence)
        for x, name in ((a.array, "a"), (b.array, "b")):
            if x.dtype != out.dtype:
                raise TypeError(f"{name} holds {x.dtype}, out holds {out.dtype}; nothing is converted unasked")
            if x.grid is not out.grid:
                raise InvalidArgument(f"{name} and out are on two grids; redistribute one of them")
        if out._matrix is None and not out.local.flags.writeable:
            raise InvalidArgument("out.local is read-only; pass an array that may be written")
        # A complex product is computed by rows: in any order of memory it has the bits of tessera.gemm.
        by_rows = out.dtype.kind == "c" and out.order == "F"
        self.out = self.result = out
        if by_rows or not out._fits():
            order = "C" if by_rows else out.order
            self.result = DistributedArray(out.grid, out.shape, out.dtype, out.blocks, order=order)
        self._a, self._b, self._scalars, self._choices = a, b, (alpha, beta), choices

    def call(self, function):
        """What a function of the library returns for these arguments."""
        read_a, read_b = self._a.array._readable(), self._b.array._readable()
        return function(
            self.out.grid._core,
            self.out.dtype.name,
            self._scalars[0],
            self._a.array._part(read_a),
            _OPERATIONS[self._a.op],
            self._b.array._part(read_b),
            _OPERATIONS[self._b.op],
            self._scalars[1],
            self.result._part(self.result._own()),
            self._choices,
        )


def gemm(
    a, b, *, out=None, alpha=1, beta=0, backend="auto", engine=None, threads=None, memory_limit=0, device_messages=False
):
    """C := alpha·a·b + beta·C over the ranks, as a new array, or into out.

    a, b: DistributedArrays on one grid and of one dtype, or their .T or .H.
    out: the DistributedArray for the result, which is returned; its old elements are C. None: a new one, which stays
        where a does, or else b.
    backend, threads: of this rank's local products; ranks may differ. 'auto' multiplies where out stays, or else a or
        b.
    engine: 'summa' or 'pblas'; None: the first one that takes the product. docs/distributed.md describes them.
    memory_limit: most bytes that the product may allocate on this rank; 0: no limit.
    device_messages: whether MPI sends panels from and into the memory of the ranks' backends; BackendUnavailable on
        every rank if it cannot.

    out.report says what this rank received and how long it waited.
    """
    product = _Product(a, b, out, alpha, beta, (backend, engine, threads, _whole(memory_limit, "memory_limit"), bool(device_messages)))
    out, result = product.out, product.result
    if result is not out:
        result.local[...] = out.local
    report = product.call(_core._pgemm)
    if result is not out:
        out.local[...] = result.local
    out.report = report
    return out


def plan_gemm(a, b, *, out=None, alpha=1, beta=0, backend="auto", engine=None, threads=None, device_messages=False):
    """What gemm with these arguments will take on this rank, as a dict; nothing is multiplied.

    engine: the one that would run; None if nothing is multiplied.
    bytes: what memory_limit is compared with; host_bytes and device_bytes are its parts.
    bytes_expected: bytes of elements that will come from other ranks, if counts_bytes is true.

    Ranks may have different plans. An array that lies otherwise than the library reads it is copied besides.
    """
    product = _Product(a, b, out, alpha, beta, (backend, engine, threads, 0, bool(device_messages)))
    return product.call(_core._plan_pgemm)
