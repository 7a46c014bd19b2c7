"""The rungs of the three ladders, read from their sources: names, ideas, listings, constants, and their order."""

import difflib
import pathlib
import re
import tomllib

from cpp_values import NoValue, Scope, split_top, without_comments

ROOT = pathlib.Path(__file__).resolve().parents[3]
LADDERS = {
    "cuda": ("backends/cuda/gemm/textbook", "GPU: matrix products"),
    "cpu": ("backends/cpu/gemm/textbook", "Processor: matrix products"),
    "reduce": ("backends/cuda/reduce", "GPU: sums"),
}
NUMBERED = re.compile(r"^(\d\d|[a-z]\d)_(\w+)$")
KERNEL = re.compile(r"\bconst (?:Gemm|Reduce)Kernel (\w+?)_(?:f32|f64|f16|bf16|i32)\b")
NAMES = {"naive", "float4"}  # words that begin a sentence as they are, because they are kernels
PROSE = tomllib.loads((ROOT / "docs/ladder/limits.toml").read_text(encoding="utf-8"))


class Rung:
    """One file of a ladder."""

    def __init__(self, ladder, path, number, name):
        self.ladder, self.path, self.number, self.name = ladder, path, number, name
        self.file = str(path.relative_to(ROOT))
        self.text = path.read_text(encoding="utf-8")
        self.stem = f"{number}_{name}"
        self.page = f"docs/ladder/{ladder}/{self.stem}.md"
        self.kernels = kernels_of(self.text, name)
        self.paragraphs = opening(self.text)
        self.prose = PROSE.get(ladder, {}).get(name)
        if self.prose is None:
            raise SystemExit(f"docs/ladder/limits.toml has no entry [{ladder}.{name}] for {self.file}")
        self.before = None
        self.after = None

    @property
    def title(self):
        return f"{self.number} {self.name}"

    @property
    def main(self):
        return self.number[0].isdigit()

    def field(self, name, default=""):
        """A field of the kernel's entry, as it is written."""
        match = re.search(rf"\.{name} = ((?:[^,{{}}]|{{[^}}]*}}|\([^)]*\))+?)(?:,\s*\.|}}|,\s*$)", self.text, re.M | re.S)
        return match[1].strip() if match else default

    @property
    def idea(self):
        said = self.paragraphs[0]
        first, colon, rest = said.partition(": ")
        said = rest if colon and re.match(r"[\w, ;()]+$", first) else said
        word = re.match(r"\w*", said)[0]
        return said if "_" in word or word in NAMES else said[0].upper() + said[1:]

    def scope(self, kernel=None, element=4):
        """The constants of the file and of what it includes, for one of its kernels."""
        return Scope([self.text, *included(self.path, self.text)], element, **self.bound(kernel))

    def element(self, kernel):
        """Bytes of an element of the kernel's narrowest strict type: 4 where it has f32."""
        types = re.findall(rf"\b{re.escape(kernel)}_(f32|f64|f16|bf16)\b", self.text)
        return next((size for name, size in (("f32", 4), ("f16", 2), ("bf16", 2), ("f64", 8)) if name in types), 4)

    def bound(self, kernel):
        """The template arguments of a kernel: `rung<float, 16>` of a `template <class T, int tile>`."""
        match = kernel and re.search(rf"\b{re.escape(kernel)}_(?:f32|f16|bf16) = (\w+)<\w+, ([^;]*)>[;(]", self.text)
        if not match:
            return {}
        template = re.search(rf"template <class T, ([^>]*)>\s*constexpr \w+ {match[1]}\b", self.text)
        names = re.findall(r"int (\w+)", template[1]) if template else []
        values = [part.strip() for part in match[2].split(",")]
        return {name: int(value) for name, value in zip(names, values) if value.isdigit()}

    def tile(self, kernel=None, element=4):
        """Rows, columns and steps of k of a block's tile; what the entry does not say is 0."""
        written = self.field("tile").strip("{}")
        scope = self.scope(kernel, element)
        found = []
        for part in split_top(written, ","):
            try:
                found.append(int(scope.value(part)) if part.strip() else 0)
            except NoValue:
                found.append(0)
        return (found + [0, 0, 0])[:3]

    @property
    def math(self):
        return {"Compensated": "compensated", "Tf32": "tf32", "Fp16": "fp16", "Bf16": "bf16", "Strassen": "strassen"}.get(
            self.field("math").rpartition("::")[2], "strict")

    def listing(self):
        """The lines that show the idea: what the unnamed namespace holds before the kernel's entry; where that is nothing,
        the header beside the file that has the loops."""
        own = self.lines_of(self.text)
        if len(own) > 2:
            return own
        beside = [self.path.parent / name for name in re.findall(r'#include "(\w+\.hpp)"', self.text)]
        for header in beside:
            body = header.read_text(encoding="utf-8").partition("namespace tessera")[2].partition("{\n")[2] if header.is_file() else ""
            if "template <class T, Schedule" in body:
                return body.rpartition("\n} // namespace")[0].strip("\n").split("\n")
        return own

    def lines_of(self, text):
        body = text.partition("namespace {\n")[2]
        body = re.split(r"^(?:template <[^>]*>\n)?constexpr (?:GemmKernel|ReduceKernel|std::array|auto in_)", body, flags=re.M)[0]
        body = body.partition("\n} // namespace\n")[0]
        return body.strip("\n").split("\n")

    def marked(self):
        """(lines with a mark in front, whether lines of the rung before are shown). Names of the two are one name."""
        own = self.listing()
        if self.before is None:
            return own, None
        old = "\n".join(self.before.listing())
        for theirs, ours in zip(self.before.function_names(), self.function_names()):
            old = re.sub(rf"\b{theirs}\b", ours, old)
        old = old.split("\n")
        matcher = difflib.SequenceMatcher(None, old, own, autojunk=False)
        kept = sum(size for _, _, size in matcher.get_matching_blocks())
        show_old = kept * 2 > len(own)
        lines = []
        for what, first, last, start, end in matcher.get_opcodes():
            if what == "equal":
                lines += [f" {line}".rstrip() for line in own[start:end]]
                continue
            if show_old:
                lines += [f"-{line}" for line in old[first:last] if line.strip()]
            lines += [f"+{line}" if line.strip() else "" for line in own[start:end]]
        return lines, show_old

    def function_names(self):
        return re.findall(r"__global__ void (?:__launch_bounds__\((?:[^()]|\([^()]*\))*\)\s*)?(\w+)\(", self.text) or [self.name]

    @property
    def code(self):
        return without_comments("\n".join(self.listing()))


