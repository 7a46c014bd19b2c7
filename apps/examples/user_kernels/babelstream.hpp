#pragma once

/// The five loops of BabelStream, over vectors of double. Source: Deakin, Price, Martineau, McIntosh-Smith, "Evaluating
/// attainable memory bandwidth of parallel programming models via BabelStream" (2018).

#include <tessera/user_kernel.hpp>

namespace stream {

using tessera::In;
using tessera::Index;
using tessera::Out;

struct Copy {
  static constexpr char name[] = "stream_copy";
  In<double> a;
  Out<double> c;
  TESSERA_FN void operator()(Index i) const { c(i) = a(i); }
};
struct Mul {
  static constexpr char name[] = "stream_mul";
  In<double> c;
  Out<double> b;
  double scalar;
  TESSERA_FN void operator()(Index i) const { b(i) = scalar * c(i); }
};
struct Add {
  static constexpr char name[] = "stream_add";
  In<double> a, b;
  Out<double> c;
  TESSERA_FN void operator()(Index i) const { c(i) = a(i) + b(i); }
};
struct Triad {
  static constexpr char name[] = "stream_triad";
  In<double> b, c;
  Out<double> a;
  double scalar;
  TESSERA_FN void operator()(Index i) const { a(i) = b(i) + scalar * c(i); }
};
struct Dot {
  static constexpr char name[] = "stream_dot";
  In<double> a, b;
  TESSERA_FN double operator()(Index i) const { return a(i) * b(i); }
};

} // namespace stream
