"""Pictures of a reduction: which elements the threads read, and how a block adds its sums."""

import re
import types

from cpp_values import NoValue
from drawing import Picture

BANKS = 32


def constant(rung, name):
    return int(rung.scope()[name])


def kernel_text(rung):
    return rung.code


def who_reads(rung):
    """(threads, how): how the elements are dealt to the threads of a block."""
    text = kernel_text(rung)
    if "threadIdx.x * part" in text:
        return 256, "parts"
    if "run_rung<T>" in text and re.search(r"kernel\.name, 1, 1, 1,", text):
        return 1, "all"
    if "DeviceReduce" in rung.text or rung.name == "cub":
        return 0, "library"
    return 256, "turns"


def reads_picture(rung):
    """The first elements of the vector, coloured by the lane of the first warp that reads them in its first steps."""
    threads, how = who_reads(rung)
    picture = Picture(f"{rung.name}: which thread reads which element")
    picture.text(12, 20, "What a warp reads with one instruction", 13, bold=True)
    picture.text(12, 37, "boxes: sectors of 32 bytes, with 8 elements of f32", 11, kind="dim")
    y = 56
    if how == "library":
        y = picture.lines(12, y, "The library chooses; its kernels are not in this repository.", 60)
        return picture.svg(y)
    sectors = {"all": 1, "parts": 32, "turns": 4}[how]
    used = {"all": 1, "parts": 1, "turns": 8}[how]
    words = {
        "all": "One lane reads one element at a time; the next step reads its neighbour.",
        "parts": "Each lane walks through a part of its own: 32 sectors for 32 elements, and the next step reads them again.",
        "turns": "Neighbours read neighbours: four sectors for 32 elements, all of them used.",
    }[how]
    bytes_used = used * sectors * 4
    picture.text(12, y, f"{sectors} sector{'s' if sectors > 1 else ''}, {bytes_used} of {sectors * 32} bytes used", 12, kind="a", bold=True)
    y += 8
    for at in range(sectors):
        x, top = 12 + at % 4 * 96, y + at // 4 * 13
        for e in range(8):
            picture.rect(x + e * 11, top, 10, 9, "a" if e < used else "pale")
    y += (sectors + 3) // 4 * 13 + 14
    y = picture.lines(12, y, words, 60)
    return picture.svg(y)


def steps_of(rung):
    """The steps of a block's tree: [(threads that work, where each reads)], or None where there is no tree in memory."""
    text = kernel_text(rung)
    threads = constant(rung, "reduce_threads")
    index = lambda t, stride: {"threadIdx": types.SimpleNamespace(x=t), "stride": stride}
    scope = rung.scope()
    loop = re.search(r"for \(unsigned stride = ([^;]*); ([^;]*); stride (\S=) (\d+)\)\s*{(.*?)\n  }", text, re.S)
    steps = []
    if loop:
        stride = int(scope.value(loop[1]))
        condition = re.search(r"if \((.*?)\) sums\[threadIdx\.x\] \+=", loop[5])[1]
        while scope.value(loop[2], stride=stride):
            working = [t for t in range(threads) if scope.value(condition, **index(t, stride))]
            steps.append((stride, working))
            stride = stride * int(loop[4]) if loop[3] == "*=" else stride // int(loop[4])
        return steps
    if match := re.search(r"\bfold<(reduce_threads / 2)>\(", text):
        stride = int(scope.value(match[1]))
        while stride:
            steps.append((stride, list(range(stride))))
            stride //= 2
        return steps
    return None


def conflicts(working, stride):
    """The most wavefronts beyond what one request needs: sums of 8 bytes are read in halves of a warp."""
    most = 0
    for first in range(0, 256, 16):
        lanes = [t for t in working if first <= t < first + 16]
        banks = {}
        for t in lanes:
            for word in (2 * (t + stride), 2 * (t + stride) + 1):
                banks.setdefault(word % BANKS, set()).add(word)
        most = max([most, *(len(words) - 1 for words in banks.values())])
    return most


def tree_picture(rung):
    """The steps of the tree over the 256 sums of a block: a line a step, a cell a thread."""
    try:
        steps = steps_of(rung)
    except (NoValue, KeyError):
        steps = None
    if not steps:
        return None
    picture = Picture(f"{rung.name}: how a block adds its sums")
    picture.text(12, 20, "How a block adds its 256 sums", 13, bold=True)
    picture.text(12, 37, "a line: a step; coloured: the threads that work; ticks: warps", 11, kind="dim")
    y, left, scale = 52, 78, 310 / 256
    for stride, working in steps:
        picture.text(12, y + 9, f"stride {stride}", 11)
        picture.rect(left, y, 310, 11, "pale")
        for t in working:
            picture.rect(left + t * scale, y, max(0.9, scale - 0.25), 11, "a")
        for warp in range(1, 8):
            picture.line(left + warp * 32 * scale, y, left + warp * 32 * scale, y + 11, "rule", 0.6)
        warps = len({t // 32 for t in working})
        y += 17
        words = f"{len(working)} thread{'s' if len(working) > 1 else ''} in {warps} warp{'s' if warps > 1 else ''}"
        more = conflicts(working, stride)
        picture.text(left, y + 7, words, 10, kind="dim")
        if more:
            picture.text(388, y + 7, f"bank conflicts: {more + 1} turns", 10, "end", "hot")
        y += 14
    return picture.svg(y + 6)
