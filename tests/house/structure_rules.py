"""Rules on the structure of the code: which files may include which, no circles of folders, how many files a folder has, which files
read a clock, how a public header begins and ends, and one structure for the size of a product."""

import os
import pathlib
import re

from files import CODE, inside, table_between

MOST_FILES = 30
MOST_OPENING = 15  # lines of prose before the declarations of a public header; docs/contract.md and the guides have room
# Programs include these headers by their names, so that a folder would be a part of the interface.
FLAT_FOLDERS = {"include/tessera": 40}


def check_folders(names, findings):
    folders = {}
    for name in names:
        if name.split("/")[0] in ("src", "backends", "apps", "include", "cmake"):
            folders.setdefault(os.path.dirname(name), []).append(name)
    for folder, files in sorted(folders.items()):
        most = FLAT_FOLDERS.get(folder, MOST_FILES)
        if len(files) > most:
            findings.append(f"{folder}:1: {len(files)} files; this folder of product code has at most {most}")


def include_rules(root):
    """The table of docs/architecture.md: for each folder, the folders and files that its files may include."""
    rules = {}
    for row in table_between(root, "docs/architecture.md", "includes").splitlines():
        cells = [cell.strip() for cell in row.strip().strip("|").split("|")]
        if len(cells) >= 2 and cells[0].startswith("`"):
            allowed = re.findall(r"`([^`]+)`", cells[1])
            for folder in re.findall(r"`([^`]+)`", cells[0]):
                rules[folder] = allowed
    return rules


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
    allowed = re.findall(r"^\| `([^`]+)`", table_between(root, "docs/architecture.md", "clocks"), re.M)
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
