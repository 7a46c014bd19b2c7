#!/usr/bin/env python3
"""Prints a public header as Doxygen is to read it; lines keep their numbers.

header_filter.py HEADER

A header begins with a comment on the whole file, two lines below #pragma once. The empty line between them becomes the
mark that tells Doxygen so. Enumerations that are made of the list of element types (detail/element_types.h) are written
out, each enumerator with the list's words for it.
"""

import pathlib
import re
import sys

LIST = pathlib.Path(__file__).resolve().parents[2] / "include/tessera/detail/element_types.h"


def tables(text):
    """The entries of each TESSERA_..._TYPES of the list, as lists of columns."""
    found = {}
    for name, body in re.findall(r"^#define (TESSERA_\w+_TYPES)\(X\)((?:[^\n]*\\\n)*[^\n]*)", text, re.M):
        body = body.replace("\\\n", " ")
        entries = [re.findall(r'\s*("[^"]*"|[^,"]+)', entry) for entry in re.findall(r'\bX\(((?:"[^"]*"|[^")])*)\)', body)]
        found[name] = [[column.strip() for column in entry] for entry in entries if len(entry) > 1]
        for other in re.findall(r"(TESSERA_\w+_TYPES)\(X\)", body):
            found[name] += found[other]
    return found


def enumerators(entries, maker):
    """The enumerators that a TESSERA_AS_... makes of the entries, on one line."""
    text = []
    for name, c_name, value, kernel, *others in entries:
        word, number = {
            "TESSERA_AS_ENUMERATOR": (name, value),
            "TESSERA_AS_C_TYPE": (f"TESSERA_{c_name}", value),
            "TESSERA_AS_CHECKED_TYPE": (f"TESSERA_CHECKED_{c_name}", value),
            "TESSERA_AS_KERNEL_TYPE": (f"TESSERA_KERNEL_{name}", kernel),
        }[maker]
        what = others[-1].strip('"')
        text.append(f"{word} = {number}, /**< {what} */")
    return " ".join(text)


def filtered(header):
    text = header.read_text(encoding="utf-8")
    if header.suffix == ".hpp":
        lines = text.split("\n")
        if len(lines) > 1 and not lines[1]:
            lines[1] = "/// @file"
        text = "\n".join(lines)
    if "(TESSERA_AS_" not in text:
        return text
    known = tables(LIST.read_text(encoding="utf-8"))
    return re.sub(r"(TESSERA_\w+_TYPES)\((TESSERA_AS_(?:ENUMERATOR|C_TYPE|CHECKED_TYPE|KERNEL_TYPE))\)",
                  lambda made: enumerators(known[made[1]], made[2]), text)


if __name__ == "__main__":
    sys.stdout.write(filtered(pathlib.Path(sys.argv[1])))
