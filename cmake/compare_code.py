#!/usr/bin/env python3
"""Compares the machine code of two builds, function by function, and prints the functions that differ.

    compare_code.py device BEFORE AFTER   the kernels in two CUDA plug-ins (libtessera_cuda.so), by cuobjdump -sass;
                                          a file that ends in .sass is what cuobjdump printed before
    compare_code.py host BEFORE AFTER     the micro-kernels in two build folders (microkernel_* and amx_*), by objdump

A change that only moves files, renames types or rewrites comments must print no function. Names are no part of the
comparison, because a moved or renamed function has another mangled name: a function of one build is matched with one
of the other that has the same instructions. The exit status is 0 where every function has a match, 1 where one has
none, and 2 where the arguments are wrong.
"""

import collections
import pathlib
import re
import subprocess
import sys


def output_of(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, errors="replace").stdout


def readable(names):
    """The demangled form of each mangled name."""
    if not names:
        return []
    listing = subprocess.run(["c++filt"], input="\n".join(names), check=True, text=True, stdout=subprocess.PIPE).stdout
    return listing.splitlines()


def device_functions(library):
    """(architecture, instructions) of each kernel in a library, with the kernel's mangled name."""
    architecture, name, lines = "", None, []
    saved = pathlib.Path(library)
    listing = saved.read_text(errors="replace") if saved.suffix == ".sass" else output_of("cuobjdump", "-sass", str(saved))
    for line in listing.splitlines():
        if match := re.match(r"\s*code for (\S+)", line):
            architecture = match[1]
        elif match := re.match(r"\s*Function : (\S+)", line):
            name, lines = match[1], []
        elif re.match(r"\s*\.{6,}", line) and name:
            yield (architecture, "\n".join(lines)), name
            name = None
        elif name and "/*" in line:
            # The widest instruction of a file decides in which column the others' encodings are printed.
            lines.append(" ".join(re.sub(r"`\([^)]*\)", "`(symbol)", line).split()))


def host_functions(folder):
    """(object file, instructions) of each function in the micro-kernels' object files, with its mangled name."""
    objects = sorted(path for path in pathlib.Path(folder).rglob("*.o") if re.match(r"(microkernel|amx)_", path.name))
    if not objects:
        sys.exit(f"{folder} has no object file of a micro-kernel; name the folder of a build")
    for path in objects:
        name, lines = None, []
        for line in output_of("objdump", "-dr", "--no-show-raw-insn", str(path)).splitlines() + [""]:
            if match := re.match(r"[0-9a-f]+ <(.+)>:$", line):
                name, lines = match[1], []
            elif not line.strip() and name:
                yield (path.name, "\n".join(lines)), name
                name = None
            elif name:
                # A relocation's symbol carries a name; so does the target of a jump.
                line = re.sub(r"(R_\S+\s+).*", r"\1symbol", line)
                lines.append(re.sub(r"<[^>]*>", "<symbol>", line).strip())


def main(arguments):
    kinds = {"device": device_functions, "host": host_functions}
    if len(arguments) != 3 or arguments[0] not in kinds:
        print(__doc__, file=sys.stderr)
        return 2
    builds = []
    for place in arguments[1:]:
        bodies = collections.defaultdict(list)
        for body, name in kinds[arguments[0]](place):
            bodies[body].append(name)
        builds.append(bodies)
    totals = [sum(len(names) for names in bodies.values()) for bodies in builds]
    unmatched = 0
    for place, mine, other in ((arguments[1], *builds), (arguments[2], *reversed(builds))):
        lonely = [(body[0], name) for body in mine for name in mine[body][len(other.get(body, ())) :]]
        unmatched += len(lonely)
        for (where, name), shown in zip(lonely, readable([name for _, name in lonely])):
            print(f"only in {place}: {where}: {shown}")
    print(f"{totals[0]} functions before, {totals[1]} after, {unmatched} without a match", file=sys.stderr)
    return 1 if unmatched or not all(totals) else 0


sys.exit(main(sys.argv[1:]))
