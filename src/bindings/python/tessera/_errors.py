"""The exceptions of Tessera. Each is also the built-in exception that a Python program expects for such an error."""


class Error(Exception):
    """Base of all exceptions that come from the library."""


class InvalidArgument(Error, ValueError):
    """Shapes, strides, sizes, aliasing, unknown words: the message names the argument and its value."""


class KernelRejected(Error, ValueError):
    """The kernel that was named, or every kernel, does not take this product; the message has the reasons."""


class BackendUnavailable(Error, RuntimeError):
    """The backend that was named cannot be used on this machine; the message says why and what to do about it."""


class OutOfMemory(Error, MemoryError):
    """Host or device memory is exhausted; the call has freed everything that it allocated."""


class DeviceError(Error, RuntimeError):
    """A device or its driver failed."""


class IoError(Error, OSError):
    """A file is missing, malformed or cannot be written."""


class InternalError(Error, RuntimeError):
    """A bug in Tessera or in a plug-in."""


class DataCorruption(Error, ArithmeticError):
    """A product that verifies itself is wrong; the message names the elements. The result is undefined."""
