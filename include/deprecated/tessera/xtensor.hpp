#pragma once

/// The name until 0.2 of <tessera/interop/xtensor.hpp>.

#include <tessera/interop/xtensor.hpp>
