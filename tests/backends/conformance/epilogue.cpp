/// Epilogues: a kernel with a contract gives the reference's bits. Another kernel gives the bits of its own unrounded
/// product, to which the reference applies the epilogue.

#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "shapes.hpp"
#include "support/every_test.hpp"

namespace tessera::conformance {
namespace {

struct Layer {
  Index m, n, k;
  double alpha, beta;
  BiasPer bias_per;
  Index bias_step;
  Activation activation;
  bool residual;
  Op op_a = Op::None, op_b = Op::None;
  bool aligned = false; ///< C and the residual are aligned for vectors
};

std::ostream& operator<<(std::ostream& out, const Layer& x) {
  return out << x.m << "×" << x.n << "×" << x.k << " alpha=" << x.alpha << " beta=" << x.beta
             << " bias=" << static_cast<int>(x.bias_per) << " activation=" << static_cast<int>(x.activation)
             << " residual=" << x.residual;
}

/// All steps of an epilogue, on all paths: packed, few-rows and direct products on the CPU, several segments, edges of
/// tiles. The aligned layers are for the ways in which a GPU's matrix units store results: slices of k, tiles, one row,
/// Cᵀ.
constexpr std::array layers{
    Layer{33, 47, 70, 1.0, 0.0, BiasPer::Column, 1, Activation::Gelu, true},
    Layer{65, 40, 1100, 0.75, -0.5, BiasPer::Row, 3, Activation::Relu, true, Op::Transpose, Op::None},
    Layer{1, 129, 2050, 1.0, 0.0, BiasPer::Column, 2, Activation::Gelu, false, Op::None, Op::Transpose},
    Layer{17, 300, 1030, 1.0, 0.0, BiasPer::None, 1, Activation::Relu, false},
    Layer{200, 190, 180, -1.0, 1.0, BiasPer::None, 1, Activation::None, true},
    Layer{40, 30, 0, 1.0, 0.5, BiasPer::Row, 1, Activation::Gelu, true},
    Layer{40, 30, 20, 0.0, 0.0, BiasPer::Column, 1, Activation::Relu, true},
    Layer{66, 70, 2600, 1.0, 0.5, BiasPer::Row, 1, Activation::Gelu, true, Op::None, Op::None, true},
    Layer{150, 133, 96, 0.75, -1.0, BiasPer::Column, 1, Activation::Gelu, true, Op::None, Op::None, true},
    Layer{1, 2064, 90, 1.0, 0.0, BiasPer::Row, 1, Activation::Relu, true, Op::None, Op::None, true},
    Layer{12, 2064, 2100, 1.0, 0.5, BiasPer::Column, 1, Activation::Relu, true, Op::None, Op::None, true},
    Layer{20, 136, 200, 1.0, 1.0, BiasPer::Row, 2, Activation::Gelu, true, Op::Transpose, Op::Transpose, true},
};

/// A layer with its operands in the executor's memory. T is the type of the operands, R the type of C.
template <class T, class R>
class LayerProblem {
 public:
  explicit LayerProblem(const Layer& x)
      : x_(x),
        a_(subject(), x.op_a == Op::None ? x.m : x.k, x.op_a == Op::None ? x.k : x.m, {3, 64, true}),
        b_(subject(), x.op_b == Op::None ? x.k : x.n, x.op_b == Op::None ? x.n : x.k, {0, 64, false}),
        c_(subject(), x.m, x.n, x.aligned ? Placement{gap(x.n), 64, false} : Placement{5, 64, true}),
        bias_(subject(), x.bias_per == BiasPer::Row ? x.m : x.n, 1, {x.bias_step - 1, 64, true}),
        residual_(subject(), x.m, x.n, {x.aligned ? gap(x.n) + 8 : 2, 64, false}) {
    fill(a_, [](std::uint64_t e) { return uniform<T>(61, e); });
    fill(b_, [](std::uint64_t e) { return uniform<T>(62, e); });
    if (x.beta != 0) fill(c_, [](std::uint64_t e) { return uniform<R>(63, e); });
    fill(bias_, [](std::uint64_t e) { return uniform<R>(64, e); });
    fill(residual_, [](std::uint64_t e) { return uniform<R>(65, e); });
    a_.upload();
    b_.upload();
    bias_.upload();
    residual_.upload();
    before_ = compact(c_);
  }

