#pragma once

/// The name until 0.2 of <tessera/user_kernel/math.hpp>.

#include <tessera/user_kernel/math.hpp>
