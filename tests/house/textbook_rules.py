"""Rules on the textbooks of the ladders: a rung's file has its kernel, numbers have no holes, and the README lists the rungs in order."""

import pathlib
import re

# A textbook, the suffix of its rungs, what each of them must contain, and what that is in words.
TEXTBOOKS = (
    ("backends/cuda/gemm/textbook", ".cu", r"^\s*__global__", "kernel (__global__)"),
    ("backends/cpu/gemm/textbook", ".cpp", r"^\s*for \(", "loop"),
)


def rungs_of(folder, suffix, everything):
    """Each rung's file with its path through the book (empty for the main line), its number and its name."""
    for name in everything:
        if name.startswith(folder + "/") and name.endswith(suffix):
            match = re.fullmatch(r"(\d\d|([a-z])(\d))_(\w+)", pathlib.PurePath(name).stem)
            yield name, match and ((match[2] or "", int(match[3] or match[1]), match[1]))


def listed_rungs(text):
    """The numbers in the tables of a README, with the names of their kernels and their lines."""
    for at, line in enumerate(text.splitlines(), 1):
        if match := re.match(r"\| (\d\d|[a-z]\d) \| ([^|]*) \|", line):
            yield match[1], [word for word in match[2].replace("`", "").split(", ") if re.fullmatch(r"\w+", word)], at


def check_numbers(files, findings):
    last = {}
    for name, (path, number, _) in sorted(files.items(), key=lambda item: item[1]):
        if number != last.get(path, 0) + 1:
            findings.append(f"{name}:1: comes after number {last.get(path, 0)} of its path; numbers have neither holes nor twins")
        last[path] = number


def check_list(root, readme, files, findings):
    text = (root / readme).read_text(encoding="utf-8")
    by_number = {number: name for name, (_, _, number) in files.items()}
    listed, last = set(), {}
    for number, kernels, at in listed_rungs(text):
        path, place = ("", int(number)) if number[0].isdigit() else (number[0], int(number[1:]))
        if number not in by_number:
            findings.append(f"{readme}:{at}: lists {number}, and no file here has that number")
            continue
        if place != last.get(path, 0) + 1 or (path == "" and len(last) > 1):
            findings.append(f"{readme}:{at}: lists {number} out of order; the main line comes first, and each path in ascending order")
        listed.add(number)
        last[path] = place
        source = (root / by_number[number]).read_text(encoding="utf-8")
        for kernel in kernels:
            if f'"{kernel}"' not in source:
                findings.append(f"{readme}:{at}: lists {kernel} as {number}, and {by_number[number]} has no such kernel")
    for number in sorted(set(by_number) - listed):
        findings.append(f"{readme}:1: does not list {by_number[number]}")


def check_textbooks(root, everything, findings):
    for folder, suffix, wanted, word in TEXTBOOKS:
        files = dict(rungs_of(folder, suffix, everything))
        for name, place in files.items():
            if place is None:
                findings.append(f"{name}:1: a rung's name begins with two digits, or with a letter and a digit on a side path")
            if not re.search(wanted, (root / name).read_text(encoding="utf-8"), re.M):
                findings.append(f"{name}:1: has no {word}; a rung's file teaches by itself")
        files = {name: place for name, place in files.items() if place is not None}
        check_numbers(files, findings)
        if files:
            check_list(root, f"{folder}/README.md", files, findings)
