/// Element-wise operations give the reference's bits, for any shape and any leading dimensions.

#include <array>

#include <boost/test/unit_test.hpp>

#include "guarded.hpp"
#include "shapes.hpp"
#include "support/subject.hpp"

namespace tessera::conformance {
namespace {

constexpr std::array<const char*, 6> names{"fill", "identity", "axpby", "scale", "multiply", "transpose"};
constexpr std::array<double, 4> factors{1.0, -1.0, 0.0, 0.6875};

struct Operation {
  MapOp op;
  Shape shape;
  double alpha, beta;
  bool in_place = false; ///< z is x
};

std::ostream& operator<<(std::ostream& out, const Operation& o) {
  return out << names[static_cast<std::size_t>(o.op)] << (o.in_place ? " in place" : "") << ' ' << o.shape.rows << "×"
             << o.shape.cols << " alpha=" << o.alpha << " beta=" << o.beta;
}

/// Returns the elements of z without gaps. Checks that nothing but z was written.
template <class T>
std::vector<T> result(Executor& executor, const Operation& o) {
  const bool turned = o.op == MapOp::Transpose;
  const auto [rows, cols] = o.shape;
  Guarded<T> x(executor, turned ? cols : rows, turned ? rows : cols, {3, 64, true});
  Guarded<T> y(executor, rows, cols, {0, 64, false});
  Guarded<T> z(executor, rows, cols, {5, 64, false});
  fill(x, [](std::uint64_t e) { return uniform<T>(21, e); });
  fill(y, [](std::uint64_t e) { return uniform<T>(22, e); });
  x.upload();
  y.upload();
  z.upload();
  Guarded<T>& out = o.in_place ? x : z;
  const MapCall call{.op = o.op,
                     .type = dtype_of<T>,
                     .rows = rows,
                     .cols = cols,
                     .alpha = o.alpha,
                     .beta = o.beta,
                     .x = x.data(),
                     .ldx = x.ld(),
                     .y = y.data(),
                     .ldy = y.ld(),
                     .z = out.data(),
                     .ldz = out.ld()};
  throw_if_failed(executor.map(executor.default_queue(), call));
  throw_if_failed(executor.default_queue().synchronize());
  BOOST_TEST(y.unchanged(), o << ": y has changed");
  if (!o.in_place) BOOST_TEST(x.unchanged(), o << ": x has changed");
  out.download();
  BOOST_TEST(out.surroundings_intact(), o << ": it wrote beside z");
  return compact(out);
}

template <class X, class Z>
std::vector<Z> converted(Executor& executor, const Shape& shape) {
  Guarded<X> x(executor, shape.rows, shape.cols, {3, 64, true});
  Guarded<Z> z(executor, shape.rows, shape.cols, {5, 64, false});
  fill(x, [](std::uint64_t e) {
    return random_element<X>(e % 3 == 0 ? Distribution::Special : Distribution::Uniform, 23, e, Scalar<X>(0.25),
                             Scalar<X>(0.5));
  });
  x.upload();
  z.upload();
  MapCall call{.op = MapOp::Convert, .type = dtype_of<Z>, .rows = shape.rows, .cols = shape.cols};
  call.x_type = dtype_of<X>;
  call.x = x.data();
  call.ldx = x.ld();
  call.z = z.data();
  call.ldz = z.ld();
  throw_if_failed(executor.map(executor.default_queue(), call));
  throw_if_failed(executor.default_queue().synchronize());
  BOOST_TEST(x.unchanged(), "a conversion changed its input");
  z.download();
  BOOST_TEST(z.surroundings_intact(), "a conversion wrote beside z");
  return compact(z);
}

template <class T>
void compare(const Operation& o) {
  const std::vector<T> got = result<T>(subject(), o);
  const std::vector<T> expected = result<T>(reference(), o);
  BOOST_TEST(differing(got, expected) == 0u, o << ": bits differ from the reference's");
}

} // namespace

BOOST_AUTO_TEST_SUITE(elementwise)

BOOST_AUTO_TEST_CASE_TEMPLATE(operations_give_the_reference_bits, T, ElementTypes) {
  for (const Shape shape : shapes())
    for (const MapOp op : {MapOp::Fill, MapOp::Identity, MapOp::Axpby, MapOp::Scale, MapOp::Multiply, MapOp::Transpose})
      for (const double alpha : factors)
        for (const double beta : factors)
          if (op == MapOp::Axpby || beta == 1.0) compare<T>({op, shape, alpha, beta});
}

/// Converts from every type to every type. The elements have all magnitudes; some are NaN or Inf.
BOOST_AUTO_TEST_CASE_TEMPLATE(conversions_give_the_reference_bits, X, ElementTypes) {
  for (const DType type : {DType::F32, DType::F64, DType::F16, DType::BF16})
    for (const Shape shape : shapes())
      with_element(type, [&](auto zero) {
        using Z = decltype(zero);
        const std::vector<Z> got = converted<X, Z>(subject(), shape);
        const std::vector<Z> expected = converted<X, Z>(reference(), shape);
        BOOST_TEST(differing(got, expected) == 0u, to_string(dtype_of<X>) << " to " << to_string(type));
      });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(scale_works_in_place, T, ElementTypes) {
  for (const Shape shape : shapes()) compare<T>({MapOp::Scale, shape, 0.6875, 1.0, true});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::conformance
