/// The contract of the modes of matrix units, on kernels of any backend: an element of C depends on its row of op(A),
/// its column of op(B) and k. The sizes of the product, the element's place, transposes, leading dimensions, and the
/// other products of a batch do not matter.

#include <array>
#include <iostream>
#include <optional>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "shapes.hpp"

namespace tessera::conformance {
namespace {

/// A part of a product: some neighbouring rows and columns of C.
struct Part {
  Index row, rows, col, cols;
  Op op_a, op_b;
  Placement a, b, c;
};

constexpr std::array parts{
    Part{0, 1, 0, 1, Op::None, Op::None, {}, {}, {}},
    Part{69, 1, 3, 66, Op::None, Op::Transpose, {1, 64, true}, {}, {5, 64, true}},
    Part{5, 64, 68, 1, Op::Transpose, Op::None, {}, {16, 0, false}, {}},
    Part{33, 17, 20, 33, Op::Transpose, Op::Transpose, {5, 64, true}, {1, 64, true}, {1, 0, false}},
    Part{0, 70, 0, 69, Op::None, Op::Transpose, {}, {5, 0, true}, {16, 64, false}},
};

/// Operands with terms that are far apart, so that every change of the order changes bits.
template <class T>
class WholeProduct {
 public:
  WholeProduct(const GemmKernel& kernel, Index k) : kernel_(kernel), k_(k), a_(m * k), b_(k * n), c_(m * n) {
    for (std::size_t e = 0; e < a_.size(); ++e) a_[e] = draw(91, e);
    for (std::size_t e = 0; e < b_.size(); ++e) b_[e] = draw(92, e);
    c_ = product({0, m, 0, n, Op::None, Op::None, {}, {}, {}});
  }

  void check(const Part& part) {
    std::vector<float> expected;
    for (Index i = part.row; i < part.row + part.rows; ++i)
      for (Index j = part.col; j < part.col + part.cols; ++j)
        expected.push_back(c_[static_cast<std::size_t>(i * n + j)]);
    BOOST_TEST(differing(product(part), expected) == 0u,
               to_string(kernel_.math) << ' ' << kernel_.name << ", k = " << k_ << ": " << part.rows << "×" << part.cols
                                       << " elements from (" << part.row << ", " << part.col << ") on");
  }

  /// Computes the rows in a batch, some at a time, which share B.
  void check_batch() {
    constexpr Index each = 14, count = m / each;
    Guarded<T> a(subject(), m, k_, {0, 0, false}), b(subject(), k_, n, {0, 0, false});
    Guarded<float> c(subject(), m, n, {0, 64, false});
    fill(a, [&](std::uint64_t e) { return a_[e]; });
    fill(b, [&](std::uint64_t e) { return b_[e]; });
    a.upload();
    b.upload();
    c.upload();
    GemmBatch batch{.call = call(a, b, c), .count = count, .stride_a = each * a.ld(), .stride_c = each * c.ld()};
    batch.call.m = each;
    throw_if_failed(subject().gemm_batch(subject().default_queue(), {&batch, 1}, kernel_.name));
    throw_if_failed(subject().default_queue().synchronize());
    c.download();
    BOOST_TEST(differing(compact(c), c_) == 0u, to_string(kernel_.math)
                                                    << ' ' << kernel_.name << ", k = " << k_ << ", in a batch");
  }

 private:
  static constexpr Index m = 70, n = 69;

  static T draw(std::uint64_t seed, std::uint64_t e) {
    return random_element<T>(Distribution::Wide, seed, e, Scalar<T>{-8}, Scalar<T>{8});
  }
  GemmCall call(Guarded<T>& a, Guarded<T>& b, Guarded<float>& c) const {
    return {{.type = dtype_of<T>,
             .math = kernel_.math,
             .m = m,
             .n = n,
             .k = k_,
             .a = a.data(),
             .lda = a.ld(),
             .b = b.data(),
             .ldb = b.ld(),
             .c = c.data(),
             .ldc = c.ld()},
            DType::F32};
  }

  std::vector<float> product(const Part& x) const {
    const bool turned_a = x.op_a == Op::Transpose, turned_b = x.op_b == Op::Transpose;
    Guarded<T> a(subject(), turned_a ? k_ : x.rows, turned_a ? x.rows : k_, x.a);
    Guarded<T> b(subject(), turned_b ? x.cols : k_, turned_b ? k_ : x.cols, x.b);
    Guarded<float> c(subject(), x.rows, x.cols, x.c);
    for (Index p = 0; p < k_; ++p) {
      for (Index i = 0; i < x.rows; ++i)
        (turned_a ? a.at(p, i) : a.at(i, p)) = a_[static_cast<std::size_t>((x.row + i) * k_ + p)];
      for (Index j = 0; j < x.cols; ++j)
        (turned_b ? b.at(j, p) : b.at(p, j)) = b_[static_cast<std::size_t>(p * n + x.col + j)];
    }
    a.upload();
    b.upload();
    c.upload();
    GemmCall part = call(a, b, c);
    part.m = x.rows;
    part.n = x.cols;
    part.op_a = x.op_a;
    part.op_b = x.op_b;
    throw_if_failed(subject().gemm(subject().default_queue(), part, kernel_.name));
    throw_if_failed(subject().default_queue().synchronize());
    c.download();
    return compact(c);
  }

  const GemmKernel& kernel_;
  Index k_;
  std::vector<T> a_, b_;
  std::vector<float> c_;
};

template <class T>
void check_rows() {
  for (const GemmKernel& kernel : subject().gemm_kernels()) {
    if (kernel.type != dtype_of<T> || kernel.summation != Summation::HopperUnits) continue;
    for (const Index k : {290, 2100, 16500}) { // the emulated modes are the strict one up to 256
      if (k > 290 && options().quick) continue;
      if (k > 2100 / products_of_model(kernel) && options().backend == Backend::Reference)
        continue; // a model, which treats each element alone
      std::optional<WholeProduct<T>> whole;
      try {
        whole.emplace(kernel, k);
      } catch (const KernelRejected& error) { // a machine without these matrix units
        std::cout << kernel.name << " rejected k = " << k << ": " << error.what() << '\n';
        continue;
      }
      for (const Part& part : parts) whole->check(part);
      whole->check_batch();
    }
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(matrix_units)

BOOST_AUTO_TEST_CASE(rows_of_f32_depend_on_nothing_else) { check_rows<float>(); }
BOOST_AUTO_TEST_CASE(rows_of_f16_depend_on_nothing_else) { check_rows<f16>(); }
BOOST_AUTO_TEST_CASE(rows_of_bf16_depend_on_nothing_else) { check_rows<bf16>(); }

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::conformance
