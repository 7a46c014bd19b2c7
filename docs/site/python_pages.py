"""The reference of the Python package, from its sources alone: nothing has to be compiled."""

import importlib.util
import inspect
import pathlib
import re
import sys
import typing
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src/bindings/python/tessera"
COMPILED = ROOT / "src/bindings/python/module.cpp"

PAGE = """
The Python package
==================

:doc:`The guide </docs/python>` has examples. Everything below is in the package ``tessera``.

Products
--------

.. autofunction:: tessera.gemm
.. autofunction:: tessera.gemm_batch
.. autoclass:: tessera.DeviceArray
   :members:
   :special-members: __dlpack__, __dlpack_device__

Backends and kernels
--------------------

.. autofunction:: tessera.backends
.. autoclass:: tessera.Backend()
   :members:
.. autofunction:: tessera.kernels
.. autoclass:: tessera.Kernel()
   :members:

Products of files
-----------------

.. autofunction:: tessera.multiply_files
.. autoclass:: tessera.FileProgress()
   :members:
.. autoclass:: tessera.FileReport()
   :members:

Comparing kernels
-----------------

.. autofunction:: tessera.compare
.. autoclass:: tessera.Row()
   :members:
.. autoclass:: tessera.Table
   :members:

Exceptions
----------

"""
EXCEPTIONS = (
    "Error",
    "InvalidArgument",
    "KernelRejected",
    "BackendUnavailable",
    "OutOfMemory",
    "DeviceError",
    "IoError",
    "InternalError",
)


def python_page():
    shown = "".join(f".. autoexception:: tessera.{name}\n   :show-inheritance:\n" for name in EXCEPTIONS)
    return PAGE.lstrip() + shown


def text_of(name):
    """A constant of the compiled module's source, such as gemm_doc."""
    found = re.search(rf'char\* {name} =\s*R"\((.*?)\)";', COMPILED.read_text(encoding="utf-8"), re.S)
    if not found:
        raise SystemExit(f"{COMPILED} has no text {name}")
    return found[1]


def load_package():
    """Puts the package into sys.modules, with _core.pyi in the place of the compiled module."""
    from importlib.machinery import SourceFileLoader

    sys.modules.setdefault("numpy", unittest.mock.MagicMock())  # the stub names its arrays, and no page shows types
    overload, typing.overload = typing.overload, lambda function: function
    try:
        loader = SourceFileLoader("tessera._core", str(PACKAGE / "_core.pyi"))
        core = importlib.util.module_from_spec(importlib.util.spec_from_loader("tessera._core", loader))
        loader.exec_module(core)
    finally:
        typing.overload = overload
    core.__version__ = ""
    core.element_types = []
    for name in ("gemm", "gemm_batch"):
        getattr(core, name).__doc__ = text_of(f"{name}_doc")
    sys.modules["tessera._core"] = core
    sys.path.insert(0, str(PACKAGE.parent))


def undescribed():
    """Each symbol on the page without a description, after load_package(). Sphinx would find it later."""
    import tessera

    for name in re.findall(r"auto\w+:: tessera\.(\w+)", python_page()):
        symbol = getattr(tessera, name)
        if not symbol.__doc__ or symbol.__doc__.startswith(f"{name}("):  # a dataclass describes itself so
            yield name
        if not isinstance(symbol, type):
            continue
        for member, value in vars(symbol).items():
            if not member.startswith("_") and isinstance(value, (property, type(undescribed))) and not value.__doc__:
                yield f"{name}.{member}"
        for field in vars(symbol).get("__annotations__", ()):
            if not re.search(rf"^    {field}: .*#: |^    #: .*\n    {field}: ", inspect.getsource(symbol), re.M):
                yield f"{name}.{field}"


def with_fields(lines):
    """A docstring's lines, with `name, name: text` as definitions; such a text goes on in lines that are indented."""
    shown = []
    for line in lines:
        field = re.match(r"([a-z_]+(?:, [a-z_]+)*): (.*)", line)
        if field:
            names = ", ".join(f"``{name}``" for name in field[1].split(", "))
            shown += ["", names, f"    {field[2]}"]
        else:
            shown.append(line)
    return shown
