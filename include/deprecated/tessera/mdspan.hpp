#pragma once

/// The name until 0.2 of <tessera/interop/mdspan.hpp>.

#include <tessera/interop/mdspan.hpp>
