"""What Python knows of the stand-in."""

from tessera import _core, _types

print("Python:", *next(one for one in _types.ALL if one.word == "f16e6"))
print("Python finds:", _core.found, _core.by_dlpack, _core.of_numpy, _core.torch, _types.OPAQUE["float16_e6"])
print("Python's types of matrices:", *(one.name for one in _types.OF_MATRICES))
