/// The element-wise operations on complex numbers give the reference's bits, and write nothing else.

#include <boost/test/unit_test.hpp>

#include "guarded.hpp"
#include "shapes.hpp"
#include "support/subject.hpp"

namespace tessera::conformance {
namespace {

struct ComplexOperation {
  MapOp op;
  Op op_x = Op::None;
  double beta = 0, beta_imaginary = 0;
  bool in_place = false; ///< z is y
};

/// Returns the elements of z without gaps. The result of the operation has rows×cols complex numbers.
template <class T>
std::vector<T> complex_result(Executor& executor, const ComplexOperation& o, const Shape& shape) {
  const bool turned = o.op_x != Op::None;
  const auto [rows, cols] = shape;
  Guarded<T> x(executor, turned ? cols : rows, 2 * (turned ? rows : cols), {6, 64, true});
  Guarded<T> y(executor, rows, 2 * cols, {2, 64, true});
  Guarded<T> z(executor, o.op == MapOp::ExpandComplex ? 2 * rows : rows, 2 * cols, {4, 64, false});
  fill(x, [](std::uint64_t e) { return uniform<T>(61, e); });
  fill(y, [](std::uint64_t e) { return uniform<T>(62, e); });
  for (auto* matrix : {&x, &y, &z}) matrix->upload();
  Guarded<T>& out = o.in_place ? y : z;
  MapCall call{.op = o.op, .type = dtype_of<T>, .rows = rows, .cols = cols, .alpha = 0.6875, .beta = o.beta};
  call.alpha_imaginary = -1.25;
  call.beta_imaginary = o.beta_imaginary;
  call.op_x = o.op_x;
  call.x = x.data();
  call.ldx = x.ld() / 2;
  call.y = y.data();
  call.ldy = y.ld() / 2;
  call.z = out.data();
  call.ldz = out.ld() / 2;
  throw_if_failed(executor.map(executor.default_queue(), call));
  throw_if_failed(executor.default_queue().synchronize());
  BOOST_TEST(x.unchanged(), "operation " << static_cast<int>(o.op) << " changed x");
  out.download();
  BOOST_TEST(out.surroundings_intact(), "operation " << static_cast<int>(o.op) << " wrote beside z");
  return compact(out);
}

} // namespace

BOOST_AUTO_TEST_SUITE(complex_elementwise)

BOOST_AUTO_TEST_CASE_TEMPLATE(operations_give_the_reference_bits, T, PartTypes) {
  const std::vector<ComplexOperation> operations{
      {MapOp::ExpandComplex},
      {MapOp::ExpandComplex, Op::Transpose},
      {MapOp::ExpandComplex, Op::ConjugateTranspose},
      {MapOp::CopyComplex},
      {MapOp::CopyComplex, Op::Transpose},
      {MapOp::CopyComplex, Op::ConjugateTranspose},
      {MapOp::CombineComplex},
      {MapOp::CombineComplex, Op::None, -0.5},
      {MapOp::CombineComplex, Op::None, -0.5, 0.3125, true},
  };
  for (const Shape& shape : shapes())
    for (const ComplexOperation& o : operations)
      BOOST_TEST(differing(complex_result<T>(subject(), o, shape), complex_result<T>(reference(), o, shape)) == 0u,
                 "operation " << static_cast<int>(o.op) << " on " << shape.rows << "×" << shape.cols);
}

/// This test holds for the reference as well: the expected numbers are written down here.
BOOST_AUTO_TEST_CASE(a_number_expands_to_its_real_matrix) {
  Guarded<double> x(subject(), 1, 4, {}), z(subject(), 4, 2, {});
  fill(x, [](std::uint64_t e) { return static_cast<double>(e + 1); });
  x.upload();
  MapCall call{.op = MapOp::ExpandComplex, .type = DType::F64, .rows = 2, .cols = 1};
  call.op_x = Op::ConjugateTranspose;
  call.x = x.data();
  call.ldx = 2;
  call.z = z.data();
  call.ldz = 1;
  throw_if_failed(subject().map(subject().default_queue(), call));
  throw_if_failed(subject().default_queue().synchronize());
  z.download();
  BOOST_TEST((compact(z) == std::vector<double>{1, -2, 2, 1, 3, -4, 4, 3}));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::conformance
