#pragma once

/// The functions of tessera._core that tessera/torch calls with tensors.

#include <nanobind/nanobind.h>

namespace tessera::python {

/// Adds the functions to the module.
void bind_tensors(nanobind::module_& module);

} // namespace tessera::python
