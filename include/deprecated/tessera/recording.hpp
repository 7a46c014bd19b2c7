#pragma once

/// The name until 0.2 of <tessera/performance/recording.hpp>.

#include <tessera/performance/recording.hpp>
