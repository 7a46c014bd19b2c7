"""The element types, as the library's own list has them."""

from __future__ import annotations

from typing import NamedTuple

from . import _core


class ElementType(NamedTuple):
    """A type of elements, or of complex numbers of two elements."""

    word: str  #: on the command line; "" of complex numbers
    name: str  #: in NumPy and other array libraries
    bytes: int  #: of one element
    buffer: str  #: the format in the buffer protocol; "": no buffer has such elements, and NumPy has no such type
    dlpack: int  #: DLPack's code
    of_matrices: bool  #: do products of matrices have it? A certificate reads the others.
    matrix_units: str  #: the math mode of matrix units that leaves such operands as they are; "strict" if there is none
    what: str  #: what it is, for people

    @property
    def is_complex(self) -> bool:
        return self.buffer.startswith("Z")


#: All types; the types of matrices come first.
ALL = [ElementType(*facts[:5], bool(facts[5]), *facts[6:]) for facts in _core.element_types]
#: The types of matrices. A tuple of math modes for the compiled module has this order.
OF_MATRICES = [one for one in ALL if one.of_matrices]
#: Names of types that no buffer exports, and the bytes of an element.
OPAQUE = {one.name: one.bytes for one in ALL if not one.buffer}
