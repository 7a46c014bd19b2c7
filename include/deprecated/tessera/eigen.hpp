#pragma once

/// The name until 0.2 of <tessera/interop/eigen.hpp>.

#include <tessera/interop/eigen.hpp>
