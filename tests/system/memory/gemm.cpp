/// Products in C++ while memory is short.

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <tessera/beyond_memory/many_executors.hpp>
#include <tessera/complex.hpp>
#include <tessera/gemm_batch.hpp>
#include <tessera/queue.hpp>

#include "products.hpp"

using namespace tessera;
using namespace memory_test;

namespace {

constexpr Backend processors[]{Backend::Reference, Backend::OpenMP, Backend::Tbb};

std::string named(const std::string& what, Backend backend) { return what + ", " + std::string(to_string(backend)); }

template <class T>
EntryPoint single(const std::string& name, const GemmOptions& options, Index size, Op op_b = Op::None) {
  return product_entry<T>(name, size, size, size, [options, op_b](HostProduct<T>& x) {
    gemm(Op::None, op_b, x.m, x.n, x.k, Scalar<T>(2), x.a.data(), x.k, x.b.data(), op_b == Op::None ? x.n : x.k,
         Scalar<T>(1), x.c.data(), x.n, options);
  });
}

/// Memory that is short after the product is told of as parts that were written.
EntryPoint verified(Backend backend) {
  EntryPoint entry =
      single<double>(named("verified gemm", backend), {.backend = backend, .verify = Verify::Repair}, 70);
  entry.may_write_parts = true;
  return entry;
}

EntryPoint complex_product(Backend backend) {
  using Number = std::complex<float>;
  return product_entry<Number>(named("complex gemm", backend), 40, 30, 50, [backend](HostProduct<Number>& x) {
    gemm<float>(Op::Transpose, Op::ConjugateTranspose, x.m, x.n, x.k, Number(2, 1), x.a.data(), x.m, x.b.data(), x.k,
                Number(1, 0.5f), x.c.data(), x.n, {.backend = backend});
  });
}

/// Matrices hold the result, as a program's do.
EntryPoint matrix_product(Backend backend) {
  struct Matrices {
    HostProduct<float> values{60, 50, 40};
    Matrix<float> c{};
  };
  const auto x = std::make_shared<Matrices>();
  return {.name = named("gemm of matrices", backend),
          .reset = [x] { x->c = Matrix<float>(); },
          .call =
              [x, backend] {
                const HostProduct<float>& v = x->values;
                const auto view = [](const std::vector<float>& data, Index rows, Index cols) {
                  return MatrixView<const float>(
                      detail::wrap_host(const_cast<float*>(data.data()), rows, cols, cols, DType::F32));
                };
                x->c = gemm(view(v.a, v.m, v.k), view(v.b, v.k, v.n), backend);
              },
          .result =
              [x] {
                std::string text;
                for (Index i = 0; i < x->c.rows(); ++i)
                  text.append(reinterpret_cast<const char*>(x->c.row(i).data()), x->c.row(i).size_bytes());
                return text;
              }};
}

/// `count` products, each of which has its own rows of A and C and the same B.
template <class T>
EntryPoint batch(const std::string& name, Backend backend, Index rows, Index n, Index k, Op op_b, Index count) {
  EntryPoint entry = product_entry<T>(name, rows * count, n, k, [=](HostProduct<T>& x) {
    gemm_batch<T, T>(Op::None, op_b, rows, n, k, Scalar<T>(2), x.a.data(), k, rows * k, x.b.data(),
                     op_b == Op::None ? n : k, 0, Scalar<T>(1), x.c.data(), n, rows * n, count, {.backend = backend});
  });
  entry.may_write_parts = true;
  return entry;
}

/// An int8_units product whose first rows are too small for whole numbers, so that they need strict sums. Where many
/// do, these are a product of their own, which needs memory; where that fails, the first product still does its work.
EntryPoint whole_numbers(Backend backend, Index strict_rows) {
  const auto x = std::make_shared<HostProduct<double>>(40, 50, 1100);
  for (Index i = 0; i < strict_rows * x->k; ++i) x->a[static_cast<std::size_t>(i)] *= 0x1p-950;
  return {.name = named("int8_units, " + std::to_string(strict_rows) + " strict rows", backend),
          .reset = [x] { x->reset(); },
          .call =
              [x, backend] {
                gemm(Op::None, Op::None, x->m, x->n, x->k, 1.0, x->a.data(), x->k, x->b.data(), x->n, 0.0, x->c.data(),
                     x->n, {.backend = backend, .math = Math::Int8Units});
              },
          .result = [x] { return x->bytes(); },
          .warm_up = [backend] { executor(backend); }};
}

} // namespace

