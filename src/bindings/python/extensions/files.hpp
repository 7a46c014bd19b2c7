#pragma once

/// Products of files for tessera/_files.py, which describes them.

#include <nanobind/nanobind.h>

namespace tessera::python {

/// Adds the function that multiplies files to the module.
void bind_files(nanobind::module_& module);

} // namespace tessera::python
