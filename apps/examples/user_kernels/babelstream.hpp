#pragma once

/// The five loops of BabelStream, over vectors of float or double. Source: Deakin, Price, Martineau, McIntosh-Smith,
/// "Evaluating attainable memory bandwidth of parallel programming models via BabelStream" (2018).

#include <type_traits>

#include <tessera/user_kernel/user_kernel.hpp>

namespace stream {

using tessera::In;
using tessera::Index;
using tessera::Out;

template <class T>
inline constexpr bool is_float = std::is_same_v<T, float>;

template <class T>
struct Copy {
  static constexpr const char* name = is_float<T> ? "stream_copy f32" : "stream_copy f64";
  In<T> a;
  Out<T> c;
  TESSERA_FN void operator()(Index i) const { c(i) = a(i); }
};
template <class T>
struct Mul {
  static constexpr const char* name = is_float<T> ? "stream_mul f32" : "stream_mul f64";
  In<T> c;
  Out<T> b;
  T scalar;
  TESSERA_FN void operator()(Index i) const { b(i) = scalar * c(i); }
};
template <class T>
struct Add {
  static constexpr const char* name = is_float<T> ? "stream_add f32" : "stream_add f64";
  In<T> a, b;
  Out<T> c;
  TESSERA_FN void operator()(Index i) const { c(i) = a(i) + b(i); }
};
template <class T>
struct Triad {
  static constexpr const char* name = is_float<T> ? "stream_triad f32" : "stream_triad f64";
  In<T> b, c;
  Out<T> a;
  T scalar;
  TESSERA_FN void operator()(Index i) const { a(i) = b(i) + scalar * c(i); }
};
template <class T>
struct Dot {
  static constexpr const char* name = is_float<T> ? "stream_dot f32" : "stream_dot f64";
  In<T> a, b;
  TESSERA_FN T operator()(Index i) const { return a(i) * b(i); }
};

} // namespace stream
