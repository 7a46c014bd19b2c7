#pragma once

/// The name until 0.2 of <tessera/performance/offload.hpp>.

#include <tessera/performance/offload.hpp>
