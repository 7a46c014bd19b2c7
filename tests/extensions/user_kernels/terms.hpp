#pragma once

/// The functors of these tests, which the host's compiler and nvcc see.

#undef NDEBUG // a functor below fails an assertion, in every build
#include <cassert>
#include <cmath>
#include <cstdint>

#include <tessera/user_kernel/user_kernel.hpp>

#include "saxpy.hpp"

namespace tessera::test {

/// One index; views in an array.
struct Triad {
  static constexpr char name[] = "triad";
  In<double> x[2];
  Out<double> y;
  double a;
  TESSERA_FN void operator()(Index i) const { y(i) = x[0](i) + a * x[1](i); }
};

/// A type of its own for every view.
struct Mixed {
  static constexpr char name[] = "mixed";
  In<f16> x;
  In<float> bias; ///< a vector, for each column
  InOut<bf16> y;
  TESSERA_FN void operator()(Index i, Index j) const { y(i, j) = x(i, j) + bias(j) + y(i, j); }
};

/// Writes where it is, so that each index has to be visited once.
struct Place {
  static constexpr char name[] = "place";
  InOut<double> y;
  TESSERA_FN void operator()(Index i, Index j) const { y(i, j) = y(i, j) + double(i * 100000 + j); }
};

/// A product and a sum, which may not be contracted.
struct TwoRoundings {
  static constexpr char name[] = "two_roundings";
  In<float> x;
  Out<float> y;
  TESSERA_FN void operator()(Index i) const { y(i) = x(i) * x(i) + x(i + 1) * 3.0f; }
};

/// The elements themselves, for one index and for two.
template <class T>
struct Values;
template <>
struct Values<float> {
  static constexpr char name[] = "values f32";
  In<float> x;
  TESSERA_FN float operator()(Index i) const { return x(i); }
  TESSERA_FN float operator()(Index i, Index j) const { return x(i, j); }
};
template <>
struct Values<double> {
  static constexpr char name[] = "values f64";
  In<double> x;
  TESSERA_FN double operator()(Index i) const { return x(i); }
  TESSERA_FN double operator()(Index i, Index j) const { return x(i, j); }
};
template <>
struct Values<std::int64_t> {
  static constexpr char name[] = "values i64";
  In<std::int64_t> x;
  TESSERA_FN std::int64_t operator()(Index i) const { return x(i); }
  TESSERA_FN std::int64_t operator()(Index i, Index j) const { return x(i, j); }
};

/// A number for each index without memory: large index spaces cost nothing.
struct Sine {
  static constexpr char name[] = "sine";
  TESSERA_FN double operator()(Index i) const {
    const auto mixed = static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15u;
    return static_cast<double>(static_cast<std::int64_t>(mixed)) * 0x1p-63;
  }
};

/// The sums of two columns at once, by an operation of the test's own.
struct Pair {
  double sum;
  float largest;
  std::int32_t count;
};
struct PairOf {
  static constexpr char name[] = "pair_of";
  In<double> x;
  TESSERA_FN Pair operator()(Index i) const { return {x(i), static_cast<float>(x(i)), 1}; }
};
struct AddPairs {
  static constexpr char name[] = "add_pairs";
  TESSERA_FN Pair identity() const { return {0.0, -1e30f, 0}; }
  TESSERA_FN Pair operator()(Pair x, Pair y) const {
    return {x.sum + y.sum, x.largest > y.largest ? x.largest : y.largest, x.count + y.count};
  }
};

template <class T>
struct Exp;
template <class T>
struct Log;
template <class T>
struct Tanh;
template <>
struct Exp<float> {
  static constexpr char name[] = "exp f32";
  In<float> x;
  Out<float> y;
  TESSERA_FN void operator()(Index i) const { y(i) = tessera::exp(x(i)); }
};
template <>
struct Exp<double> {
  static constexpr char name[] = "exp f64";
  In<double> x;
  Out<double> y;
  TESSERA_FN void operator()(Index i) const { y(i) = tessera::exp(x(i)); }
};
template <>
struct Log<float> {
  static constexpr char name[] = "log f32";
  In<float> x;
  Out<float> y;
  TESSERA_FN void operator()(Index i) const { y(i) = tessera::log(x(i)); }
};
template <>
struct Log<double> {
  static constexpr char name[] = "log f64";
  In<double> x;
  Out<double> y;
  TESSERA_FN void operator()(Index i) const { y(i) = tessera::log(x(i)); }
};
template <>
struct Tanh<float> {
  static constexpr char name[] = "tanh f32";
  In<float> x;
  Out<float> y;
  TESSERA_FN void operator()(Index i) const { y(i) = tessera::tanh(x(i)); }
};
template <>
struct Tanh<double> {
  static constexpr char name[] = "tanh f64";
  In<double> x;
  Out<double> y;
  TESSERA_FN void operator()(Index i) const { y(i) = tessera::tanh(x(i)); }
};

/// Writes far outside its view: an illegal address on a device. The tests run it on no host.
struct Wild {
  static constexpr char name[] = "wild";
  Out<float> y;
  Index far;
  TESSERA_FN void operator()(Index i) const { y(i + far) = 1.0f; }
};
/// Fails an assertion of the device.
struct Asserting {
  static constexpr char name[] = "asserting";
  In<float> x;
  TESSERA_FN void operator()([[maybe_unused]] Index i) const { assert(x(i) > 0); }
};

/// Functions of the C library, whose bits the devices' own libraries decide.
struct LibraryFunctions {
  static constexpr char name[] = "library_functions";
  In<double> x;
  Out<double> y;
  TESSERA_FN void operator()(Index i) const {
    const double sine = std::sin(x(i)), power = std::pow(std::fabs(x(i)), 1.25), angle = std::atan2(x(i), 0.5);
    y(i) = std::fma(sine, power, angle);
  }
};

/// sqrt, fma, abs, min and max in one number.
struct ExactOnes {
  static constexpr char name[] = "exact_ones";
  In<double> x;
  Out<double> y;
  TESSERA_FN void operator()(Index i) const {
    const double root = tessera::sqrt(tessera::abs(x(i)));
    y(i) = tessera::min(tessera::fma(root, x(i), 0.1), tessera::max(x(i), -0.5));
  }
};

} // namespace tessera::test
