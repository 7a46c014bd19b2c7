#pragma once

/// The name until 0.2 of <tessera/user_kernel/user_kernel.hpp>.

#include <tessera/user_kernel/user_kernel.hpp>
