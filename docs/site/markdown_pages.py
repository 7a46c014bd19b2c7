"""Copies the repository's Markdown pages to where Sphinx reads them, with links as the site needs them.

On GitHub a link may lead to a folder or a source file. On the site it leads to the folder's README, to a header's page,
or to a copy of the file.
"""

import os
import re
import shutil

from page_rules import FOLDERS, LINK, START, check_page, check_places, is_outside, readme_above, target_of


def pages_of(root):
    """Every page of the checkout, as a path relative to its root."""
    found = [page for page in root.glob("*.md")]
    for folder in FOLDERS:
        found += (root / folder).rglob("*.md")
    return sorted(str(page.relative_to(root)) for page in found)


def staged(page):
    """The path of a page on the site: the repository's README is its start page."""
    return "index.md" if page == START else page


class MarkdownPages:
    """The pages of the checkout `root`, to be written below `target`; `headers` has the page of each public header."""

    def __init__(self, root, target, headers):
        self.root, self.target, self.headers = root, target, headers
        self.pages = pages_of(root)
        self.listed = {}

    def destination(self, page, link):
        """What a link on `page` leads to on the site."""
        if is_outside(link) or link.startswith("#"):
            return link
        file, anchor = target_of(page, link)
        if (self.root / file).is_dir():
            file = self.folder(file)
        elif file.removeprefix("include/") in self.headers:
            file = self.headers[file.removeprefix("include/")] + ".rst"
        elif file not in self.pages:
            self.copy(file)
        return os.path.relpath(staged(file), os.path.dirname(staged(page)) or ".") + (f"#{anchor}" if anchor else "")

    def copy(self, file):
        copied = self.target / file
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.root / file, copied)

    def folder(self, folder):
        """The page of a folder: its README, or a list of its files where it has none."""
        page = f"{folder}/README.md"
        if page not in self.pages and page not in self.listed:
            files = sorted(file.name for file in (self.root / folder).iterdir() if file.is_file())
            for file in files:
                self.copy(f"{folder}/{file}")
            self.listed[page] = f"# {folder}\n\n" + "".join(f"- [{file}]({file})\n" for file in files)
        return page

    def rewritten(self, page, text):
        """The page's text with its links changed, but not in code."""
        parts = re.split(r"(^```.*?^```$|`[^`\n]+`)", text, flags=re.M | re.S)
        change = lambda match: match[1] + self.destination(page, match[2]) + match[3]
        return "".join(part if index % 2 else LINK.sub(change, part) for index, part in enumerate(parts))

    def children(self, contents):
        """The pages below each page that the contents do not name: they hang from the README of the nearest folder."""
        below = {}
        for page in [*self.pages, *self.listed]:
            if page not in contents and page != START:
                below.setdefault(readme_above(page, self.pages), []).append(page)
        return below

    def check(self, sections):
        """Ends the program where a page breaks a rule of page_rules.py."""
        read = lambda page: (self.root / page).read_text(encoding="utf-8")
        is_there = lambda file: (self.root / file).exists()
        findings = check_places(self.pages, sections)
        for page in self.pages:
            findings += check_page(page, read(page), is_there, self.pages, read)
        if findings:
            raise SystemExit("\n".join(findings))

    def write(self, sections):
        """Writes all pages; `sections` are the contents' captions and pages, in order."""
        self.check(sections)
        text = {page: self.rewritten(page, (self.root / page).read_text(encoding="utf-8")) for page in self.pages}
        contents = {page for section in sections for page in section["pages"]}
        for page, below in self.children(contents).items():
            text[page] += toctree(below, page)
        for section in sections:
            text[START] += toctree(section["pages"], START, section["caption"])
        for page, written in {**text, **self.listed}.items():
            file = self.target / staged(page)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(written, encoding="utf-8")


def toctree(pages, page, caption=None):
    """A directive for the side bar alone; it shows nothing on the page. The start page, whose title is the project's name,
    is called Start."""
    options = ":hidden:\n" + (f":caption: {caption}\n" if caption else "")
    names = "".join(
        "Start <self>\n" if below == START else "/" + below.removesuffix(".md") + "\n" for below in pages
    )
    return f"\n\n```{{toctree}}\n{options}\n{names}```\n"
