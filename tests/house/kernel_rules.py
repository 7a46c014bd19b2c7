"""A rule on device code: instructions that old devices lack stand in code for newer ones, since the plug-in is compiled for Turing too."""

import re

# Instructions in assembly, and calls, with the least architecture that has them.
INSTRUCTIONS = (
    (r"cp\.async\b|mbarrier\.|createpolicy|redux\.sync", 800),
    (r"griddepcontrol|st\.async|mapa\.|barrier\.cluster|cp\.async\.bulk|fence\.proxy|elect\.sync|setmaxnreg|wgmma\.", 900),
)
CALLS = ((r"\b__reduce_(?:add|min|max|and|or|xor)_sync\(", 800),)
NEWER_FEATURES = {"__CUDA_ARCH_FEAT_SM90_ALL": 900}


def architecture_of(condition):
    """The least architecture that a condition of the preprocessor lets through; 0: any."""
    match = re.search(r"__CUDA_ARCH__\s*>=\s*(\d+)", condition)
    if match and "||" not in condition:
        return int(match[1])
    return max((least for name, least in NEWER_FEATURES.items() if re.search(rf"defined\(?\s*{name}", condition)), default=0)


def unguarded(text):
    """The lines with an instruction that the surrounding conditions do not keep from older devices, and the architecture it needs."""
    active = []  # the least architecture of each condition that is open
    in_assembly = False
    for at, line in enumerate(text.splitlines(), 1):
        code = re.sub(r"//.*", "", line)
        if match := re.match(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)", code):
            word, condition = match[1], match[2]
            if word in ("if", "ifdef", "ifndef"):
                active.append(architecture_of(condition) if word == "if" else 0)
            elif active and word == "endif":
                active.pop()
            elif active:
                active[-1] = architecture_of(condition) if word == "elif" else 0
            continue
        in_assembly = in_assembly or re.search(r"\basm\b", code) is not None
        searched = CALLS + INSTRUCTIONS if in_assembly else CALLS
        needed = max((least for pattern, least in searched if re.search(pattern, code)), default=0)
        if needed > max(active, default=0):
            yield at, needed
        in_assembly = in_assembly and re.search(r"\);\s*(\\\\|\}.*)?$", code) is None


def check_kernels(root, names, findings):
    for name in names:
        if not (name.startswith("backends/cuda/") and name.endswith((".cu", ".cuh"))):
            continue
        for at, needed in unguarded((root / name).read_text(encoding="utf-8")):
            findings.append(
                f"{name}:{at}: an instruction of compute capability {needed // 100}.0, outside of #if __CUDA_ARCH__ >= {needed}: "
                "Turing's code does not compile"
            )
