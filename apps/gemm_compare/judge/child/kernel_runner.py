"""Runs a kernel that is a Python file with `def solve(a, b, c)` for gemm_judge, whose process this interpreter replaced.

The messages are those of channel.hpp. gemm_compare writes the operands into this process's memory and reads C from it.
solve() gets NumPy arrays over that memory, or tensors where the file imports PyTorch; on a card the tensors are copies
there. It writes the product into c, or returns it.
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
REPLY = struct.Struct("=IiiiiIqQd480s")
PING, LOAD, PLACE, CALL, COLLECT, WATCH = range(6)
READY, DONE, CANNOT_LOAD, MISSING_SYMBOL, UNAVAILABLE, REJECTED, FAILED, THREW, DEVICE_FAULT, OUT_OF_MEMORY = range(10)
NOTHING, OUT_OF_BOUNDS, INPUT_CHANGED, LATE, FLOATING_STATE, HEAP = range(6)
A, B, C = range(3)

path, device, dtype, m, n, k, lda, ldb, ldc, arena_bytes, layers, magic, settle, watch_for = sys.argv[1:15]
m, n, k, lda, ldb, ldc, arena_bytes, layers, magic = map(int, (m, n, k, lda, ldb, ldc, arena_bytes, layers, magic))
settle, watch_for = float(settle), float(watch_for)
channel = socket.socket(fileno=3)
on_card = device == "cuda"


def reply(kind, call=-1, seconds=0.0, text="", arena=0, layer_bits=0, finding=NOTHING, operand=C, offset=0):
    data = str(text).encode("utf-8", "replace")[:479]
    channel.send(REPLY.pack(magic, kind, call, finding, operand, layer_bits, offset, arena, seconds, data))


try:
    import numpy
except ImportError as error:
    reply(UNAVAILABLE, text=f"{sys.executable} has no NumPy ({error}); install it, or name another Python in $PYTHON")
    os._exit(0)

memory = mmap.mmap(-1, arena_bytes)
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
    if on_card and torch is None:
        reply(REJECTED, text="a Python kernel for a card gets tensors: import torch in it")
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


class OnCard:
    """The operands of one call on the card, and what they must still be afterwards. This is for cards alone."""

    other_data = None

    def __init__(self, command):
        self.before = tensors(*command)
        self.placed = tuple(tensor.cuda() for tensor in self.before)
        # A call must not find its operands in the second-level cache.
        if OnCard.other_data is None:
            cache = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 64 << 20)
            OnCard.other_data = torch.empty(2 * cache, dtype=torch.uint8, device="cuda")
        ctypes.CDLL("libcuda.so.1").cuCtxResetPersistingL2Cache()  # what a kernel asked the card to keep
        OnCard.other_data.zero_()
        torch.cuda.synchronize()

    def collect(self, number):
        """Copies C into the arena, and looks at it and at the inputs once more after a while."""
        self.result = self.placed[C].cpu()
        self.before[C][...] = self.result
        time.sleep(settle)
        torch.cuda.synchronize()
        for operand in (A, B):
            if not self.is_as(operand, self.before[operand]):
                return reply(DONE, number, finding=INPUT_CHANGED, operand=operand)
        return self.look(number)

    def look(self, number):
        if self.is_as(C, self.result):
            return reply(DONE, number)
        return reply(DONE, number, finding=LATE)

    def watch(self, number):
        until = time.monotonic() + watch_for
        while self.is_as(C, self.result) and time.monotonic() < until:
            time.sleep(0.005)
            torch.cuda.synchronize()
        self.look(number)

    def is_as(self, operand, expected):
        bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[expected.element_size()]
        found = self.placed[operand].cpu().contiguous().view(bits)
        return torch.equal(found, expected.contiguous().view(bits))


def call(number, solve, placed):
    a, b, c = placed
    start = time.perf_counter()
    try:
        result = solve(a, b, c)
        if result is not None and result is not c:
            c[...] = result
        if on_card:
            torch.cuda.synchronize()
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


reply(READY, arena=arena, layer_bits=layers)
solve, card = None, None
packet = bytearray(COMMAND.size)
while channel.recv_into(packet) == COMMAND.size:
    _, kind, number, _, _, a, b, c = COMMAND.unpack(packet)
    if kind == LOAD:
        solve = load()
    elif kind == CALL:
        call(number, solve, card.placed if on_card else operands(a, b, c))
    elif kind == COLLECT:
        card.collect(number) if on_card else collect(number)
    elif kind == WATCH and on_card:
        card.watch(number)
    else:
        if kind == PLACE and on_card:
            card = OnCard((a, b, c))
        reply(DONE, number)
os._exit(0)
