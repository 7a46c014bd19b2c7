#pragma once

/// Records products one after the other and checks that each replay gives them the bits of a plain run.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/executor.hpp>
#include <tessera/performance/recording.hpp>

#include "on_device.hpp"

namespace tessera::cuda_test {

/// Two operands without padding. A smaller product reads their first rows and columns with their pitch.
struct Operands {
  Index m, n, k;
  OnDevice a, b;

  Operands(Executor& device, DType type, Index rows, Index cols, Index depth)
      : m(rows), n(cols), k(depth), a(device, type, rows, depth), b(device, type, depth, cols) {
    a.fill_randomly(1);
    b.fill_randomly(2);
  }
};

/// A product, its C, and the bits of a plain run.
class RecordedProduct {
 public:
  RecordedProduct(Executor& device, const Operands& x, DType type, Math math, std::string kernel)
      : RecordedProduct(device, x, type, math, std::move(kernel), x.m, x.n, x.k) {}
  RecordedProduct(Executor& device, const Operands& x, DType type, Math math, std::string kernel, Index m, Index n,
                  Index k)
      : device_(device),
        kernel_(std::move(kernel)),
        c_(device, type, m, n),
        call_{{.type = type,
               .math = math,
               .m = m,
               .n = n,
               .k = k,
               .alpha = 1.5,
               .a = x.a.data(),
               .lda = x.k,
               .b = x.b.data(),
               .ldb = x.n,
               .c = c_.data(),
               .ldc = n}} {}

  const GemmCall& call() const { return call_; }
  Status enqueue(Queue& queue) const { return device_.gemm(queue, call_, kernel_); }
  /// Runs the product and keeps its bits. Returns false if the kernel rejects the product.
  bool expect() {
    c_.fill_with_nan();
    const Status status = enqueue(device_.default_queue());
    if (status.code == StatusCode::Rejected) return false;
    check_ok(status);
    expected_ = c_.bytes();
    return true;
  }
  void forget() { c_.fill_with_nan(); }
  std::vector<std::byte> bytes() const { return c_.bytes(); }
  void check(const std::string& when) const {
    BOOST_TEST((c_.bytes() == expected_), kernel_ << " " << to_string(call_.type) << " " << to_string(call_.math) << " "
                                                  << call_.m << "x" << call_.n << "x" << call_.k
                                                  << " has other bits: " << when);
  }

 private:
  Executor& device_;
  std::string kernel_;
  OnDevice c_;
  GemmCall call_;
  std::vector<std::byte> expected_;
};

using Products = std::vector<std::unique_ptr<RecordedProduct>>;

/// Returns the product of all of the operands by `kernel`, or null if the kernel rejects it or its library has no
/// kernel for it.
inline std::unique_ptr<RecordedProduct> product_of(Executor& device, const Operands& x, const GemmKernel& kernel) {
  // int8_units packs whole tiles of lines into 16 planes, which the tests' memory holds for a short k alone.
  const Index k = kernel.math == Math::Int8Units ? std::min(x.k, Index{1100}) : x.k;
  auto product = std::make_unique<RecordedProduct>(device, x, kernel.type, kernel.math, kernel.name, x.m, x.n, k);
  if (kernel.reject != nullptr && kernel.reject(kernel, product->call(), device.capabilities()) != nullptr)
    return nullptr;
  return product->expect() ? std::move(product) : nullptr;
}

inline void forget(const Products& products) {
  for (const auto& product : products) product->forget();
}
inline void check(const Products& products, const std::string& when) {
  for (const auto& product : products) product->check(when);
}

inline std::unique_ptr<Recording> recorded(Queue& queue, const Products& products) {
  std::unique_ptr<Recording> recording;
  const auto all = [&] {
    for (const auto& product : products)
      if (Status status = product->enqueue(queue); !status.ok()) return status;
    return Status{};
  };
  check_ok(record(queue, all, recording));
  BOOST_REQUIRE(recording != nullptr);
  return recording;
}

inline void check_replays(Executor& device, const Products& products) {
  Queue& queue = device.default_queue();
  forget(products);
  std::vector<std::vector<std::byte>> untouched;
  for (const auto& product : products) untouched.push_back(product->bytes());
  const std::unique_ptr<Recording> recording = recorded(queue, products);
  for (std::size_t p = 0; p < products.size(); ++p)
    BOOST_TEST((products[p]->bytes() == untouched[p]), "recording runs nothing");
  for (const char* when : {"first replay", "second replay"}) {
    forget(products);
    check_ok(recording->replay(queue));
    check(products, when);
  }
}

} // namespace tessera::cuda_test
