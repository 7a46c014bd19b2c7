#pragma once

/// The name until 0.2 of <tessera/checking/compare.hpp>.

#include <tessera/checking/compare.hpp>
