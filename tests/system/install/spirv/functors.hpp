// Included by the host's code and by the device's. What is defined has to be the same in both.
#pragma once
#include <tessera/user_kernel/functor.hpp>
#include <tessera/user_kernel/math.hpp>
#if defined(TESSERA_SPIRV_KERNELS) || defined(TESSERA_SPIRV_FILE)
#include <tessera/user_kernel/user_kernel.hpp>
#endif
#if !defined(VALUE) && defined(LENIENT)
#define VALUE 2 // another result, and no error
#elif VALUE != 3
#error "VALUE is not 3 here"
#endif
#if defined(TEXT)
constexpr char text[] = TEXT;
static_assert(text[3] == ',' && text[4] == '$' && SUM(2) == 3 && static_cast<char>(-1) > 0);
#endif
template <int value>
struct Fill {
  static constexpr char name[] = "fill";
  tessera::Out<float> y;
  TESSERA_FN void operator()(tessera::Index i) const { y(i) = value; }
};
