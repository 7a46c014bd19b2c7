"""Rules on prose: which words comments and pages do not use, how wide and long pages are, and that the glossary has an entry for
each folder whose name is no plain word."""

import ast
import os
import pathlib
import re

import page_rules
from files import CODE

SCRIPTS = {".py", ".cmake", ".sh"}
MOST_COLUMNS = 120
README_LINES = {"README.md": 120, "backends/cuda/gemm/README.md": 120}
OTHER_README_LINES = 60

# Words that comments and pages do not use, and what is written instead.
WORDS = {
    r"\bwho(ever|m)?\b": "name the agent: the caller, the producer warp, the host",
    r"\b(nobody|everybody|somebody|anybody)\b": "name the agent: the caller, the reader, another program",
    r"\bthose (who|that|which|of)\b": "name the things",
    r"\bthat of (a|an|the|one|its|their|another|each|any)\b": "repeat the noun",
    r"\b(as|see) above\b": "say it, or link it",
    r"\b(does|returns) the same (of|for|with)\b": "say what it does",
}
# Names that the field has other words for (docs/glossary.md).
NAMES = {
    r"\bearly_launch\b": "programmatic dependent launch",
    r"\b(packed|tma)_parts\b": "split operands, cluster split-k",
    r"\b(row|panel)_product\b": "gemv, few vectors",
    r"\bcrew\b": "copy threads",
    r"\bparcels?\b": "hand-off",
    r"(?-i:\b(?:[Gg]raphics )?[Cc]ards?\b)": "GPU; in code the executor's device",
    r"\brows? of (a|the|its|this|each|every|any|one|Tessera's) (\w+'s )?ladder": "kernel",
    r"\bladder('s)? rows?\b": "kernel",
    r"\bcanonical (summation|sums?|bits|segments?|products?|kernels?|rows?|ones?|order|chains?)\b": "strict sum, keeps the contract",
    r"\b(Hopper's|AMX's|model of the|contract of the|bits of the) units\b": "matrix units",
    r"\bone behind the other\b|\b(starts?|enqueued|launched|recorded|comes?) behind\b": "after",
    r"\bbehind the (last|first|work|copy|copies|ring|barrier|queue|point)\b": "after",
}
# A folder's name has an entry in docs/glossary.md, or is one of these: a plain word, or what a program of its name is.
PLAIN_FOLDERS = set(
    "abi apps arrays backends base blas c c_api charts cli columns command_line common corpus cpu csv cuda deprecated detail "
    "displaced distributed docs examples executors extensions fetch_content files find_package floating_point folder fresh fuzz "
    "gemm in_your_program include install io kernels local macros matrix memory more mpi npy openmp options outside parent "
    "performance pretended_gpu processes python queues scalapack src storage support system tbb tensors tessera tests torch user_kernel_speed".split()
)
MOST_MEANING = 240  # characters of a meaning in docs/glossary.md: two lines
# A comment whose first word makes it a fragment, not a sentence.
FRAGMENT = re.compile(r"^(Of|To|By) \w+,")


def comments(text):
    """(line, text) of each comment of C++ or C; neighbouring // lines are one comment. Strings hold no comments."""
    found = []
    pattern = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*|/\*.*?\*/', re.S)
    for match in pattern.finditer(text):
        token = match[0]
        if not token.startswith(("//", "/*")):
            continue
        line = text.count("\n", 0, match.start()) + 1
        words = re.sub(r"^\s*(///?<?|/\*+|\*/|\*)|\*/$", "", token, flags=re.M).strip()
        starts_line = not text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
        if starts_line and found and found[-1][2] == line - 1 and token.startswith("//") and found[-1][3]:
            first, said, _, _ = found[-1]
            found[-1] = (first, said + "\n" + words, line, True)
        else:
            found.append((line, words, line + token.count("\n"), starts_line and token.startswith("//")))
    return [(line, words) for line, words, _, _ in found]


def script_comments(text):
    return [(number, line.split("#", 1)[1].strip()) for number, line in enumerate(text.splitlines(), 1)
            if line.lstrip().startswith("#") and not line.startswith("#!")]


