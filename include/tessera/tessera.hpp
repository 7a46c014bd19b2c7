#pragma once

/// The everyday headers of Tessera.

#include <tessera/backend.hpp>
#include <tessera/gemm.hpp>
#include <tessera/matrix.hpp>
#include <tessera/status.hpp>
#include <tessera/types.hpp>
#include <tessera/version.hpp>
