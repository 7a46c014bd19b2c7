#pragma once
#include <cstdint>
#include <type_traits>
#include <tessera/user_kernel/view.hpp>
namespace tessera {
TESSERA_FN float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
TESSERA_FN double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
}