BOOST_AUTO_TEST_SUITE(products)

BOOST_AUTO_TEST_CASE(first_products) {
  for (const Backend backend : {Backend::Reference, Backend::OpenMP}) // TBB's first use is in library.cpp
    check_first_use(single<float>(named("gemm", backend), {.backend = backend}, 60));
  check_first_use(single<float>("gemm, auto", {}, 60));
}

BOOST_AUTO_TEST_CASE(products_of_whole_numbers) {
  for (const Backend backend : {Backend::Reference, Backend::OpenMP})
    for (const Index strict_rows : {0, 10, 40}) check_first_use(whole_numbers(backend, strict_rows));
}

BOOST_AUTO_TEST_CASE(products_of_new_sizes) {
  for (const Backend backend : processors)
    for (EntryPoint entry :
         {single<float>(named("gemm f32", backend), {.backend = backend}, 400),
          single<double>(named("gemm f64, B transposed", backend), {.backend = backend}, 200, Op::Transpose),
          verified(backend), complex_product(backend)}) {
      entry.warm_up = [backend] { executor(backend); };
      check_first_use(entry);
    }
}

BOOST_AUTO_TEST_CASE(later_products) {
  for (const Backend backend : processors) {
    check_later_use(single<bf16>(named("gemm bf16", backend), {.backend = backend}, 70));
    check_later_use(matrix_product(backend));
  }
}

BOOST_AUTO_TEST_CASE(every_kernel) {
  for (const char* kernel :
       {"simd_packed", "simd_panel", "simd_direct", "cache_blocked", "double_packed", "single_packed", "transposed",
        "naive", "kahan", "strassen"}) { // tiled_4x4 allocates nothing
    const bool copies_b = std::string_view(kernel) == "simd_panel" || std::string_view(kernel) == "simd_direct";
    const bool recurses = std::string_view(kernel) == "strassen";
    const Math math = recurses                              ? Math::Strassen
                      : std::string_view(kernel) == "kahan" ? Math::Compensated
                                                            : Math::Strict;
    const GemmOptions options{.backend = Backend::OpenMP, .math = math, .kernel = kernel};
    EntryPoint entry = single<float>(std::string("gemm, ") + kernel, options, recurses ? 513 : 130,
                                     copies_b ? Op::Transpose : Op::None);
    entry.warm_up = [] { executor(Backend::OpenMP); };
    check_first_use(entry);
  }
}

