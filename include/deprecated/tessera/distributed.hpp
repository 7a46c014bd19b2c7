#pragma once

/// The name until 0.2 of <tessera/distributed/distributed.hpp>.

#include <tessera/distributed/distributed.hpp>
