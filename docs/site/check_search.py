"""Checks what the search of a built site finds: pages and symbols, and no parameters."""

import json

INDEX = "searchindex.js"
BEFORE, AFTER = "Search.setIndex(", ")"


def check_search(site):
    """A line for each kind of object in the index that is no symbol, and one if there are no symbols."""
    text = (site / INDEX).read_text(encoding="utf-8").strip()
    kinds = json.loads(text.removeprefix(BEFORE).removesuffix(AFTER))["objtypes"].values()
    findings = [f"{INDEX}: the search finds each {kind}" for kind in kinds if kind.endswith("Param")]
    return findings if kinds else [f"{INDEX}: the search finds no symbols"]
