"""Runs a kernel that is a Python file with `def solve(a, b, c)` for gemm_judge, whose process this interpreter replaced.

channel.hpp has the messages. gemm_compare writes the operands into this process's memory and reads C from it.
solve() gets NumPy arrays over that memory, or tensors where the file imports PyTorch; on a GPU the tensors lie over
memory of this program there. It writes the product into c, or returns it.
"""

import ctypes
import importlib.util
import mmap
import os
import socket
import struct
import sys
import time
import traceback

COMMAND = struct.Struct("=Iiii4Q")
REPLY = struct.Struct("=IiiiiiI4xqQd480s")
PING, LOAD, PLACE, CALL, COLLECT, WATCH = range(6)
READY, DONE, CANNOT_LOAD, MISSING_SYMBOL, UNAVAILABLE, REJECTED, FAILED, THREW, DEVICE_FAULT, OUT_OF_MEMORY = range(10)
NOTHING, OUT_OF_BOUNDS, INPUT_CHANGED, LATE, FLOATING_STATE, HEAP = range(6)
A, B, C = range(3)

path, device, dtype, m, n, k, lda, ldb, ldc, arena_bytes, layers, magic, settle, watch_for = sys.argv[1:15]
m, n, k, lda, ldb, ldc, arena_bytes, layers, magic = map(int, (m, n, k, lda, ldb, ldc, arena_bytes, layers, magic))
settle, watch_for = float(settle), float(watch_for)
# With these Python does not ask Linux what kind of socket it is, which the sandbox refuses.
channel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, fileno=3)
sleep, monotonic = time.sleep, time.monotonic  # a kernel may replace the module's
on_gpu = device == "cuda"
obeyed = PING  # the kind of the last command


def reply(kind, call=-1, seconds=0.0, text="", arena=0, layer_bits=0, finding=NOTHING, operand=C, offset=0):
    data = str(text).encode("utf-8", "replace")[:479]
    channel.send(REPLY.pack(magic, kind, call, obeyed, finding, operand, layer_bits, offset, arena, seconds, data))


try:
    import numpy
except ImportError as error:
    reply(UNAVAILABLE, text=f"{sys.executable} has no NumPy ({error}); install it, or name another Python in $PYTHON")
    os._exit(0)