  void check(const GemmKernel& kernel) {
    fill(c_, [&](std::uint64_t e) { return before_[e]; });
    c_.upload();
    GemmCall call = plain(kernel, dtype_of<R>);
    call.c = c_.data();
    call.ldc = c_.ld();
    call.epilogue = epilogue(bias_.data(), residual_.data());
    Status status = subject().gemm(subject().default_queue(), call, kernel.name);
    if (status.code == StatusCode::Rejected) {
      BOOST_TEST(c_.unchanged(), kernel.name << ", " << x_ << ": rejected, but C has changed");
      return;
    }
    throw_if_failed(status);
    throw_if_failed(subject().default_queue().synchronize());
    c_.download();
    BOOST_TEST(c_.surroundings_intact(), kernel.name << ", " << x_ << ": it wrote beside C");
    BOOST_TEST((a_.unchanged() && b_.unchanged() && bias_.unchanged() && residual_.unchanged()),
               kernel.name << ", " << x_ << ": an operand has changed");
    const std::vector<R> expected = has_contract(kernel.summation) ? from_reference(kernel) : from_own_product(kernel);
    BOOST_TEST(differing(compact(c_), expected) == 0u,
               kernel.name << ", " << x_ << ", " << to_string(dtype_of<T>) << " to " << to_string(dtype_of<R>));
  }

 private:
  using S = Scalar<T>;

  /// Returns how many elements are missing to the next multiple of 8.
  static constexpr Index gap(Index cols) { return (8 - cols % 8) % 8; }

  GemmCall plain(const GemmKernel& kernel, DType result) {
    return {{.type = dtype_of<T>,
             .math = kernel.math,
             .op_a = x_.op_a,
             .op_b = x_.op_b,
             .m = x_.m,
             .n = x_.n,
             .k = x_.k,
             .alpha = x_.alpha,
             .a = a_.data(),
             .lda = a_.ld(),
             .b = b_.data(),
             .ldb = b_.ld(),
             .beta = x_.beta,
             .ldc = x_.n},
            result};
  }
  Epilogue epilogue(const R* bias, const R* residual) const {
    return {.bias_per = x_.bias_per,
            .bias = bias,
            .bias_step = bias_.ld(),
            .activation = x_.activation,
            .residual = x_.residual ? residual : nullptr,
            .ld_residual = residual_.ld()};
  }

  /// Returns the result of the reference's kernel for the contract of this one, which is computed once.
  const std::vector<R>& from_reference(const GemmKernel& kernel) {
    const auto [name, math] = contract_of(kernel);
    const auto [found, is_new] = contract_bits_.try_emplace(math, before_);
    std::vector<R>& c = found->second;
    if (!is_new) return c;
    GemmCall call = plain({.math = math}, dtype_of<R>);
    call.a = a_.host();
    call.b = b_.host();
    call.c = c.data();
    call.epilogue = epilogue(bias_.host(), residual_.host());
    throw_if_failed(reference().gemm(reference().default_queue(), call, name));
    return c;
  }

  /// Returns the kernel's own product, computed unrounded and without an epilogue, after the reference has applied the
  /// epilogue.
  std::vector<R> from_own_product(const GemmKernel& kernel) {
    Guarded<S> wide(subject(), x_.m, x_.n, {0, 0, false});
    if (x_.beta != 0)
      for (Index i = 0; i < x_.m; ++i)
        for (Index j = 0; j < x_.n; ++j)
          wide.at(i, j) = static_cast<S>(before_[static_cast<std::size_t>(i * x_.n + j)]);
    wide.upload();
    GemmCall call = plain(kernel, dtype_of<S>);
    call.c = wide.data();
    throw_if_failed(subject().gemm(subject().default_queue(), call, kernel.name));
    throw_if_failed(subject().default_queue().synchronize());
    wide.download();
    std::vector<R> c(before_.size());
    throw_if_failed(
        reference().finish(reference().default_queue(), {.type = dtype_of<S>,
                                                         .rows = x_.m,
                                                         .cols = x_.n,
                                                         .x_type = dtype_of<S>,
                                                         .x = wide.host(),
                                                         .ldx = wide.ld(),
                                                         .z_type = dtype_of<R>,
                                                         .z = c.data(),
                                                         .ldz = x_.n,
                                                         .epilogue = epilogue(bias_.host(), residual_.host())}));
    return c;
  }

