#pragma once

/// The name until 0.2 of <tessera/performance/tuning.hpp>.

#include <tessera/performance/tuning.hpp>