memory = mmap.mmap(-1, arena_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
bytes_of_memory = numpy.frombuffer(memory, dtype=numpy.uint8)
arena = bytes_of_memory.ctypes.data
torch = None
operand_type, result_type = dtype, "int32" if dtype == "int8" else dtype

# What rounding and subnormal numbers give when they are as IEEE 754 has them. The numbers are not constants of the
# expressions, which Python would compute beforehand.
one, third, half, tiny, smallest = 1.0, 0.75 * 2.0**-52, 0.25 * 2.0**-52, 2.0**-1022, 2.0**-1070


def floating_state():
    """Returns what this thread's rounding does, and what it does with subnormal numbers, as bits: a comparison would
    take such numbers for 0 too."""
    return struct.pack("3d", one + third, one + half, -one - half), struct.pack("2d", tiny / 4, smallest * one)


usual_state = floating_state()


def view(address, rows, columns, ld, element):
    """The operand at an address of this process, as an array over the arena."""
    element = numpy.dtype(element)
    elements = bytes_of_memory[address - arena :][: rows * ld * element.itemsize].view(element)
    return elements.reshape(rows, ld)[:, :columns]


def load():
    """Returns solve(), or None after a reply that says why not."""
    global torch, operand_type, result_type, usual_state
    try:
        sys.path.insert(0, os.path.dirname(path))
        specification = importlib.util.spec_from_file_location("kernel", path)
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
    except BaseException as error:  # a module may raise anything
        traceback.print_exc()
        reply(CANNOT_LOAD, text=f"{type(error).__name__}: {error}")
        return None
    torch = sys.modules.get("torch")
    if on_gpu and torch is None:
        reply(REJECTED, text="a Python kernel for a GPU gets tensors: import torch in it")
        return None
    if dtype == "bfloat16":
        # Tensors are views of 16-bit integers, because NumPy alone has no such numbers.
        others = sys.modules.get("ml_dtypes")
        if torch is None and others is None:
            reply(REJECTED, text="NumPy has no bfloat16: import torch or ml_dtypes in the kernel")
            return None
        operand_type = result_type = "int16" if torch is not None else others.bfloat16
    solve = getattr(module, "solve", None)
    if not callable(solve):
        reply(MISSING_SYMBOL, text="it does not define solve(a, b, c)")
        return None
    usual_state = floating_state()  # a library may have changed it while it was imported
    reply(READY)
    return solve


def arrays(a, b, c):
    return view(a, m, k, lda, operand_type), view(b, k, n, ldb, operand_type), view(c, m, n, ldc, result_type)


def tensors(a, b, c):
    made = map(torch.from_numpy, arrays(a, b, c))
    return tuple(one.view(torch.bfloat16) if dtype == "bfloat16" else one for one in made)


def operands(a, b, c):
    return arrays(a, b, c) if torch is None else tensors(a, b, c)


class DeviceFault(Exception):
    """The driver says that the GPU failed."""


class Driver:
    """CUDA's driver, opened before the kernel's file. A kernel can replace whatever PyTorch waits and copies with; what
    is called here waits for all streams, and reads the GPU's memory itself."""

    def __init__(self):
        library = ctypes.CDLL("libcuda.so.1")
        pointer, address, size, number = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_int
        self.error_string = library.cuGetErrorString
        self.error_string.argtypes = (number, pointer)

        def function(name, *arguments):
            entry = getattr(library, name)
            entry.argtypes, entry.restype = arguments, number

            def checked(*values):
                code = entry(*values)
                if code != 0:
                    raise DeviceFault(self.text(code))

            return checked

        self.synchronize = function("cuCtxSynchronize")
        self.copy_in = function("cuMemcpyHtoD_v2", address, pointer, size)
        self.copy_out = function("cuMemcpyDtoH_v2", pointer, address, size)
        self.fill = function("cuMemsetD8_v2", address, ctypes.c_ubyte, size)
        self.allocate_at = function("cuMemAlloc_v2", pointer, size)
        # A driver before CUDA 11 keeps nothing in the cache for good, and lacks this function.
        has_reset = hasattr(library, "cuCtxResetPersistingL2Cache")
        self.reset_persisting = function("cuCtxResetPersistingL2Cache") if has_reset else lambda: None
        function("cuInit", ctypes.c_uint)(0)
        device, context, cache = number(), pointer(), number()
        function("cuDeviceGet", pointer, number)(ctypes.byref(device), 0)
        cache_size = 38  # CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
        function("cuDeviceGetAttribute", pointer, number, number)(ctypes.byref(cache), cache_size, device)
        self.cache_bytes = cache.value
        # PyTorch computes in the device's primary context too.
        function("cuDevicePrimaryCtxRetain", pointer, number)(ctypes.byref(context), device)
        function("cuCtxSetCurrent", pointer)(context)

    def allocate(self, count):
        memory_on_gpu = ctypes.c_uint64()
        self.allocate_at(ctypes.byref(memory_on_gpu), max(count, 1))
        return memory_on_gpu.value

    def text(self, code):
        text = ctypes.c_char_p()
        self.error_string(code, ctypes.byref(text))
        return f"CUDA error {code} ({(text.value or b'?').decode()})"


class GpuOperand:
    """One operand's memory on the GPU, between guard bands, and what it must still hold after a call."""

    guard = 256 << 10

    def __init__(self, array, element_type):
        self.bytes, self.shape, self.element_type = array.nbytes, array.shape, element_type
        self.room = self.bytes + 2 * self.guard + 256 * 256
        self.base = driver.allocate(self.room)

    def place(self, array):
        """Copies the elements to a place that a kernel cannot know beforehand."""
        self.address = self.base + self.guard + 256 * os.urandom(1)[0]
        driver.fill(self.base, 0xFF, self.room)
        self.image = array.tobytes()
        driver.copy_in(self.address, self.image, self.bytes)

    def tensor(self):
        made = torch.as_tensor(self, device="cuda")
        return made.view(torch.bfloat16) if dtype == "bfloat16" else made

    @property
    def __cuda_array_interface__(self):
        element = numpy.dtype(self.element_type).str
        return {"shape": self.shape, "typestr": element, "data": (self.address, False), "strides": None, "version": 2}

    def read(self, offset=0, count=None):
        count = self.bytes if count is None else count
        found = bytearray(count)
        driver.copy_out((ctypes.c_char * count).from_buffer(found), self.address + offset, count)
        return bytes(found)

    def changed_outside(self):
        """Returns the place of a byte around the operand that was changed, or None."""
        untouched = b"\xff" * self.guard
        for start in (self.bytes, -self.guard):
            at = first_difference(self.read(start, self.guard), untouched)
            if at is not None:
                return start + at
        return None


def first_difference(x, y):
    if x == y:
        return None
    low, high = 0, len(x)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if x[low:middle] != y[low:middle] else (middle, high)
    return low


class OnGpu:
    """The operands on the GPU. This is for GPUs alone."""

    def __init__(self):
        placed = arrays(arena, arena, arena)
        types = (operand_type, operand_type, result_type)
        self.operands = [GpuOperand(array, element) for array, element in zip(placed, types)]
        self.other_bytes = 2 * driver.cache_bytes
        self.other_data = driver.allocate(self.other_bytes)

    def place(self, command):
        self.at = command[C] - arena
        for operand, array in zip(self.operands, arrays(*command)):
            operand.place(array)
        self.tensors = tuple(operand.tensor() for operand in self.operands)
        # A call must not find its operands in the second-level cache.
        driver.reset_persisting()
        driver.fill(self.other_data, 0, self.other_bytes)
        driver.synchronize()

    def collect(self, number):
        """Copies C into the arena, and looks at it, at the inputs and around them once more after a while."""
        self.result = self.operands[C].read()
        memory[self.at : self.at + len(self.result)] = self.result
        sleep(settle)
        driver.synchronize()
        for number_of, operand in enumerate(self.operands):
            at = operand.changed_outside()
            if at is not None:
                return reply(DONE, number, finding=OUT_OF_BOUNDS, operand=number_of, offset=at)
        for number_of in (A, B):
            at = first_difference(self.operands[number_of].read(), self.operands[number_of].image)
            if at is not None:
                return reply(DONE, number, finding=INPUT_CHANGED, operand=number_of, offset=at)
        return self.look(number)

    def look(self, number):
        at = first_difference(self.operands[C].read(), self.result)
        return reply(DONE, number) if at is None else reply(DONE, number, finding=LATE, offset=at)

    def watch(self, number):
        until = monotonic() + watch_for
        while self.operands[C].read() == self.result and monotonic() < until:
            sleep(0.005)
            driver.synchronize()
        self.look(number)


def call(number, solve, placed):
    a, b, c = placed
    start = time.perf_counter()
    try:
        result = solve(a, b, c)
        if result is not None and result is not c:
            c[...] = result
        if on_gpu:
            driver.synchronize()
    except DeviceFault as error:
        return reply(DEVICE_FAULT, number, text=error)
    except MemoryError as error:
        return reply(OUT_OF_MEMORY, number, text=error or "MemoryError")
    except BaseException as error:  # a kernel may raise anything, also SystemExit
        return reply(THREW, number, text=f"{type(error).__name__}: {error}")
    return reply(DONE, number, time.perf_counter() - start)


def collect(number):
    """Looks at what the last call left behind in this thread."""
    state = floating_state()
    if state == usual_state:
        return reply(DONE, number)
    changed = "the rounding mode" if state[0] != usual_state[0] else "subnormal numbers count as 0 (FTZ or DAZ)"
    return reply(DONE, number, finding=FLOATING_STATE, text=changed)


def obey(kind, number, addresses):
    global solve, gpu
    if kind == LOAD:
        solve = load()
    elif kind == CALL:
        call(number, solve, gpu.tensors if on_gpu else operands(*addresses))
    elif kind == COLLECT:
        gpu.collect(number) if on_gpu else collect(number)
    elif kind == WATCH and on_gpu:
        gpu.watch(number)
    else:
        if kind == PLACE and on_gpu:
            gpu = gpu or OnGpu()
            gpu.place(addresses)
        reply(DONE, number)


driver, solve, gpu = None, None, None
try:
    driver = Driver() if on_gpu else None
except (OSError, AttributeError, DeviceFault) as error:
    reply(UNAVAILABLE, text=f"no GPU for a kernel in Python: {error}")
    os._exit(0)
reply(READY, arena=arena, layer_bits=layers)
packet = bytearray(COMMAND.size)
while channel.recv_into(packet) == COMMAND.size:
    _, obeyed, number, _, _, *addresses = COMMAND.unpack(packet)
    try:
        obey(obeyed, number, addresses)
    except DeviceFault as error:
        reply(DEVICE_FAULT, number, text=error)
os._exit(0)
