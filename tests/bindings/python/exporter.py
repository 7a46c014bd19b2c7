"""Hand-made exporters of the buffer protocol, for objects that leave out what PEP 3118 lets them leave out.

The exporter is a type of C whose slots are callbacks of ctypes, because a class of Python can export buffers only from
Python 3.12 on.
"""

import ctypes

Getter = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int)


class View(ctypes.Structure):
    """The structure Py_buffer."""

    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)),
        ("internal", ctypes.c_void_p),
    ]


class Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]


class Spec(ctypes.Structure):
    """The structure PyType_Spec."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(Slot)),
    ]


exported = {}  # what each object exports, by its address


def fill(this, view, flags):
    made = exported[id(this)]
    ctypes.memmove(view, ctypes.addressof(made), ctypes.sizeof(View))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(this))
    View.from_address(view).obj = id(this)
    return 0


getter = Getter(fill)
get_buffer, base_flags = 1, 1 << 18 | 1 << 10  # Py_bf_getbuffer; Py_TPFLAGS_DEFAULT | BASETYPE
slots = (Slot * 2)(Slot(get_buffer, ctypes.cast(getter, ctypes.c_void_p)), Slot(0, None))
spec = Spec(b"exporter.Base", object.__basicsize__, 0, base_flags, slots)
from_spec = ctypes.pythonapi.PyType_FromSpec
from_spec.restype, from_spec.argtypes = ctypes.py_object, [ctypes.POINTER(Spec)]
Base = from_spec(ctypes.byref(spec))


def sizes(numbers):
    return None if numbers is None else (ctypes.c_ssize_t * len(numbers))(*numbers)


class Exporter(Base):
    """Exports the array's memory with these words in place of its own; None leaves a word out."""

    def __init__(self, array, **words):
        self.array = array
        view = View(buf=array.ctypes.data, len=array.nbytes, itemsize=array.itemsize, readonly=0, ndim=array.ndim)
        given = {"format": array.dtype.char.encode(), "shape": array.shape, "strides": array.strides, "suboffsets": None} | words
        self.kept = {name: sizes(given.pop(name)) for name in ("shape", "strides", "suboffsets")}
        for name, numbers in self.kept.items():
            if numbers is not None:
                setattr(view, name, numbers)
        for name, value in given.items():
            setattr(view, name, value)
        exported[id(self)] = view

    def __del__(self):
        exported.pop(id(self), None)
