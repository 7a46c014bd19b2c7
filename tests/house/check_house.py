#!/usr/bin/env python3
"""Checks what docs/architecture.md and CONTRIBUTING.md ask of files: which files may include which, and no circles of folders, which
may read a clock, how long READMEs are and what stands before a public header's declarations, how large the results are, how wide prose
is, which words comments and pages do not use, what the site asks of pages (docs/site/page_rules.py): a place, links that lead
somewhere, headings in order; that all files name one version; and that workflows run what .ci/run does.

    check_house.py ROOT [FOLDER_OR_FILE...]   all of the checkout ROOT, or what lies in these folders of it

Each finding is one line, `file:line: what is wrong`. The exit status is 1 if there is one.
"""

import ast
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # into the sources
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs/site"))

import page_rules  # noqa: E402

CODE = {".cpp", ".hpp", ".h", ".c", ".cu", ".cuh"}
SCRIPTS = {".py", ".cmake", ".sh"}
MOST_COLUMNS = 120
MOST_FILES = 30
MOST_OPENING = 15  # lines of prose before the declarations of a public header; docs/contract.md and the guides have room
MOST_RESULTS = 4 << 20  # bytes of docs/results, which every clone has
# Programs include these headers by their names, so that a folder would be a part of the interface.
FLAT_FOLDERS = {"include/tessera": 40}
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
    "abi apps arrays backends base blas c c_api card charts cli columns command_line common corpus cpu csv cuda deprecated detail "
    "displaced distributed docs examples executors extensions fetch_content files find_package floating_point folder fresh fuzz "
    "gemm in_your_program include install io kernels local macros matrix memory more mpi npy openmp options outside parent "
    "performance processes python queues scalapack src storage support system tbb tensors tessera tests torch user_kernel_speed".split()
)
MOST_MEANING = 240  # characters of a meaning in docs/glossary.md: two lines
# A comment whose first word makes it a fragment, not a sentence.
FRAGMENT = re.compile(r"^(Of|To|By) \w+,")
# Pages that keep words as they were written: notebooks of experiments.
NOTEBOOKS = ("docs/lab/", "docs/results/")
# This check and its test name the words.
SELF = "tests/house/"


