/// Products whose k comes in parts: every kernel that keeps the contract gives the bits of the undivided product on the
/// reference.

#include <array>
#include <ostream>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/running_sums.hpp>

#include "shapes.hpp"

namespace tessera::conformance {
namespace {

struct PartedShape {
  Index m, n, k;
  Index part; ///< of k, except for the last one
  double alpha = 1, beta = 0;
  Op op_a = Op::None, op_b = Op::None;
  bool layer = false; ///< with an epilogue
};

std::ostream& operator<<(std::ostream& out, const PartedShape& x) {
  return out << x.m << "×" << x.n << "×" << x.k << " in parts of " << x.part << ", alpha=" << x.alpha
             << " beta=" << x.beta << (x.layer ? ", with an epilogue" : "");
}

constexpr std::array parted_products{
    PartedShape{33, 47, 2100, 1024},
    PartedShape{20, 65, 3072, 2048, -0.75, 0.5, Op::Transpose, Op::Transpose},
    PartedShape{1, 130, 1500, 1024, 1, -1, Op::None, Op::Transpose},
    PartedShape{70, 3, 2049, 1024, 1, 0, Op::Transpose, Op::None, true},
    PartedShape{40, 36, 4100, 3072, 0.5, 1, Op::None, Op::None, true},
    PartedShape{12, 10, 700, 1024, 2, 1},
    PartedShape{9, 14, 1030, 1024, 0, 0.5},
};

/// A product with its operands in the executor's memory. T is the type of the operands, R the type of C.
template <class T, class R>
class PartedProduct {
 public:
  explicit PartedProduct(const PartedShape& x)
      : x_(x),
        a_(subject(), x.op_a == Op::None ? x.m : x.k, x.op_a == Op::None ? x.k : x.m, {3, 64, true}),
        b_(subject(), x.op_b == Op::None ? x.k : x.n, x.op_b == Op::None ? x.n : x.k, {0, 64, false}),
        bias_(subject(), x.n, 1, {0, 64, false}) {
    fill(a_, [](std::uint64_t e) { return uniform<T>(71, e); });
    fill(b_, [](std::uint64_t e) { return uniform<T>(72, e); });
    fill(bias_, [](std::uint64_t e) { return uniform<R>(74, e); });
    a_.upload();
    b_.upload();
    bias_.upload();
    expected_ = from_reference();
  }

  /// Computes the product by the kernel of this name, or by the executor's choice, and checks the bits.
  void check(const std::string& kernel) {
    Guarded<R> c(subject(), x_.m, x_.n, {5, 64, true});
    fill_c(c);
    Guarded<Scalar<T>> workspace(subject(), x_.m, x_.n, {2, 64, true});
    workspace.upload();
    Queue& queue = subject().default_queue();
    RunningSums sums{workspace.data(), workspace.ld()};
    for (Index first = 0; first < x_.k; first += x_.part) {
      GemmCall part = call(a_.data(), b_.data(), nullptr, nullptr);
      part.k = std::min(x_.part, x_.k - first);
      part.a = a_.data() + (x_.op_a == Op::None ? first : first * a_.ld());
      part.b = b_.data() + (x_.op_b == Op::None ? first * b_.ld() : first);
      const Status status = add_segments(subject(), queue, part, sums, kernel);
      if (status.code == StatusCode::Rejected) return;
      throw_if_failed(status);
    }
    throw_if_failed(finish_product(subject(), queue, call(nullptr, nullptr, &c, bias_.data()), sums));
    throw_if_failed(queue.synchronize());
    c.download();
    workspace.download();
    BOOST_TEST_CONTEXT(kernel << ", " << x_ << ", " << to_string(dtype_of<T>) << " to " << to_string(dtype_of<R>)) {
      BOOST_TEST(differing(compact(c), expected_) == 0u, "bits differ from the undivided product's");
      BOOST_TEST((c.surroundings_intact() && workspace.surroundings_intact()), "it wrote beside C or the sums");
      BOOST_TEST((a_.unchanged() && b_.unchanged() && bias_.unchanged()), "an operand has changed");
    }
  }

 private:
  void fill_c(Guarded<R>& c) const {
    if (x_.beta != 0) fill(c, [](std::uint64_t e) { return uniform<R>(73, e); });
    c.upload();
  }

