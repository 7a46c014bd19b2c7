/// Tests products of matrices in .npy files, and everything that can be wrong with such files.

#include <boost/test/unit_test.hpp>

#include <tessera/interop/io.hpp>

#include "support/process.hpp"

namespace tessera::test {
namespace {

struct Files : Programs {
  /// Writes the operands: a is 2×3, b is 3×2, and both are row-major.
  void write_operands() const {
    folder.write("a.npy", npy_bytes<float>("<f4", false, "(2, 3)", {1, 2, 3, 4, 5, 6}));
    folder.write("b.npy", npy_bytes<float>("<f4", false, "(3, 2)", {7, 8, 9, 10, 11, 12}));
  }

  /// Runs the product. Whatever is wrong, no file may appear.
  void expect_refused(std::vector<std::string> arguments, const std::vector<std::string>& parts) const {
    const std::vector<std::string> before = folder.names();
    for (const char* word : {"--backend", "reference", "--out", "c.npy"}) arguments.emplace_back(word);
    expect_usage_error(compare(arguments), parts);
    BOOST_TEST(folder.names() == before, boost::test_tools::per_element());
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(files, Files)

BOOST_AUTO_TEST_CASE(the_product_is_written) {
  write_operands();
  const Outcome outcome = compare({"--cpu", "--a", "a.npy", "--b", "b.npy", "--out", "c.npy", "--repeat", "1"});
  BOOST_TEST(outcome.status == 0, outcome.err);
  BOOST_TEST(contains(outcome.out, "m = 2, n = 2, k = 3, f32"));
  BOOST_TEST((load_npy<float>(folder.path() / "c.npy") == Matrix<float>{{58, 64}, {139, 154}}));
  BOOST_TEST(folder.names() == (std::vector<std::string>{"a.npy", "b.npy", "c.npy"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(fortran_order_is_read_as_the_same_matrix) {
  write_operands();
  folder.write("a.npy", npy_bytes<float>("<f4", true, "(2, 3)", {1, 4, 2, 5, 3, 6}));
  BOOST_TEST(compare({"--backend", "reference", "--a", "a.npy", "--b", "b.npy", "--out", "c.npy"}).status == 0);
  BOOST_TEST((load_npy<float>(folder.path() / "c.npy") == Matrix<float>{{58, 64}, {139, 154}}));
}

BOOST_AUTO_TEST_CASE(transposes_scalars_and_c) {
  folder.write("a.npy", npy_bytes<double>("<f8", false, "(3, 2)", {1, 4, 2, 5, 3, 6}));
  folder.write("b.npy", npy_bytes<double>("<f8", false, "(3, 2)", {7, 8, 9, 10, 11, 12}));
  folder.write("c0.npy", npy_bytes<double>("<f8", false, "(2, 2)", {1, 1, 1, 1}));
  const Outcome outcome = compare({"--backend", "reference", "--a", "a.npy", "--b", "b.npy", "--transA", "--alpha", "2",
                                   "--beta", "0.1", "--c", "c0.npy", "--out", "c.npy"});
  BOOST_TEST(outcome.status == 0, outcome.err);
  BOOST_TEST((load_npy<double>(folder.path() / "c.npy") == Matrix<double>{{116.1, 128.1}, {278.1, 308.1}}));
}

BOOST_AUTO_TEST_CASE(a_result_of_another_type) {
  write_operands();
  save_npy(folder.path() / "c0.npy", Matrix<f16>(2, 2, 1.0f));
  const std::vector<std::string> given{"--backend", "reference", "--a", "a.npy",  "--b",   "b.npy",
                                       "--beta",    "2",         "--c", "c0.npy", "--out", "c.npy"};
  expect_usage_error(compare(given), {"c0.npy holds f16", "f32"});
  std::vector<std::string> with_result = given;
  with_result.insert(with_result.end(), {"--result", "f16"});
  const Outcome outcome = compare(with_result);
  BOOST_TEST(outcome.status == 0, outcome.err);
  BOOST_TEST((load_npy<f16>(folder.path() / "c.npy") == Matrix<f16>{{f16(60), f16(66)}, {f16(141), f16(156)}}));
}

BOOST_AUTO_TEST_CASE(a_missing_file) {
  write_operands();
  expect_refused({"--a", "nothere.npy", "--b", "b.npy"}, {"nothere.npy", "No such file"});
}

BOOST_AUTO_TEST_CASE(something_that_is_no_npy_file) {
  write_operands();
  folder.write("a.npy", "1,2,3\n4,5,6\n");
  expect_refused({"--a", "a.npy", "--b", "b.npy"}, {"a.npy", "not a .npy file"});
  folder.write("a.npy", "");
  expect_refused({"--a", "a.npy", "--b", "b.npy"}, {"a.npy", "not a .npy file"});
  expect_refused({"--a", ".", "--b", "b.npy"}, {"folder"});
}

BOOST_AUTO_TEST_CASE(a_truncated_file) {
  write_operands();
  const std::string whole = folder.read("a.npy");
  for (const std::size_t length :
       {std::size_t{7}, std::size_t{9}, std::size_t{60}, whole.size() - 24, whole.size() - 1}) {
    folder.write("a.npy", whole.substr(0, length));
    expect_refused({"--a", "a.npy", "--b", "b.npy"}, {"a.npy", "truncated"});
  }
}

BOOST_AUTO_TEST_CASE(another_element_type) {
  write_operands();
  folder.write("a.npy", npy_bytes<std::int64_t>("<i8", false, "(2, 3)", {1, 2, 3, 4, 5, 6}));
  expect_refused({"--a", "a.npy", "--b", "b.npy"}, {"a.npy", "int64", "float32"});
  folder.write("a.npy", npy_bytes<float>(">f4", false, "(2, 3)", {1, 2, 3, 4, 5, 6}));
  expect_refused({"--a", "a.npy", "--b", "b.npy"}, {"a.npy", "big-endian"});
  folder.write("a.npy", npy_bytes<double>("<f8", false, "(2, 3)", {1, 2, 3, 4, 5, 6}));
  expect_refused({"--a", "a.npy", "--b", "b.npy"}, {"b.npy", "f32", "a.npy", "f64"});
}

BOOST_AUTO_TEST_CASE(a_type_that_was_asked_for_and_is_not_there) {
  write_operands();
  expect_refused({"--a", "a.npy", "--b", "b.npy", "--dtype", "f64"}, {"a.npy", "f32", "f64"});
}

BOOST_AUTO_TEST_CASE(other_dimensions_than_two) {
  write_operands();
  folder.write("a.npy", npy_bytes<float>("<f4", false, "(6,)", {1, 2, 3, 4, 5, 6}));
  expect_refused({"--a", "a.npy", "--b", "b.npy"}, {"a.npy", "1 dimensions", "two"});
  folder.write("a.npy", npy_bytes<float>("<f4", false, "(1, 2, 3)", {1, 2, 3, 4, 5, 6}));
  expect_refused({"--a", "a.npy", "--b", "b.npy"}, {"a.npy", "3 dimensions", "1×2×3"});
}

BOOST_AUTO_TEST_CASE(shapes_that_do_not_fit) {
  write_operands();
  expect_refused({"--a", "a.npy", "--b", "a.npy"}, {"2×3", "3 ≠ 2"});
  expect_refused({"--a", "a.npy", "--b", "b.npy", "--transB"}, {"3 ≠ 2", "transposed"});
  expect_refused({"--a", "a.npy", "--b", "b.npy", "--c", "a.npy", "--beta", "1"}, {"--c", "2×3", "2×2"});
}

BOOST_AUTO_TEST_CASE(an_output_that_cannot_be_written) {
  write_operands();
  const std::vector<std::string> before = folder.names();
  expect_usage_error(compare({"--backend", "reference", "--a", "a.npy", "--b", "b.npy", "--out", "no/folder/c.npy"}),
                     {"no/folder/c.npy"});
  expect_usage_error(compare({"--backend", "reference", "--a", "a.npy", "--b", "b.npy", "--out", "."}), {"folder"});
  BOOST_TEST(folder.names() == before, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_output_that_exists_is_replaced_as_a_whole) {
  write_operands();
  folder.write("c.npy", "old");
  expect_usage_error(compare({"--backend", "reference", "--a", "a.npy", "--b", "a.npy", "--out", "c.npy"}), {"≠"});
  BOOST_TEST(folder.read("c.npy") == "old");
  BOOST_TEST(compare({"--backend", "reference", "--a", "a.npy", "--b", "b.npy", "--out", "c.npy"}).status == 0);
  BOOST_TEST(load_npy<float>(folder.path() / "c.npy").at(1, 1) == 154);
}

BOOST_AUTO_TEST_CASE(options_that_files_exclude) {
  write_operands();
  expect_refused({"--a", "a.npy"}, {"--a", "--b"});
  expect_refused({"--sizes", "8"}, {"--out", "--a"});
  expect_refused({"--a", "a.npy", "--b", "b.npy", "--sizes", "8"}, {"--sizes"});
  expect_refused({"--a", "a.npy", "--b", "b.npy", "--shape", "2x2x2"}, {"--shape"});
  expect_refused({"--a", "a.npy", "--b", "b.npy", "--beta", "1"}, {"--beta", "--c"});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
