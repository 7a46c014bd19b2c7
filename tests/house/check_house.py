#!/usr/bin/env python3
"""Checks what docs/architecture.md and CONTRIBUTING.md ask of files: which files may include which, and no circles of folders, which
may read a clock, how long READMEs are and what stands before a public header's declarations, how large the results are, how wide prose
is, which words comments and pages do not use, what the site asks of pages (docs/site/page_rules.py): a place, links that lead
somewhere, headings in order; that all files name one version; that workflows run what .ci/run does; that instructions of newer GPUs
stand in code for these; and that a textbook's rungs have their kernels, numbers without holes and a place in its README.

    check_house.py ROOT [FOLDER_OR_FILE...]   all of the checkout ROOT, or what lies in these folders of it

Each finding is one line, `file:line: what is wrong`. The exit status is 1 if there is one.
"""

import pathlib
import sys

sys.dont_write_bytecode = True  # into the sources
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs/site"))

import kernel_rules  # noqa: E402
import project_rules  # noqa: E402
import prose_rules  # noqa: E402
import structure_rules  # noqa: E402
import textbook_rules  # noqa: E402
from files import inside, tracked_files  # noqa: E402

# Pages that keep words as they were written: notebooks of experiments.
NOTEBOOKS = ("docs/lab/", "docs/results/")
# This check and its test name the words.
SELF = "tests/house/"


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
                prose_rules.check_prose(root, name, findings)
            prose_rules.check_width_and_length(root, name, findings)
    project_rules.check_pages(root, names, known_files, findings)
    structure_rules.check_folders(names, findings)
    project_rules.check_results(root, known_files, findings)
    prose_rules.check_glossary(root, known_files, findings)
    structure_rules.check_includes(root, names, known_files, findings)
    structure_rules.check_clocks(root, names, findings)
    structure_rules.check_headers(root, names, findings)
    kernel_rules.check_kernels(root, names, findings)
    project_rules.check_versions(root, known_files, findings)
    project_rules.check_workflows(root, known_files, findings)
    structure_rules.check_sizes_of_products(root, names, findings)
    textbook_rules.check_textbooks(root, everything, findings)
    print("\n".join(findings) if findings else f"{len(names)} files: nothing to say")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