def tracked_files(root):
    names = subprocess.run(["git", "-C", root, "ls-files", "-z"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [name for name in names.split("\0") if name and (root / name).is_file()]


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


def check_pages(root, names, everything, findings):
    """What ./tessera docs refuses of pages, as docs/site/page_rules.py has it."""
    pages = {name for name in everything if page_rules.is_page(name)}
    folders = {str(folder) for name in everything for folder in pathlib.PurePath(name).parents}
    read = lambda page: (root / page).read_text(encoding="utf-8")
    is_there = lambda file: file in everything or file in folders
    for name in names:
        if name in pages:
            findings += page_rules.check_page(name, read(name), is_there, pages, read)
    if page_rules.CONTENTS not in everything:
        return
    if sys.version_info < (3, 11):
        print(f"{page_rules.CONTENTS} was not looked at: that needs Python 3.11")
        return
    findings += page_rules.check_places(sorted(pages), page_rules.read_contents(root / page_rules.CONTENTS))


def check_folders(names, findings):
    folders = {}
    for name in names:
        if name.split("/")[0] in ("src", "backends", "apps", "include", "cmake"):
            folders.setdefault(os.path.dirname(name), []).append(name)
    for folder, files in sorted(folders.items()):
        most = FLAT_FOLDERS.get(folder, MOST_FILES)
        if len(files) > most:
            findings.append(f"{folder}:1: {len(files)} files; this folder of product code has at most {most}")


def check_results(root, everything, findings):
    """Measured results are the newest ones alone."""
    size = sum((root / name).stat().st_size for name in everything if name.startswith("docs/results/"))
    if size > MOST_RESULTS:
        findings.append(f"docs/results:1: {size} bytes; at most {MOST_RESULTS}: delete what newer runs have superseded")


def include_rules(root):
    """The table of docs/architecture.md: for each folder, the folders and files that its files may include."""
    page = (root / "docs/architecture.md").read_text(encoding="utf-8")
    table = page.split("<!-- includes -->")[1].split("<!-- end -->")[0]
    rules = {}
    for row in table.splitlines():
        cells = [cell.strip() for cell in row.strip().strip("|").split("|")]
        if len(cells) >= 2 and cells[0].startswith("`"):
            allowed = re.findall(r"`([^`]+)`", cells[1])
            for folder in re.findall(r"`([^`]+)`", cells[0]):
                rules[folder] = allowed
    return rules


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


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def folder_circles(edges):
    """The circles of a graph of folders: each is a list of folders, the first of them in alphabetical order first. A folder and one
    inside it are one part of the house, so that what they include of each other is no edge.
    """
    graph = {}
    for source, target in edges:
        if not inside(source, target) and not inside(target, source):
            graph.setdefault(source, set()).add(target)
    circles = []
    for start in sorted(graph):
        paths, seen = [[start]], set()
        while paths:  # the shortest way back to where it began, by folders that come later
            path = paths.pop(0)
            targets = sorted(target for target in graph.get(path[-1], ()) if target >= start)
            if start in targets:
                circles.append(path)
                break
            for target in targets:
                if target not in seen:
                    seen.add(target)
                    paths.append(path + [target])
    return circles


def check_circles(edges, findings):
    for circle in folder_circles(edges):
        steps = list(zip(circle, circle[1:] + circle[:1]))
        name, number, _ = edges[steps[-1]]
        way = "; ".join(f"{edges[step][0]} includes {edges[step][2]}" for step in steps)
        findings.append(f"{name}:{number}: folders include one another in a circle: {way}")


def check_includes(root, names, everything, findings):
    rules = include_rules(root)
    without_row = set()
    edges = {}  # (folder, included folder): the first file, its line, and what it includes
    roots = ("backends", "src", "apps/gemm_compare", "apps", "tests")
    for name in names:
        if pathlib.PurePath(name).suffix not in CODE or name.startswith("tests/"):
            continue
        folder = os.path.dirname(name)
        matching = [known for known in rules if inside(name, known)]
        if not matching:
            findings.append(f"{name}:1: docs/architecture.md has no row for {folder}; add what its files may include")
            continue
        rule = max(matching, key=len)
        if rule != folder and folder.startswith(("src/", "backends/")) and folder not in without_row:
            without_row.add(folder)
            findings.append(f"{name}:1: docs/architecture.md has no row for {folder} itself; add what its files may include")
        for number, line in enumerate((root / name).read_text(encoding="utf-8").splitlines(), 1):
            if not (match := re.match(r'\s*#\s*include ([<"])([^">]+)[">]', line)):
                continue
            places = [f"include/{match[2]}"] if match[1] == "<" else [f"{folder}/{match[2]}"] + [f"{at}/{match[2]}" for at in roots]
            target = next((place for place in map(os.path.normpath, places) if place in everything), None)
            if target is None or os.path.dirname(target) == folder:
                continue
            if folder.startswith(("src/", "backends/")) and target.startswith(("src/", "backends/")):
                edges.setdefault((folder, os.path.dirname(target)), (name, number, target))
            if match[1] == '"' and ".." in match[2]:
                findings.append(f"{name}:{number}: includes {match[2]}; name it from its layer's root")
            if not any(inside(target, allowed) for allowed in rules[rule]):
                findings.append(f"{name}:{number}: files in {rule} may not include {target}; see docs/architecture.md")
    check_circles(edges, findings)


def check_clocks(root, names, findings):
    """Only the files of the table of docs/architecture.md read a clock."""
    page = (root / "docs/architecture.md").read_text(encoding="utf-8")
    table = page.partition("<!-- clocks -->")[2].partition("<!-- end -->")[0]
    allowed = re.findall(r"^\| `([^`]+)`", table, re.M)
    for name in names:
        if pathlib.PurePath(name).suffix not in CODE or name.startswith("tests/") or name in allowed:
            continue
        for number, line in enumerate((root / name).read_text(encoding="utf-8").splitlines(), 1):
            if re.search(r"\b(steady_clock|high_resolution_clock|clock_gettime|gettimeofday|omp_get_wtime)\b", line):
                findings.append(f"{name}:{number}: reads a clock; time work by <tessera/detail/stopwatch.hpp> (docs/architecture.md)")


def opening_prose(text):
    """The number of lines of prose, without examples in code, in the comment that opens a header."""
    lines = 0
    for line in text.splitlines():
        comment = re.match(r"\s*(///|/\*\*|\*(?!/))(.*)", line)
        if comment:
            lines += bool(comment[2].strip()) and not comment[2].startswith("     ")
        elif lines:
            break
    return lines


def check_headers(root, names, findings):
    """Public headers show their declarations soon, put other libraries' macros aside, and what moved between headers of fmt is
    included by its new one."""
    for name in names:
        if pathlib.PurePath(name).suffix not in CODE:
            continue
        text = (root / name).read_text(encoding="utf-8")
        if name.startswith("include/") and "/detail/" not in name and (lines := opening_prose(text)) > MOST_OPENING:
            findings.append(f"{name}:1: opens with {lines} lines of prose; at most {MOST_OPENING}, and a link to docs/ for the rest")
        if name.startswith("include/tessera/") and re.search(r"^namespace tessera", text, re.M):
            if "\n#include <tessera/detail/macros_off.hpp>\n" not in text:
                findings.append(f"{name}:1: includes no <tessera/detail/macros_off.hpp> after its other includes (include/README.md)")
            if not text.endswith("\n#include <tessera/detail/macros_on.hpp>\n"):
                findings.append(f"{name}:1: does not end with <tessera/detail/macros_on.hpp> (include/README.md)")
        if "fmt::join" in text and "#include <fmt/ranges.h>" not in text:
            findings.append(f"{name}:1: names fmt::join, which needs <fmt/ranges.h>, and does not include it")


def check_versions(root, everything, findings):
    """One version stands in all files that name it, and the newest release of CHANGELOG.md is this version, with its date."""
    text = {name: (root / name).read_text(encoding="utf-8") for name in
            ("CMakeLists.txt", "include/tessera/version.hpp", "CITATION.cff", "CHANGELOG.md") if name in everything}
    header = text.get("include/tessera/version.hpp")
    if header is None:
        return
    version = re.search(r'#define TESSERA_VERSION "([^"]+)"', header)[1]
    parts = ".".join(re.findall(r"#define TESSERA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
    found = [("include/tessera/version.hpp", parts)]
    for name, pattern in (("CMakeLists.txt", r"project\(tessera VERSION ([\d.]+)"), ("CITATION.cff", r"(?m)^version: (\S+)"),
                          ("CHANGELOG.md", r"(?m)^## (\d\S*)")):
        if name in text:
            found.append((name, (re.search(pattern, text[name]) or [None, "nothing"])[1]))
    findings += [f"{name}:1: has version {other}, and TESSERA_VERSION is {version} (docs/releasing.md)"
                 for name, other in found if other != version]
    released = re.search(rf"(?m)^## {re.escape(version)} \((\d{{4}}-\d\d-\d\d)\)$", text.get("CHANGELOG.md", ""))
    date = re.search(r"(?m)^date-released: (\S+)", text.get("CITATION.cff", ""))
    if released and date and released[1] != date[1]:
        findings.append(f"CITATION.cff:1: is of {date[1]}, and CHANGELOG.md has {version} on {released[1]}")


def check_workflows(root, everything, findings):
    """The workflows of the host run each command of .ci/run."""
    workflows = [name for name in everything if re.fullmatch(r"\.github/workflows/[^/]+\.ya?ml", name)]
    if ".ci/run" not in everything or not workflows:
        return
    said = "\n".join((root / name).read_text(encoding="utf-8") for name in workflows)
    for number, line in enumerate((root / ".ci/run").read_text(encoding="utf-8").splitlines(), 1):
        if re.match(r"(\./tessera|tests/)", line) and not re.search(rf"(?m)[: ]{re.escape(line.strip())}$", said):
            findings.append(f".ci/run:{number}: no workflow of .github runs '{line.strip()}'")


MEMBERS_MNK = re.compile(
    r"^\s+(?:Index|int64_t) m(?: = \w+)?(?:, |;[^\n]*\n\s+(?:Index|int64_t) )n(?: = \w+)?(?:, |;[^\n]*\n\s+(?:Index|int64_t) )k(?: = \w+)?;",
    re.M)


def check_sizes_of_products(root, names, findings):
    """The library and the programs have one structure for m, n and k. Backends have more: what a kernel takes stays as it is."""
    for name in names:
        if pathlib.PurePath(name).suffix not in CODE or not name.startswith(("src/", "apps/")):
            continue
        text = (root / name).read_text(encoding="utf-8")
        for match in MEMBERS_MNK.finditer(text):
            at = 1 + text.count("\n", 0, match.start())
            findings.append(f"{name}:{at}: has members m, n and k; use a GemmShape (<tessera/backend/gemm_shape.hpp>)")


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(arguments[0])
    everything = tracked_files(root)
    wanted = [path.rstrip("/") for path in arguments[1:]]
    names = [name for name in everything if not wanted or any(inside(name, path) for path in wanted)]
    known_files = set(everything)
    findings = []
    for name in names:
        if not name.startswith(SELF):
            if not name.startswith(NOTEBOOKS):
                check_prose(root, name, findings)
            check_width_and_length(root, name, findings)
    check_pages(root, names, known_files, findings)
    check_folders(names, findings)
    check_results(root, known_files, findings)
    check_glossary(root, known_files, findings)
    check_includes(root, names, known_files, findings)
    check_clocks(root, names, findings)
    check_headers(root, names, findings)
    check_versions(root, known_files, findings)
    check_workflows(root, known_files, findings)
    check_sizes_of_products(root, names, findings)
    print("\n".join(findings) if findings else f"{len(names)} files: nothing to say")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
