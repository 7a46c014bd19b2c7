"""Rules on the project as a whole: pages as the site asks of them, the size of the results, one version in all files, and workflows
that run what .ci/run does."""

import pathlib
import re
import sys

import page_rules

MOST_RESULTS = 4 << 20  # bytes of docs/results, which every clone has


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


def check_results(root, everything, findings):
    """Measured results are the newest ones alone."""
    size = sum((root / name).stat().st_size for name in everything if name.startswith("docs/results/"))
    if size > MOST_RESULTS:
        findings.append(f"docs/results:1: {size} bytes; at most {MOST_RESULTS}: delete what newer runs have superseded")


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
