"""Refuses functions that inductor compiled within batch_invariant(): the loops that it makes of several operators, and its
own loops for small products, are in none of the lists of _invariance.py."""

import sys

import torch

MESSAGE = (
    "batch_invariant(): inductor computes with loops of its own, whose rows may depend on the batch; compile the model with "
    "backend='aot_eager', or call the operators of tessera.torch in it and leave batch_invariant() out"
)


def _refusing(method, is_in_force):
    def call(self, *arguments, **keywords):
        if is_in_force():
            raise RuntimeError(MESSAGE)
        return method(self, *arguments, **keywords)

    return call


class Refusal:
    """Stands before inductor's compiler, and before what it compiled, until close()."""

    def __init__(self, is_in_force):
        self._before = []
        places = [getattr(torch, "_TorchCompileInductorWrapper", None)]
        for name, attribute in (("output_code", "CompiledFxGraph"), ("codecache", "CompiledFxGraph")):
            places.append(getattr(sys.modules.get(f"torch._inductor.{name}"), attribute, None))
        for place in dict.fromkeys(p for p in places if p is not None and "__call__" in vars(p)):
            self._before.append((place, place.__call__))
            place.__call__ = _refusing(place.__call__, is_in_force)

    def close(self):
        for place, method in self._before:
            place.__call__ = method