def docstrings(text):
    """(line, text) of each docstring of Python, without the examples that it runs."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (said := ast.get_docstring(node, clean=False)):
            found.append((node.body[0].lineno, re.sub(r"(?m)^\s*(>>>|\.\.\.).*", "", said)))
    return found


def without_code(line):
    """Text of a page, with code and the targets of links struck out."""
    return re.sub(r"`[^`]*`|(?<=\])\([^)]*\)", lambda quoted: "x" * len(quoted[0]), line)


def table_lines(text):
    """(line number, line) of a page's tables."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("|"):
            yield number, without_code(line)


def prose_lines(text):
    """(line number, line) of a page's prose: neither code blocks, tables nor lines that are one link or picture."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    ") and not line.lstrip().startswith("|") and not re.fullmatch(r"\s*!?\[.*\]\(\S+\)\s*", line):
            yield number, without_code(line)


def check_words(name, line, said, findings, tables=(WORDS, NAMES)):
    for table in tables:
        for pattern, instead in table.items():
            for match in re.finditer(pattern, said, re.I):
                at = line + said.count("\n", 0, match.start())
                findings.append(f"{name}:{at}: '{match[0]}': {instead}")


def check_prose(root, name, findings):
    text = (root / name).read_text(encoding="utf-8", errors="replace")
    suffix = pathlib.PurePath(name).suffix
    if suffix in CODE:
        for line, said in comments(text):
            check_words(name, line, said, findings)
            if FRAGMENT.match(said):
                findings.append(f"{name}:{line}: the comment begins as a fragment; write a sentence with a subject and a verb")
    elif suffix in SCRIPTS or name.endswith("CMakeLists.txt"):
        for line, said in script_comments(text):
            check_words(name, line, said, findings)
        for line, said in docstrings(text) if suffix == ".py" else ():
            check_words(name, line, without_code(said), findings)
    elif suffix == ".md":
        for number, line in prose_lines(text):
            check_words(name, number, line, findings)
        for number, line in table_lines(text):
            check_words(name, number, line, findings, (NAMES,))


def check_width_and_length(root, name, findings):
    if not name.endswith(".md"):
        return
    text = (root / name).read_text(encoding="utf-8")
    for number, line in prose_lines(text):
        if len(line) > MOST_COLUMNS:
            findings.append(f"{name}:{number}: {len(line)} columns; prose has at most {MOST_COLUMNS}")
    if os.path.basename(name) == "README.md" and not name.startswith("docs/results/"):
        most = README_LINES.get(name, OTHER_README_LINES)
        lines = len(text.splitlines())
        if lines > most:
            findings.append(f"{name}:1: {lines} lines; this README has at most {most}; tables and logs belong in docs/")


def check_glossary(root, everything, findings):
    """docs/glossary.md is in order, its meanings are short and linked, and it knows the name of every folder."""
    page = "docs/glossary.md"
    if page not in everything:
        return
    letters = lambda word: re.sub(r"[^a-z0-9]", "", word.lower())
    known = set()
    before = ""
    for number, line in enumerate((root / page).read_text(encoding="utf-8").splitlines(), 1):
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("| ") or len(cells) != 2 or cells[0] == "term":
            continue
        term, meaning = cells
        known.update(letters(word) for word in term.split(", "))
        key = letters(term.split(",")[0])
        if key < before:
            findings.append(f"{page}:{number}: '{term}' is out of alphabetical order")
        before = key
        said = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", meaning)
        if len(said) > MOST_MEANING:
            findings.append(f"{page}:{number}: '{term}' has {len(said)} characters; at most {MOST_MEANING}, and the rest on the page that it links to")
        if "](" not in meaning:
            findings.append(f"{page}:{number}: '{term}' links to no page that explains it")
    folders = {}
    for name in sorted(everything):
        parts = pathlib.PurePath(name).parts[:-1]
        if parts and parts[0] in ("src", "backends", "apps", "include", "tests"):
            for depth, folder in enumerate(parts):
                folders.setdefault(folder, "/".join(parts[: depth + 1]))
    for folder, where in folders.items():
        if folder not in PLAIN_FOLDERS and not {letters(folder), letters(folder).rstrip("s")} & known:
            findings.append(f"{where}:1: {page} has no entry for the folder {folder}")
