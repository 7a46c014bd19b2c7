/// What the header makes of an operation.

#include <stdexcept>
#include <string>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/user_kernel/operation.hpp>

namespace tessera::test {
namespace {

struct Plain {
  static constexpr char name[] = "plain";
  static void run(const OperationRun&, In<bf16>, Out<std::int32_t>, InOut<double>) {}
};
struct Full {
  static constexpr char name[] = "full-1.0+x", summary[] = "what it does";
  static constexpr int sizes = 3, ulps = 4;
  static constexpr double flops = 2, bytes = 12;
  static const char* reject(const OperationSizes& s) { return s.k > 9 ? "k is too large" : nullptr; }
  static std::array<ArrayShape, 2> shapes(const OperationSizes& s) { return {{{s.m, s.k}, {1, s.n + 1}}}; }
  static Extremum<float> run(const OperationRun& x, In<float> a, Out<float> b) {
    BOOST_TEST(a.rows() == 5);
    BOOST_TEST(b.cols() == 7);
    return {2.5f, x.m, x.options.threads};
  }
};
struct Square {
  static constexpr char name[] = "square";
  static constexpr int sizes = 2;
  static std::int64_t run(const OperationRun& x, Out<float>) { return -x.m * x.n; }
};

template <class Thrown>
struct Throws {
  static constexpr char name[] = "throws";
  static double run(const OperationRun&) { throw Thrown("the text"); }
};
struct ThrowsNoException {
  static constexpr char name[] = "throws_no_exception";
  static double run(const OperationRun&) { throw 1; }
};
struct NoMemory {
  static constexpr char name[] = "no_memory";
  static double run(const OperationRun&) { throw std::bad_alloc(); }
};

template <class Op>
const OperationEntry& entry_of() {
  const OperationTable& table = *detail::table_of_operations<Op>();
  BOOST_TEST(table.count == 1u);
  return *table.entries;
}

template <class Op>
Status run(OperationValue& value) {
  Executor& e = executor(Backend::Reference);
  return entry_of<Op>().run({e, e.default_queue(), {}, 0, nullptr, value});
}

BOOST_AUTO_TEST_SUITE(entries)

BOOST_AUTO_TEST_CASE(what_is_left_out_has_a_default) {
  const OperationEntry& entry = entry_of<Plain>();
  BOOST_TEST(entry.name == std::string("plain"));
  BOOST_TEST(entry.summary == std::string());
  BOOST_TEST(entry.sizes == 1);
  BOOST_TEST((entry.type == DType::BF16));
  BOOST_REQUIRE(entry.count == 3u);
  BOOST_TEST((entry.arrays[0].access == ArrayAccess::Read && entry.arrays[0].type == DType::BF16));
  BOOST_TEST((entry.arrays[1].access == ArrayAccess::Written && entry.arrays[1].type == DType::I32));
  BOOST_TEST((entry.arrays[2].access == ArrayAccess::Updated && entry.arrays[2].type == DType::F64));
  BOOST_TEST(entry.flops == 0);
  BOOST_TEST(entry.bytes < 0);
  BOOST_TEST(entry.ulps == 0);
  BOOST_TEST(entry.reject({1, 1000, 1}) == nullptr);
  ArrayShape shapes[3];
  entry.shapes({1, 1000, 1}, shapes);
  for (const ArrayShape& shape : shapes) BOOST_TEST((shape.rows == 1 && shape.cols == 1000));
  entry_of<Square>().shapes({20, 30, 1}, shapes);
  BOOST_TEST((shapes[0].rows == 20 && shapes[0].cols == 30));
}

BOOST_AUTO_TEST_CASE(what_is_said_counts) {
  const OperationEntry& entry = entry_of<Full>();
  BOOST_TEST(entry.name == std::string("full-1.0+x"));
  BOOST_TEST(entry.summary == std::string("what it does"));
  BOOST_TEST(entry.sizes == 3);
  BOOST_TEST(entry.ulps == 4);
  BOOST_TEST(entry.flops == 2);
  BOOST_TEST(entry.bytes == 12);
  BOOST_TEST(entry.reject({1, 1, 10}) == std::string("k is too large"));
  ArrayShape shapes[2];
  entry.shapes({5, 6, 7}, shapes);
  BOOST_TEST((shapes[0].rows == 5 && shapes[0].cols == 7 && shapes[1].rows == 1 && shapes[1].cols == 7));
}

BOOST_AUTO_TEST_CASE(run_gets_views_and_its_value_is_kept) {
  Executor& e = executor(Backend::Reference);
  std::vector<float> a(5 * 8), b(7);
  const ArrayPlace places[] = {{a.data(), 5, 7, 8}, {b.data(), 1, 7, 7}};
  OperationValue value;
  BOOST_TEST(entry_of<Full>().run({e, e.default_queue(), {5, 6, 7}, 3, places, value}).ok());
  BOOST_REQUIRE(value.count == 3u);
  BOOST_TEST((value.numbers[0].kind == NumberKind::F32));
  BOOST_TEST(std::bit_cast<float>(static_cast<std::uint32_t>(value.numbers[0].bits)) == 2.5f);
  BOOST_TEST((value.numbers[1].kind == NumberKind::I64 && value.numbers[1].bits == 5));
  BOOST_TEST(value.numbers[2].bits == 3u);
  const ArrayPlace place{a.data(), 4, 6, 6};
  BOOST_TEST(entry_of<Square>().run({e, e.default_queue(), {4, 6, 1}, 0, &place, value}).ok());
  BOOST_TEST(value.count == 1u);
  BOOST_TEST(static_cast<std::int64_t>(value.numbers[0].bits) == -24);
}

BOOST_AUTO_TEST_CASE(what_is_thrown_becomes_a_status) {
  OperationValue value;
  const Status error = run<Throws<BackendUnavailable>>(value);
  BOOST_TEST((error.code == StatusCode::Unavailable));
  BOOST_TEST(error.why == "the text");
  const Status other = run<Throws<std::runtime_error>>(value);
  BOOST_TEST((other.code == StatusCode::Internal));
  BOOST_TEST(other.why == "it threw: the text");
  BOOST_TEST(run<ThrowsNoException>(value).why == "it threw something that is no std::exception");
  BOOST_TEST((run<NoMemory>(value).code == StatusCode::OutOfMemory));
  BOOST_TEST(value.count == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace tessera::test
