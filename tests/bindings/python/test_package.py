"""The package besides its functions: stubs, doctests, documentation, the search for libraries."""

import ast
import doctest
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tessera as ts

root = Path(__file__).resolve().parents[3]
package = Path(ts.__file__).parent
sys.path.insert(0, str(root / "tests/docs"))

import printed  # noqa: E402


@pytest.mark.parametrize("module", ["tessera", "tessera._certificate", "tessera._files", "tessera._inventory", "tessera._table", "tessera.testing"])
def test_doctests(module):
    results = doctest.testmod(importlib.import_module(module))
    assert results.failed == 0 and results.attempted > 0


blocks = [
    (page, number, block)
    for page in ("start.md", "python.md", "modes.md", "certificate.md", "large_files.md")
    for number, block in enumerate(
        re.findall(r"^```python\n(.*?)^```", (root / "docs" / page).read_text(), re.DOTALL | re.MULTILINE), 1
    )
    if "import torch" not in block  # test_torch.py has them
]


@pytest.mark.parametrize("page, number, block", blocks)
def test_documentation(page, number, block, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["program.py"])
    exec(compile(block, f"docs/{page}, block {number}", "exec"), {"__name__": "__main__"})
    assert printed.difference(block, capsys.readouterr().out) == ""


def test_documentation_has_programs():
    assert len(blocks) >= 4


def parameters(signature):
    arguments = signature.args
    return [x.arg for x in arguments.posonlyargs + arguments.args + arguments.kwonlyargs if x.arg != "self"]


def test_the_stub_says_what_the_module_says():
    stub = ast.parse((package / "_core.pyi").read_text())
    (array,) = [x for x in stub.body if isinstance(x, ast.ClassDef) and x.name == "DeviceArray"]
    said = {x.name: ast.get_docstring(x) for x in array.body if isinstance(x, ast.FunctionDef)}
    for name, text in said.items():
        # nanobind puts a function's signature before its text.
        assert text and getattr(ts.DeviceArray, name).__doc__.splitlines()[-1] == text, name


def test_the_stub_has_what_the_module_has():
    assert (package / "py.typed").exists()
    stub = ast.parse((package / "_core.pyi").read_text())
    functions = [x for x in stub.body if isinstance(x, ast.FunctionDef)]
    classes = {x.name: {y.name for y in x.body if isinstance(y, ast.FunctionDef)} for x in stub.body if isinstance(x, ast.ClassDef)}
    core = ts._core
    public = {name for name in vars(core) if not name.startswith("_")}
    variables = {x.target.id for x in stub.body if isinstance(x, ast.AnnAssign) and not x.target.id.startswith("_")}
    assert public == {x.name for x in functions} | (classes.keys() - {"SupportsDLPack"}) | variables
    for name in public & classes.keys():
        own = {x for x in vars(getattr(core, name)) if not x.startswith("_") or x.startswith("__dlpack")}
        assert own == classes[name] - {"__init__"}
    runtime = ast.parse("def " + core.gemm.__doc__.splitlines()[0] + ": ...").body[0]
    for function in functions:
        if function.name == "gemm":
            assert parameters(function) == parameters(runtime)


def test_version():
    header = (root / "include" / "tessera" / "version.hpp").read_text()
    assert f'#define TESSERA_VERSION "{ts.__version__}"' in header


def test_the_log_shows_which_kernel_ran():
    script = "import numpy as np, tessera as ts; ts.gemm(np.ones((12, 7)), np.ones((7, 9)), backend='openmp')"
    ran = subprocess.run(
        [sys.executable, "-c", script], env=os.environ | {"TESSERA_LOG": "dispatch"}, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"gemm f64 strict m=12 n=9 k=7: openmp/\w+ runs", ran.stderr)
