#include <boost/test/unit_test.hpp>

#include <tessera/backend_list.hpp>
#include <tessera/status.hpp>
#include <tessera/types.hpp>

#include "support/expect.hpp"

using namespace tessera;
using tessera::test::expect_error;

BOOST_AUTO_TEST_SUITE(types)

BOOST_AUTO_TEST_CASE(words_and_values_are_inverse) {
  for (const DType type : {DType::F32, DType::F64}) BOOST_TEST((parse_dtype(to_string(type)) == type));
  for (int math = 0; math <= static_cast<int>(last_math); ++math)
    BOOST_TEST((parse_math(to_string(static_cast<Math>(math))) == static_cast<Math>(math)));
  BOOST_TEST((parse_backend("auto") == Backend::Auto));
  BOOST_TEST(to_string(Backend::Auto) == "auto");
  for (const BuiltInBackend& line : built_in_backends) {
    BOOST_TEST((parse_backend(line.name) == line.backend));
    BOOST_TEST(to_string(line.backend) == line.name);
  }
  BOOST_TEST(to_string(static_cast<Backend>(99)) == "unknown");
  BOOST_TEST(to_string(Op::None) == "none");
  BOOST_TEST(to_string(Op::Transpose) == "transpose");
  BOOST_TEST(to_string(Op::ConjugateTranspose) == "conjugate_transpose");
}

BOOST_AUTO_TEST_CASE(a_typing_error_names_the_nearest_word_and_all_known_ones) {
  expect_error<InvalidArgument>(
      [] { static_cast<void>(parse_backend("opnmp")); },
      {"unknown backend 'opnmp'", "did you mean 'openmp'?", "auto reference openmp tbb cuda"});
  expect_error<InvalidArgument>([] { static_cast<void>(parse_dtype("f65")); },
                                {"unknown element type 'f65'", "did you mean 'f64'?"});
  expect_error<InvalidArgument>([] { static_cast<void>(parse_math("stict")); },
                                {"unknown math mode 'stict'", "did you mean 'strict'?"});
  expect_error<InvalidArgument>([] { static_cast<void>(parse_backend("")); }, {"unknown backend ''"});
  expect_error<InvalidArgument>([] { static_cast<void>(parse_backend("CUDA")); }, {"unknown backend 'CUDA'"});
}

BOOST_AUTO_TEST_CASE(nearest_word_has_the_smallest_edit_distance) {
  const std::vector<std::string> words{"naive", "simd", "cache_blocked"};
  BOOST_TEST(nearest_word("native", words) == "naive");
  BOOST_TEST(nearest_word("smid", words) == "simd");
  BOOST_TEST(nearest_word("cache-blocked", words) == "cache_blocked");
  BOOST_TEST(nearest_word("anything", {}) == "");
  BOOST_TEST(nearest_word("", {"abc", "a"}) == "a");
}

BOOST_AUTO_TEST_CASE(sizes_of_element_types) {
  BOOST_TEST(size_of(dtype_of<float>) == sizeof(float));
  BOOST_TEST(size_of(dtype_of<double>) == sizeof(double));
}

BOOST_AUTO_TEST_SUITE_END()
