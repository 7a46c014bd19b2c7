#pragma once

/// The name until 0.2 of <tessera/checking/ulp.hpp>.

#include <tessera/checking/ulp.hpp>
