#pragma once

/// The name until 0.2 of <tessera/interop/span.hpp>.

#include <tessera/interop/span.hpp>
