#pragma once

/// Operands in the caller's memory, for entry points that multiply.

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <tessera/tessera.hpp>

#include "trial.hpp"

namespace memory_test {

using tessera::Index;

/// A, B and C in the caller's memory. Elements are small whole numbers; C is larger than any product's result needs.
template <class T>
struct HostProduct {
  std::vector<T> a, b, c;
  Index m, n, k;

  HostProduct(Index rows, Index cols, Index depth)
      : a(static_cast<std::size_t>(rows * depth)),
        b(static_cast<std::size_t>(depth * cols)),
        c(static_cast<std::size_t>(rows * cols)),
        m(rows),
        n(cols),
        k(depth) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<T>(static_cast<float>(i % 7) - 3.0f);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<T>(static_cast<float>(i % 5) - 2.0f);
  }

  void reset() {
    for (T& element : c) element = T(0.5f);
  }
  std::string bytes() const { return {reinterpret_cast<const char*>(c.data()), c.size() * sizeof(T)}; }
};

/// An entry point that multiplies x: call(*x) is the product.
template <class T, class Call>
EntryPoint product_entry(std::string name, Index m, Index n, Index k, Call call) {
  const auto x = std::make_shared<HostProduct<T>>(m, n, k);
  return {.name = std::move(name),
          .reset = [x] { x->reset(); },
          .call = [x, call] { call(*x); },
          .result = [x] { return x->bytes(); }};
}

} // namespace memory_test
