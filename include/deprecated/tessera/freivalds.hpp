#pragma once

/// The name until 0.2 of <tessera/checking/freivalds.hpp>.

#include <tessera/checking/freivalds.hpp>
