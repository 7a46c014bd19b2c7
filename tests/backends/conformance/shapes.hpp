#pragma once

/// Shapes, fills and comparisons that the tests of element-wise operations, random numbers and reductions share.

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include <tessera/random.hpp>

#include "guarded.hpp"
#include "support/subject.hpp"

namespace tessera::conformance {

using ElementTypes = std::tuple<float, double, f16, bf16>;
using PartTypes = std::tuple<float, double>; ///< types of the parts of complex numbers

struct Shape {
  Index rows = 0;
  Index cols = 0;
};

inline std::vector<Shape> shapes() {
  if (options().quick) return {{0, 3}, {1, 1}, {17, 33}, {67, 129}};
  return {{0, 0},   {0, 5},   {5, 0},     {1, 1},    {1, 17},   {17, 1},  {2, 3},
          {31, 33}, {64, 64}, {100, 257}, {513, 61}, {1, 4099}, {4099, 1}};
}

/// Fills element (i, j) with make(i · columns + j).
template <class T, class Make>
void fill(Guarded<T>& x, Make make) {
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) x.at(i, j) = make(static_cast<std::uint64_t>(i * x.cols() + j));
}

/// Returns number e of a stream of random numbers in [−1, 1). The first million of each stream are made once and kept,
/// because thousands of cases begin the same streams.
template <class T>
T uniform(std::uint64_t seed, std::uint64_t e) {
  constexpr std::uint64_t most_kept = std::uint64_t{1} << 20;
  const auto number = [&](std::uint64_t at) {
    return random_element<T>(Distribution::Uniform, seed, at, Scalar<T>{-1}, Scalar<T>{1});
  };
  if (e >= most_kept) return number(e);
  thread_local std::map<std::uint64_t, std::vector<T>> streams;
  thread_local std::uint64_t last_seed = seed;
  thread_local std::vector<T>* stream = &streams[seed];
  if (seed != last_seed) {
    stream = &streams[seed];
    last_seed = seed;
  }
  while (stream->size() <= e) stream->push_back(number(stream->size()));
  return (*stream)[e];
}

/// Returns the elements of the host's image, without gaps.
template <class T>
std::vector<T> compact(Guarded<T>& x) {
  std::vector<T> elements;
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) elements.push_back(x.at(i, j));
  return elements;
}

template <class T>
std::size_t differing(const std::vector<T>& x, const std::vector<T>& y) {
  std::size_t count = x.size() == y.size() ? 0 : 1;
  for (std::size_t e = 0; e < std::min(x.size(), y.size()); ++e) count += same(x[e], y[e]) ? 0 : 1;
  return count;
}

} // namespace tessera::conformance
