#pragma once

/// The lens' cuda_runtime.h: what nvcc includes before a file of device code.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cuda_runtime_api.h"
#include "tessera_lens/arithmetic.hpp"
#include "tessera_lens/atomics.hpp"
#include "tessera_lens/vectors.hpp"
#include "tessera_lens/warp_functions.hpp"