def kernels_of(text, name):
    named = list(dict.fromkeys(KERNEL.findall(text)))
    named = [re.sub(r"^canonical_squares$", "canonical", kernel) for kernel in named]
    named = [kernel for kernel in named if not kernel.startswith(("canonical_sum", "canonical_max"))]
    return named or list(dict.fromkeys(re.findall(r'rung<float, [^>]*>\("(\w+)"', text))) or [name]


def opening(text):
    """The paragraphs of the comment that opens a file."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("///"):
            break
        lines.append(line[3:].strip())
    return [" ".join(part.split()) for part in "\n".join(lines).split("\n\n") if part.strip()]


def included(path, text, seen=None):
    """The texts of the project's own headers that a file includes, nearest first."""
    seen = seen if seen is not None else set()
    found = []
    for name in re.findall(r'#include "([^"]+)"', text):
        for place in (path.parent / name, ROOT / "backends" / name):
            if place.is_file() and place not in seen and "gemm" in place.parts + ("gemm",) and place.suffix in (".cuh", ".hpp"):
                seen.add(place)
                inner = place.read_text(encoding="utf-8")
                found += [inner, *included(place, inner, seen)]
                break
    return found


def reduce_order(folder):
    """The reductions from slow to fast: ladder.cpp lists them in the order of preference."""
    listed = re.findall(r"\b(\w+?)(?:_squares)?_f32,", (folder / "ladder.cpp").read_text(encoding="utf-8"))
    names = [name for name in dict.fromkeys(reversed(listed)) if (folder / f"{name}.cu").is_file()]
    return names


def beside_of(folder):
    """For each side path the number of the rung that the folder's README compares it with."""
    rows = re.findall(r"^\| (\w\d) \|.*\| (\w\d) \|$", (folder / "README.md").read_text(encoding="utf-8"), re.M)
    return dict(rows)


def read_ladder(ladder):
    folder = ROOT / LADDERS[ladder][0]
    if ladder == "reduce":
        rungs = [Rung(ladder, folder / f"{name}.cu", f"{at:02}", name) for at, name in enumerate(reduce_order(folder), 1)]
    else:
        suffix = ".cu" if ladder == "cuda" else ".cpp"
        files = sorted(folder.rglob(f"*{suffix}"), key=lambda path: path.name)
        rungs = [Rung(ladder, path, *NUMBERED.match(path.stem).groups()) for path in files if NUMBERED.match(path.stem)]
        rungs.sort(key=lambda rung: (not rung.main, rung.number))
    by_name = {rung.name: rung for rung in rungs}
    by_number = {rung.number: rung for rung in rungs}
    beside = beside_of(folder)
    for earlier, later in zip([None, *rungs], [*rungs, None]):
        wanted = later and later.prose.get("after")
        if later:
            later.before = by_name.get(wanted) if wanted else (
                earlier if later.main else by_number.get(beside.get(later.number)))
            later.previous = earlier
        if earlier:
            earlier.after = later
    return rungs


def read_all():
    return {ladder: read_ladder(ladder) for ladder in LADDERS}
