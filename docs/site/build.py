#!/usr/bin/env python3
"""Builds the documentation as a site: `./tessera docs` calls it in an environment with what requirements.txt lists.

    build.py ROOT WORK SITE   from the checkout ROOT, with files on the way in WORK, into the folder SITE

The exit status is 1 where a public symbol has no comment, a link leads nowhere, or a page has a mistake in its markup.
"""

import pathlib
import shutil
import subprocess
import sys

from check_layout import check_layout
from check_links import check_links
from check_pictures import check_pictures
from check_search import check_search
from markdown_pages import MarkdownPages, toctree
from page_rules import read_contents
from public_headers import read_headers
from python_pages import python_page

HERE = pathlib.Path(__file__).parent


def write_reference(root, source, pages):
    """Writes a page for each header and one for the Python package; returns the headers' pages by their paths."""
    headers = {path: header.page for path, header in sorted(pages.headers.items())}
    (source / "reference").mkdir(parents=True)
    for path, page in headers.items():
        (source / f"{page}.rst").write_text(pages.page(pages.headers[path]), encoding="utf-8")
    (source / "reference/python.rst").write_text(python_page(), encoding="utf-8")
    return headers


def link_headers(page, headers):
    """Makes links of the headers' names in the table of include/README.md, and adds the pages to the side bar."""
    text = page.read_text(encoding="utf-8")
    for path, target in headers.items():
        name = path.removeprefix("tessera/").removeprefix("backend/")
        text = text.replace(f"`{name}`", f"[`{name}`](../{target}.rst)")
    page.write_text(
        text + toctree([f"{target}.md" for target in headers.values()], "include/README.md"), encoding="utf-8"
    )


def main(arguments):
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    root, work, wanted = (pathlib.Path(argument).resolve() for argument in arguments)
    source, site = work / "source", work / "html"
    for folder in (source, site):
        shutil.rmtree(folder, ignore_errors=True)
    work.mkdir(parents=True, exist_ok=True)
    headers = write_reference(root, source, read_headers(root, work))
    MarkdownPages(root, source, headers).write(read_contents(HERE / "contents.toml"))
    link_headers(source / "include/README.md", headers)
    sphinx = [sys.executable, "-m", "sphinx", *"-q -E -n -W --keep-going -j 2 -b html".split(), "-c", HERE]
    if subprocess.run([*sphinx, "-d", work / "doctrees", source, site], check=False).returncode:
        raise SystemExit("the pages have mistakes; the lines above say where")
    findings = check_links(site) + check_search(site) + check_pictures(site) + check_layout(site)
    print("\n".join(findings), file=sys.stderr, end="\n" if findings else "")
    if findings:
        return 1
    if wanted != site:  # which may have files of the user's
        shutil.copytree(site, wanted, dirs_exist_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
