"""Text of the pages: lines of at most 120 columns, tables, links, and numbers as they are shown."""

import os
import re

COLUMNS = 120
NOT_FIRST = re.compile(r"^([-+*#>=|]+|\d+[.)])$")  # what would begin a list, a heading or a table


def wrapped(words, columns=COLUMNS):
    lines = [""]
    for word in words.split():
        full = len(lines[-1]) + len(word) + 1 > columns
        if full and not NOT_FIRST.match(word):
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


def table(head, rows, right=()):
    """A table; `right` are the columns whose cells are numbers."""
    rule = ["---:" if at in right else "---" for at in range(len(head))]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |" for cells in [head, *rows]]
    return "\n".join([lines[0], "|" + "|".join(rule) + "|", *lines[1:]])


def link(words, page, target, anchor=""):
    return f"[{words}]({os.path.relpath(target, os.path.dirname(page))}{anchor})"


def picture(words, page, target):
    return f"![{words}]({os.path.relpath(target, os.path.dirname(page))})"


def seconds_text(seconds):
    for unit, factor in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= factor * 0.9995:
            return f"{three(seconds / factor)} {unit}"
    return f"{three(seconds * 1e9)} ns"


def three(number):
    """Three digits, without powers of ten."""
    if number >= 99.95:
        return f"{number:.0f}"
    return f"{number:.1f}" if number >= 9.995 else f"{number:.2f}"


def amount(number, unit):
    """A count with a prefix of the SI."""
    for prefix, factor in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= factor:
            return f"{three(number / factor)} {prefix}{unit}"
    return f"{three(number)} {unit}"


def digits(number):
    """Three digits that count; zeros at the end are kept, so that numbers of a column have one width."""
    return f"{number:.0f}" if number >= 99.95 else f"{number:#.3g}"


def percent(part):
    return f"{digits(100 * part)} %"
