#pragma once

/// The name until 0.2 of <tessera/checking/grade.hpp>.

#include <tessera/checking/grade.hpp>
