#pragma once

/// The functor of the reductions that gemm_compare races: the elements of a vector as they are.

#include <type_traits>

#include <tessera/user_kernel/user_kernel.hpp>

namespace tessera::compare_app {

template <class T>
struct Element {
  static constexpr const char* name = std::is_same_v<T, float> ? "compare_element f32" : "compare_element f64";
  In<T> x;
  TESSERA_FN T operator()(Index i) const { return x(i); }
};

} // namespace tessera::compare_app
