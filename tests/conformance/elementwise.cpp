/// Element-wise operations give the reference's bits, whatever the shape and the leading dimensions.

#include <array>

#include <boost/test/unit_test.hpp>

#include "guarded.hpp"
#include "shapes.hpp"
#include "subject.hpp"

namespace tessera::conformance {
namespace {

constexpr std::array<const char*, 6> names{"fill", "identity", "axpby", "scale", "multiply", "transpose"};
constexpr std::array<double, 4> scalars{1.0, -1.0, 0.0, 0.6875};

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

/// z, compact. Checks that nothing but z was written.
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
      for (const double alpha : scalars)
        for (const double beta : scalars)
          if (op == MapOp::Axpby || beta == 1.0) compare<T>({op, shape, alpha, beta});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(scale_works_in_place, T, ElementTypes) {
  for (const Shape shape : shapes()) compare<T>({MapOp::Scale, shape, 0.6875, 1.0, true});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::conformance
