#pragma once

/// The name until 0.2 of <tessera/checking/check.hpp>.

#include <tessera/checking/check.hpp>
