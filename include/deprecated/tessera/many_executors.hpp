#pragma once

/// The name until 0.2 of <tessera/beyond_memory/many_executors.hpp>.

#include <tessera/beyond_memory/many_executors.hpp>
