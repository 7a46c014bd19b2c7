"""What a Markdown page of the repository must hold for the site: a place, links that lead somewhere, and markup that
GitHub and MyST read alike.

markdown_pages.py asks before it makes the site, and tests/house/check_house.py in the test command. Nothing but Python
3.9 is needed, and 3.11 for read_contents().
"""

import os
import pathlib
import re

#: Folders whose pages are on the site, besides the root.
FOLDERS = ("docs", "include", "src", "backends", "apps", "tests", "cmake")
START = "README.md"
CONTENTS = "docs/site/contents.toml"
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
#: Pages of this folder are made from the headers and the Python package.
REFERENCE = "reference/"
#: What fenced code may be called. Mermaid is drawn, and the others are words that Pygments knows.
LANGUAGES = (
    "bash c c++ cmake console cpp cuda diff fortran ini json make mermaid pycon python sh text toml yaml"
).split()


def is_page(name):
    """Is this file of the checkout a page of the site?"""
    return name.endswith(".md") and ("/" not in name or name.split("/")[0] in FOLDERS)


def read_contents(file):
    """The sections of the side bar; each has a caption and pages."""
    import tomllib

    return tomllib.loads(pathlib.Path(file).read_text(encoding="utf-8"))["section"]


def is_outside(link):
    """Does the link lead to another site?"""
    return re.match(r"[a-z]+:", link) is not None


def target_of(page, link):
    """The file or folder that a link on a page leads to, and the anchor there."""
    path, _, anchor = link.partition("#")
    return (os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page), anchor


def lines_outside_code(text):
    """(number, line) of what is no fenced code; spans of code are blanks, so that columns stay."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"`[^`]*`", lambda span: " " * len(span[0]), line)


def headings(text):
    """(line number, level, text) of each heading, links as they are shown."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and (match := re.match(r"(#{1,6}) +(.*?) *#*$", line)):
            yield number, len(match[1]), re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[2])


def anchors(text):
    """The anchors of a page's headings, as GitHub and MyST make them. MyST knows no anchor that HTML names."""
    found = []
    for _, _, title in headings(text):
        anchor = unique = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        earlier = 0
        while unique in found:
            earlier += 1
            unique = f"{anchor}-{earlier}"
        found.append(unique)
    return set(found)


def readme_above(page, pages):
    """The README from which a page hangs that the contents do not name: the nearest above it; None if there is none."""
    folder = pathlib.PurePath(page).parent
    if pathlib.PurePath(page).name == START:
        folder = folder.parent
    while str(folder) != ".":
        if f"{folder}/{START}" in pages:
            return f"{folder}/{START}"
        folder = folder.parent
    return None


def check_places(pages, sections):
    """A line for each page that the side bar does not reach, and for each entry of the contents that is no page."""
    named = [page for section in sections for page in section["pages"]]
    findings = []
    for page in sorted(set(named)):
        if named.count(page) > 1:
            findings.append(f"{CONTENTS}:1: names {page} {named.count(page)} times")
        if page not in pages and not page.startswith(REFERENCE):
            findings.append(f"{CONTENTS}:1: names {page}, and there is no such page")
    for page in pages:
        if page not in named and page != START and readme_above(page, pages) is None:
            findings.append(f"{page}:1: has no place on the site; name it in {CONTENTS}")
    return findings


def check_headings(page, text):
    findings, above = [], 0
    for number, level, title in headings(text):
        if level > above + 1:
            least = "#" * (above + 1)
            findings.append(f"{page}:{number}: the heading '{title}' skips a level; write it with {least}")
        above = level
    if above == 0:
        findings.append(f"{page}:1: has no heading, and so no title on the site")
    return findings


def check_markup(page, text):
    """Markup that GitHub shows as it stands, or that MyST takes for something else."""
    findings = []
    for number, line in lines_outside_code(text):
        if re.match(r"#{1,6}[^\s#]", line):
            findings.append(f"{page}:{number}: '{line.split()[0]}' is no heading; put a blank after the #")
        if re.match(r" {0,3}\[[^\]]+\]: ", line):
            findings.append(f"{page}:{number}: defines a link apart from where it is; write [text](target)")
        written = text.splitlines()[number - 1]
        if any(written[name.end() :].startswith("`") for name in re.finditer(r"\{[a-zA-Z][\w:+-]*\}", line)):
            findings.append(f"{page}:{number}: a name in braces before code is a role of MyST; put a blank between them")
        if re.search(r"!\[[^\]]*\]\(https?:|<(img|script)\b[^>]*src=\"https?:", line):
            findings.append(f"{page}:{number}: the picture is on another server; put it into the repository")
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            word = line.strip().strip("`").strip()
            if fenced and word and word not in LANGUAGES:
                findings.append(f"{page}:{number}: code in '{word}', which docs/site/page_rules.py does not list")
    if fenced:
        findings.append(f"{page}:1: fenced code does not end")
    return findings


def check_links(page, text, is_there, pages, read):
    """Each link to a file, a folder or a heading of the checkout leads there. `read` gives the text of a page."""
    findings = []
    for number, line in lines_outside_code(text):
        for _, link, _ in LINK.findall(line):
            if is_outside(link):
                continue
            file, anchor = target_of(page, link)
            if file.startswith("..") or not is_there(file):
                findings.append(f"{page}:{number}: the link {link} leads nowhere: there is no {file}")
                continue
            target = file if file in pages else f"{file}/{START}"
            if anchor and target not in pages:
                findings.append(f"{page}:{number}: the link {link} names an anchor of {file}, which is no page")
            elif anchor and anchor not in anchors(read(target)):
                findings.append(f"{page}:{number}: the link {link} names a heading that {target} does not have")
    return findings


def check_page(page, text, is_there, pages, read):
    """All that a page itself must hold."""
    return check_headings(page, text) + check_markup(page, text) + check_links(page, text, is_there, pages, read)
