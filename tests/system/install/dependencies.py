"""Compiles what uses other libraries against their oldest and newest releases that Tessera is for.

Usage: dependencies.py BUILD FOLDER oldest|newest

The releases come from their repositories with git, and the compiler's commands from BUILD/compile_commands.json, of which
each file that includes one of the libraries is read once more, without code: what has moved or changed its form is an
error there. Exit status 77: a library cannot be fetched here. docs/cmake.md lists the releases.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

# Each library: its repository, the tags of the oldest and the newest release, and the folder with its headers.
LIBRARIES = {
    "xtensor": ("xtensor-stack/xtensor", "0.24.0", "0.27.1", "include"),
    "xtl": ("xtensor-stack/xtl", "0.7.2", "0.8.2", "include"),
    "fmt": ("fmtlib/fmt", "9.1.0", "12.2.0", "include"),
    "nlohmann": ("nlohmann/json", "v3.11.0", "v3.12.0", "include"),
    "CLI": ("CLIUtils/CLI11", "v2.1.2", "v2.7.2", "include"),
    "tbb": ("uxlfoundation/oneTBB", "v2021.8.0", "v2023.1.0", "include"),
    "mdspan": ("kokkos/mdspan", "mdspan-0.6.0", "mdspan-0.6.0", "include"),
    "Eigen": ("eigen-mirror/eigen", "3.3.9", "5.0.1", "."),
}
USES = re.compile(r'#include <(?:xtensor|fmt|nlohmann|CLI|oneapi|tbb|mdspan|Eigen|tessera/(?:xtensor|eigen|mdspan)\.hpp)[/>.]?')
OWN_FILES = re.compile(r'#include "([^"]+\.(?:cpp|hpp))"')


def fetch(folder, name, repository, tag, headers):
    """Returns the folder of headers, or what git says."""
    place = folder / f"{name}-{tag}"
    if not (place / headers).is_dir():
        clone = ["git", "-c", "advice.detachedHead=false", "clone", "--quiet", "--depth", "1", "--branch", tag,
                 f"https://github.com/{repository}", str(place)]
        try:
            done = subprocess.run(clone, capture_output=True, text=True, timeout=300,
                                  env={**os.environ, "GIT_TERMINAL_PROMPT": "0"})
        except FileNotFoundError:
            return None, "there is no git"
        except subprocess.TimeoutExpired:
            return None, "git took five minutes"
        if done.returncode != 0:
            return None, done.stderr.strip()
    return place / headers, ""


def uses_a_library(source, build):
    """Does the file, or one that it joins, include a library?"""
    text = source.read_text(errors="replace")
    if USES.search(text):
        return True
    if build in source.parents:  # files that CMake joins
        return any(USES.search(pathlib.Path(file).read_text(errors="replace"))
                   for file in OWN_FILES.findall(text) if pathlib.Path(file).is_absolute() and pathlib.Path(file).exists())
    return False


def command_of(entry, includes):
    """Returns the compiler's command without output, precompiled header and launcher, with these folders first."""
    words = shlex.split(entry["command"])
    kept, skip = [], False
    for index, word in enumerate(words):
        if skip:
            skip = False
        elif word in ("-o", "-c", "-MF", "-MT") or (word == "-include" and words[index + 1].endswith("cmake_pch.hxx")):
            skip = word != "-c"
        elif word == "-Winvalid-pch" or word in ("-MD", entry["file"]) or re.fullmatch(r"-O\d", word):
            pass
        else:
            kept.append(word)
    return kept + [flag for folder in includes for flag in ("-isystem", str(folder))] + ["-fsyntax-only", entry["file"]]


def main():
    build, folder, which = pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]), sys.argv[3]
    folder.mkdir(parents=True, exist_ok=True)
    includes = []
    for name, (repository, oldest, newest, headers) in LIBRARIES.items():
        tag = {"oldest": oldest, "newest": newest}[which]
        place, why = fetch(folder, name, repository, tag, headers)
        if place is None:
            print(f"skipped: {repository} {tag} cannot be fetched here: {why}")
            return 77
        includes.append(place)
    entries = json.loads((build / "compile_commands.json").read_text())
    entries = [entry for entry in entries
               if "cmake_pch" not in entry["file"] and not entry["file"].endswith(".cu")
               and uses_a_library(pathlib.Path(entry["file"]), build)]
    if len(entries) < 10:
        print(f"only {len(entries)} files of {build} use a library")
        return 1

    def compile_one(entry):
        done = subprocess.run(command_of(entry, includes), cwd=entry["directory"], capture_output=True, text=True)
        return entry["file"], done.returncode, done.stderr

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for file, status, errors in pool.map(compile_one, entries):
            if status != 0:
                failed += 1
                print(f"{file} does not compile with the {which} releases:\n{errors[:6000]}")
    print(f"{len(entries) - failed} of {len(entries)} files compile with the {which} releases")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
