#pragma once

/// The examination of a machine, for tessera/_health.py.

#include <Python.h>

namespace tessera::python {

/// Returns a new tuple: findings, gaps, backends, cores, rounds, runs, seconds and the text. `backends` is a sequence
/// of words; an empty one stands for every backend.
PyObject* examine_machine(PyObject* seconds, PyObject* backends);

/// Returns a new tuple of the numbers of VerifyCounts.
PyObject* counts_of_verified();

} // namespace tessera::python
