"""The figures that the sources of the ladders published, as gemm_compare's presets have them (options/presets.cpp)."""

import fnmatch
import re

from rungs import ROOT

PRESETS = ROOT / "apps/gemm_compare/options/presets.cpp"


def text():
    return re.sub(r'"\s*\n\s*"', "", PRESETS.read_text(encoding="utf-8"))


def published():
    """{preset: {"machine", "source", "n", "figures": [{"kernels", "seconds", "gflops", "gain"}]}}"""
    source = text()
    tiles = re.search(r'constexpr const char\* tiles = "([^"]*)"', source)
    source = source.replace(".kernels = tiles", f'.kernels = "{tiles[1]}"') if tiles else source
    lists = {match[1]: match[2] for match in re.finditer(r"constexpr std::array (\w+)_figures{(.*?)};", source, re.S)}
    found = {}
    for match in re.finditer(r'\.name = "(\w+)",(.*?)(?=Preset{|\Z)', source, re.S):
        name, body = match[1], match[2]
        word = lambda field: (re.search(rf'\.{field} = "([^"]*)"', body) or [None, ""])[1]
        size = re.search(r"\.size = (\d+)", body)
        figures = []
        for entry in re.findall(r"Published{([^}]*)}", lists.get(name, "")):
            value = lambda field, entry=entry: float((re.search(rf"\.{field} = ([\d.]+)", entry) or [0, 0])[1])
            figures.append({"kernels": re.search(r'\.kernels = "([^"]*)"', entry)[1], "seconds": value("seconds"),
                            "gflops": value("gflops"), "gain": value("gain")})
        found[name] = {"machine": word("machine"), "source": word("source"), "n": int(size[1]) if size else 0, "figures": figures}
    return found


def rates(preset, kernels):
    """GFLOP/s that a source published, by kernel; figures as gains are over its first figure."""
    work = 2.0 * preset["n"] ** 3 / 1e9
    first = preset["figures"][0]["seconds"] if preset["figures"] else 0
    found = {}
    for figure in preset["figures"]:
        rate = figure["gflops"] or (work / figure["seconds"] if figure["seconds"] else 0)
        if not rate and figure["gain"] and first:
            rate = work / first * figure["gain"]
        for kernel in kernels:
            if rate and fnmatch.fnmatch(kernel, figure["kernels"]):
                found[kernel] = rate
    return found


def levels():
    """The speeds of the walkthrough's levels, which its source gives without kernels and sizes."""
    said = re.search(r"((?:[\d.]+, )+[\d.]+ and [\d.]+) GFLOP/s on a V100", published()["walkthrough"]["source"])
    return [float(number) for number in re.findall(r"[\d.]+", said[1])] if said else []