  GemmCall call(const T* a, const T* b, const Guarded<R>* c, const R* bias) const {
    GemmCall call{{.type = dtype_of<T>,
                   .op_a = x_.op_a,
                   .op_b = x_.op_b,
                   .m = x_.m,
                   .n = x_.n,
                   .k = x_.k,
                   .alpha = x_.alpha,
                   .a = a,
                   .lda = a_.ld(),
                   .b = b,
                   .ldb = b_.ld(),
                   .beta = x_.beta},
                  dtype_of<R>};
    if (c != nullptr) {
      call.c = c->data();
      call.ldc = c->ld();
    }
    if (x_.layer) call.epilogue = {.bias_per = BiasPer::Column, .bias = bias, .activation = Activation::Relu};
    return call;
  }

  std::vector<R> from_reference() {
    Guarded<R> before(subject(), x_.m, x_.n, {});
    fill_c(before);
    std::vector<R> c = compact(before);
    GemmCall whole = call(a_.host(), b_.host(), nullptr, bias_.host());
    whole.c = c.data();
    whole.ldc = x_.n;
    throw_if_failed(reference().gemm(reference().default_queue(), whole, "canonical"));
    return c;
  }

  PartedShape x_;
  Guarded<T> a_, b_;
  Guarded<R> bias_;
  std::vector<R> expected_;
};

template <class T, class R>
void check_parts() {
  for (const PartedShape& x : parted_products) {
    PartedProduct<T, R> product(x);
    product.check("");
    for (const GemmKernel& kernel : subject().gemm_kernels())
      if (kernel.type == dtype_of<T> && kernel.math == Math::Strict && kernel.summation == Summation::Canonical)
        product.check(kernel.name);
  }
}

/// Calls add_segments() and finish_product() with these arguments and expects an error with this text.
void check_refused(const GemmCall& call, RunningSums sums, StatusCode code, const std::string& text, bool at_the_end,
                   std::string_view kernel = {}) {
  Queue& queue = subject().default_queue();
  const Status status =
      at_the_end ? finish_product(subject(), queue, call, sums) : add_segments(subject(), queue, call, sums, kernel);
  BOOST_TEST((status.code == code));
  BOOST_TEST(status.why.find(text) != std::string::npos, status.why);
}

} // namespace

BOOST_AUTO_TEST_SUITE(running_sums)

BOOST_AUTO_TEST_CASE(of_f32) { check_parts<float, float>(); }
BOOST_AUTO_TEST_CASE(of_f32_with_a_result_of_16_bits) { check_parts<float, bf16>(); }
BOOST_AUTO_TEST_CASE(of_f64) { check_parts<double, double>(); }
BOOST_AUTO_TEST_CASE(of_f16) { check_parts<f16, f16>(); }
BOOST_AUTO_TEST_CASE(of_bf16_with_a_result_of_f32) { check_parts<bf16, float>(); }

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  Guarded<float> a(subject(), 4, 2048, {}), b(subject(), 2048, 6, {}), c(subject(), 4, 6, {}), s(subject(), 4, 6, {});
  GemmCall call{
      {.m = 4, .n = 6, .k = 2048, .a = a.data(), .lda = 2048, .b = b.data(), .ldb = 6, .c = c.data(), .ldc = 6}};
  const RunningSums sums{s.data(), 6}, of_c{c.data(), 6, false}, narrow{s.data(), 5, false};
  using enum StatusCode;
  check_refused(call, narrow, InvalidArgument, "the place of c: gemm: ldc = 5 is less than the 6 columns", false);
  check_refused(call, narrow, InvalidArgument, "the place of c: gemm: ldc = 5 is less than the 6 columns", true);
  check_refused(call, {a.data(), 2048}, InvalidArgument, "c overlaps a", false);
  check_refused(call, of_c, InvalidArgument, "they overlap c", true);
  check_refused(call, {nullptr, 6}, InvalidArgument, "c is null", false);
  for (const GemmKernel& kernel : subject().gemm_kernels())
    if (kernel.type == DType::F32 && kernel.math == Math::Strict && kernel.summation == Summation::Other)
      check_refused(call, sums, Rejected, "adds in an order of its own", false, kernel.name);
  check_refused(call, sums, InvalidArgument, "unknown kernel 'no_kernel'", false, "no_kernel");
  call.math = Math::Bf16;
  check_refused(call, sums, InvalidArgument, "math mode bf16 promises no order", false);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::conformance
