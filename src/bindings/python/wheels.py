"""Builds the source package, from it the wheels, and makes these fit for other machines. ./tessera wheel DIR runs it.

There is one wheel for CPython 3.10, one for 3.11, and one for the stable ABI of all later versions. All are built in one
build folder: CMake looks at each Python anew, and Ninja then compiles only Python's module again. The folder lies two
below the sources, as the folders of a bundle and of Debian packages do, so that ccache has what these have compiled.

Usage: wheels.py DIR [CMAKE-DEFINITION...], e.g. TESSERA_CUDA=OFF
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

root = Path(__file__).resolve().parents[3]
work = root / "build" / "wheels"
tools = Path(sys.executable).parent  # the environment of wheel-requirements.txt

# Each wheel, and the versions of Python of which one builds it.
targets = {
    "CPython 3.10": ["3.10"],
    "CPython 3.11": ["3.11"],
    "CPython 3.12 and later": ["3.12", "3.13", "3.14", "3.15"],
}

question = """
import json, os, sys, sysconfig
print(json.dumps({
    "version": "%d.%d" % sys.version_info[:2],
    "kind": sys.implementation.name,
    "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "headers": os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")),
}))"""


def say(text: str) -> None:
    print(f"tessera: {text}", file=sys.stderr, flush=True)


def run(*command: object) -> str:
    """Runs a command, whose messages are seen, and returns what it printed to standard output."""
    ran = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    if ran.returncode != 0:
        print(ran.stdout, file=sys.stderr)
        sys.exit(f"tessera: failed with {ran.returncode}: {' '.join(str(word) for word in command)}")
    return ran.stdout


def places(version: str) -> list[Path]:
    """Where an interpreter of this version may be: on PATH, or where pyenv and uv install it."""
    on_path = shutil.which(f"python{version}")
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    data = Path(os.environ.get("XDG_DATA_HOME", Path.home() / ".local" / "share"))
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR", data / "uv" / "python"))
    found = [Path(on_path)] if on_path else []
    found += sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}"))
    return found + sorted(uv.glob(f"cpython-{version}.*/bin/python{version}"))


def can_build(interpreter: Path, version: str) -> bool:
    """Whether it is the version that its name says, runs, and has its headers."""
    try:
        answer = subprocess.run([interpreter, "-c", question], capture_output=True, text=True)
    except OSError:
        return False
    if answer.returncode != 0:  # one of pyenv's stand-ins for a version that is not chosen
        return False
    facts = json.loads(answer.stdout)
    return facts["version"] == version and facts["kind"] == "cpython" and facts["headers"] and not facts["free_threaded"]


def interpreter_of(versions: list[str]) -> Path | None:
    for version in versions:
        for interpreter in places(version):
            if can_build(interpreter, version):
                return interpreter
    return None


def make_sdist(target: Path) -> Path:
    """The source package, in the target folder."""
    printed = run(tools / "python", "-m", "build", "--sdist", "--no-isolation", "--outdir", work / "sdist", root)
    print(printed, file=sys.stderr)
    (made,) = (work / "sdist").iterdir()
    return Path(shutil.copy(made, target))


def unpack(sdist: Path) -> Path:
    """Unpacks the sources and returns their folder. It has always one name, so that ccache finds what it compiled before."""
    with tarfile.open(sdist) as archive:
        archive.extractall(work / "source")
    (folder,) = (work / "source").iterdir()
    return folder


def build_wheel(interpreter: Path, source: Path, definitions: list[str]) -> Path:
    """A wheel for this machine. It has no shared libraries of others: auditwheel adds them."""
    folder = work / "unrepaired"
    shutil.rmtree(folder, ignore_errors=True)
    settings = [f"build-dir={source / 'build' / 'wheel'}", "install.components=python"]
    settings += [f"cmake.define.{definition}" for definition in definitions]
    # pip makes an environment of the interpreter, with what pyproject.toml requires.
    run(tools / "python", "-m", "pip", "--disable-pip-version-check", "--python", interpreter, "wheel", "--no-deps",
        "--wheel-dir", folder, *[f"--config-settings={setting}" for setting in settings], source)  # fmt: skip
    (wheel,) = folder.glob("*.whl")
    return wheel


def repair(wheel: Path, target: Path) -> Path:
    """The wheel with libgomp, oneTBB and fmt inside, named after the oldest C library that it runs with."""
    folder = work / "repaired"
    shutil.rmtree(folder, ignore_errors=True)
    run(tools / "auditwheel", "repair", "--wheel-dir", folder, wheel)
    (made,) = folder.glob("*.whl")
    return Path(shutil.copy(made, target))


def main(target: Path, definitions: list[str]) -> None:
    interpreters = {name: interpreter_of(versions) for name, versions in targets.items()}
    for name, interpreter in interpreters.items():
        if interpreter is None:
            say(f"no wheel for {name}: no such interpreter with its headers is here (uv python install, or pyenv install)")
    if not any(interpreters.values()):
        sys.exit("tessera: no interpreter, so no wheel")
    os.environ["PATH"] = f"{tools}{os.pathsep}{os.environ['PATH']}"  # patchelf
    for name in ("sdist", "source"):
        shutil.rmtree(work / name, ignore_errors=True)
    target.mkdir(parents=True, exist_ok=True)
    made = [make_sdist(target)]
    source = unpack(made[0])
    for name, interpreter in interpreters.items():
        if interpreter is not None:
            say(f"the wheel for {name}, with {interpreter}")
            made.append(repair(build_wheel(interpreter, source, definitions), target))
    run(tools / "twine", "check", "--strict", *made)
    for wheel in made[1:]:
        if "-abi3-" in wheel.name:
            run(tools / "abi3audit", "--strict", wheel)
    for file in made:
        print(file)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