  Layer x_;
  Guarded<T> a_, b_;
  Guarded<R> c_, bias_, residual_;
  std::vector<R> before_;
  std::map<Math, std::vector<R>> contract_bits_; ///< by the mode of the contract
};

/// Returns the multiply-adds of the largest layer for a kernel: the model of matrix units takes a second for 10⁸.
Index most_work(const GemmKernel& kernel) {
  if (options().quick) return 40 * 30 * 100;
  return kernel.summation == Summation::HopperUnits ? 3'000'000 / products_of_model(kernel)
                                                    : std::numeric_limits<Index>::max();
}

/// Returns the layer as the backend under test gets it: two segments of k are enough where no kernel cuts k into
/// slices.
Layer shortened(Layer x) {
  if (test::everything_is_tested()) return x;
  if (subject().capabilities().host_memory && x.m * x.n > 20'000) x.k = std::min<Index>(x.k, canonical_segment + 76);
  return x;
}

template <class T, class R>
void check_rows() {
  const auto kernels = subject().gemm_kernels();
  const std::size_t every = options().every;
  std::vector<std::size_t> turns(kernels.size()); // with --every=N a kernel gets each N-th layer, not always the first
  std::iota(turns.begin(), turns.end(), std::size_t{0});
  for (const Layer& any : layers) {
    const Layer layer = shortened(any);
    std::optional<LayerProblem<T, R>> problem;
    for (std::size_t r = 0; r < kernels.size(); ++r) {
      const GemmKernel& kernel = kernels[r];
      if (kernel.type != dtype_of<T> || layer.m * layer.n * layer.k > most_work(kernel)) continue;
      if (kernel.yardstick && !has_contract(kernel.summation)) continue; // it may differ for another C
      if (turns[r]++ % every != 0) continue;
      if (!problem) problem.emplace(layer);
      problem->check(kernel);
    }
  }
}

/// Checks a batch whose products share one B. T is the type of the operands, R the type of C.
template <class T, class R>
void check_batch(Index m, Index n) {
  constexpr Index count = 5, k = 20;
  Guarded<T> a(subject(), count * m, k, {0, 0, false}), b(subject(), k, n, {0, 0, false});
  Guarded<R> bias(subject(), 1, n, {0, 0, false}), residual(subject(), m, n, {0, 0, false});
  fill(a, [](std::uint64_t e) { return uniform<T>(71, e); });
  fill(b, [](std::uint64_t e) { return uniform<T>(72, e); });
  fill(bias, [](std::uint64_t e) { return uniform<R>(73, e); });
  fill(residual, [](std::uint64_t e) { return uniform<R>(74, e); });
  Guarded<R> c(subject(), count * m, n, {0, 64, false});
  for (Guarded<T>* x : {&a, &b}) x->upload();
  for (Guarded<R>* x : {&bias, &residual, &c}) x->upload();
  std::vector<R> expected(static_cast<std::size_t>(count * m * n));
  GemmBatch batch{.call = {{.type = dtype_of<T>,
                            .m = m,
                            .n = n,
                            .k = k,
                            .a = a.data(),
                            .lda = k,
                            .b = b.data(),
                            .ldb = n,
                            .c = c.data(),
                            .ldc = n},
                           dtype_of<R>,
                           {.bias_per = BiasPer::Column,
                            .bias = bias.data(),
                            .activation = Activation::Gelu,
                            .residual = residual.data(),
                            .ld_residual = n}},
                  .count = count,
                  .stride_a = m * k,
                  .stride_c = m * n};
  throw_if_failed(subject().gemm_batch(subject().default_queue(), {&batch, 1}));
  throw_if_failed(subject().default_queue().synchronize());
  c.download();
  BOOST_TEST(c.surroundings_intact());
  batch.call.a = a.host();
  batch.call.b = b.host();
  batch.call.c = expected.data();
  batch.call.epilogue.bias = bias.host();
  batch.call.epilogue.residual = residual.host();
  for (Index i = 0; i < count; ++i)
    throw_if_failed(reference().gemm(reference().default_queue(), batch.product(i), "canonical"));
  BOOST_TEST(differing(compact(c), expected) == 0u,
             count << " of " << m << "×" << n << ", " << to_string(dtype_of<T>) << " to " << to_string(dtype_of<R>));
}

} // namespace

BOOST_AUTO_TEST_SUITE(epilogues)

BOOST_AUTO_TEST_CASE_TEMPLATE(of_the_operands_type, T, ElementTypes) { check_rows<T, T>(); }
BOOST_AUTO_TEST_CASE(wider_than_the_operands) {
  check_rows<f16, float>();
  check_rows<bf16, float>();
}
BOOST_AUTO_TEST_CASE(narrower_than_the_operands) {
  check_rows<float, f16>();
  check_rows<float, bf16>();
}

/// Every product of a batch has its epilogue, even where a backend computes the products together.
BOOST_AUTO_TEST_CASE(of_batches) {
  for (const auto& [m, n] : {std::pair<Index, Index>{9, 14}, {24, 30}, {40, 70}, {130, 131}}) {
    check_batch<float, float>(m, n);
    check_batch<float, bf16>(m, n);
    check_batch<double, double>(m, n);
    check_batch<f16, f16>(m, n);
    check_batch<bf16, float>(m, n);
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::conformance
