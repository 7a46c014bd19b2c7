#pragma once

/// The name until 0.2 of <tessera/interop/io.hpp>.

#include <tessera/interop/io.hpp>