BOOST_AUTO_TEST_CASE(epilogues) {
  for (const char* kernel : {"", "naive"}) { // naive leaves the epilogue and the rounding to a pass over C
    const auto x = std::make_shared<HostProduct<float>>(50, 40, 30);
    const auto c = std::make_shared<HostProduct<bf16>>(50, 40, 30);
    check_later_use({.name = std::string("gemm with epilogue ") + kernel,
                     .reset = [c] { c->reset(); },
                     .call =
                         [x, c, kernel] {
                           gemm<float, bf16>(Op::None, Op::None, x->m, x->n, x->k, 1, x->a.data(), x->k, x->b.data(),
                                             x->n, 1, c->c.data(), x->n, {.backend = Backend::Tbb, .kernel = kernel},
                                             {.activation = Activation::Gelu});
                         },
                     .result = [c] { return c->bytes(); }});
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(batches)

BOOST_AUTO_TEST_CASE(later_batches) {
  for (const Backend backend : {Backend::Reference, Backend::OpenMP, Backend::Tbb}) {
    check_later_use(batch<float>(named("batch f32", backend), backend, 4, 8, 8, Op::None, 50));
    check_later_use(batch<double>(named("batch f64, copies of B", backend), backend, 3, 90, 90, Op::Transpose, 20));
    check_later_use(batch<bf16>(named("batch bf16", backend), backend, 6, 20, 30, Op::None, 20));
    EntryPoint large = batch<float>(named("batch of large products", backend), backend, 400, 400, 100, Op::None, 2);
    large.warm_up = [backend] { executor(backend); };
    check_first_use(large);
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(streams)

namespace {

/// A product on the two small devices, which exchange slices if they reach one another.
EntryPoint product_on_two_devices() {
  EntryPoint entry = product_entry<float>("gemm on two devices", 160, 150, 40, [](HostProduct<float>& x) {
    Executor* const devices[]{&executor(Backend::Cuda, 0), &executor(Backend::Cuda, 1)};
    const auto a = MatrixView<float>::wrap(x.a.data(), x.m, x.k, x.k);
    const auto b = MatrixView<float>::wrap(x.b.data(), x.k, x.n, x.n);
    gemm(devices, 2.0f, a, b, 1.0f, MatrixView<float>::wrap(x.c.data(), x.m, x.n, x.n));
  });
  entry.may_write_parts = true;
  return entry;
}

/// A product in a queue, and copies there and back.
EntryPoint queued_product(Backend backend) {
  return product_entry<float>("gemm in a queue, " + std::string(to_string(backend)), 30, 31, 20,
                              [backend](HostProduct<float>& x) {
                                ExecutionQueue queue(backend);
                                const auto a = MatrixView<float>::wrap(x.a.data(), x.m, x.k, x.k);
                                const auto b = MatrixView<float>::wrap(x.b.data(), x.k, x.n, x.n);
                                auto c = Matrix<float>::pinned(x.m, x.n, queue.executor());
                                Matrix<float> turned(x.n, x.m);
                                prefetch(a, queue);
                                gemm(queue, 2.0f, a, b, 0.0f, turned.transposed());
                                copy(c, turned.transposed(), queue);
                                prefetch_to_host(c, queue);
                                queue.finish();
                                const auto* elements = std::as_const(c).data();
                                for (Index i = 0; i < x.m; ++i)
                                  std::copy_n(elements + i * c.ld(), x.n, x.c.data() + i * x.n);
                              });
}

} // namespace

BOOST_AUTO_TEST_CASE(products_that_a_device_cannot_hold) {
  ::setenv("TESSERA_PLUGIN_PATH", PLUGIN_DIR "/small_device", 1);
  ::setenv("SMALL_DEVICE", "300000", 1);
  EntryPoint entry = product_entry<float>("streamed gemm", 300, 300, 40, [](HostProduct<float>& x) {
    gemm(Op::None, Op::None, x.m, x.n, x.k, 2.0f, x.a.data(), x.k, x.b.data(), x.n, 1.0f, x.c.data(), x.n,
         {.backend = Backend::Cuda});
  });
  entry.may_write_parts = true;
  check_later_use(entry);
  entry = complex_product(Backend::Cuda);
  entry.may_write_parts = true;
  check_later_use(entry);
  entry = batch<float>("streamed batch", Backend::Cuda, 40, 40, 40, Op::None, 30);
  entry.may_write_parts = true;
  check_later_use(entry);
  entry = matrix_product(Backend::Cuda);
  entry.may_write_parts = true;
  check_later_use(entry);
  check_later_use(product_on_two_devices());
  ::setenv("SMALL_DEVICE_REACHES", "1", 1);
  check_later_use(product_on_two_devices());
  for (const Backend backend : {Backend::Cuda, Backend::OpenMP}) check_later_use(queued_product(backend));
  ::unsetenv("TESSERA_PLUGIN_PATH");
  ::unsetenv("SMALL_DEVICE");
  ::unsetenv("SMALL_DEVICE_REACHES");
}

BOOST_AUTO_TEST_SUITE_END()
