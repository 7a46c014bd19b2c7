/// Tests gemm_compare --check: what it says of right and wrong products in files, its exit statuses, and bad input.

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include <tessera/interop/io.hpp>

#include "support/process.hpp"

namespace tessera::test {
namespace {

struct Certificates : Programs {
  /// a is 2×3 and b is 3×2.
  Certificates() {
    folder.write("a.npy", npy_bytes<float>("<f4", false, "(2, 3)", {1, 2, 3, 4, 5, 6}));
    folder.write("b.npy", npy_bytes<float>("<f4", false, "(3, 2)", {7, 8, 9, 10, 11, 12}));
    folder.write("c.npy", npy_bytes<float>("<f4", false, "(2, 2)", {58, 64, 139, 154}));
  }
  Outcome check(std::vector<std::string> more = {}, const std::string& c = "c.npy") const {
    std::vector<std::string> arguments{"--check", "--a", "a.npy", "--b", "b.npy", "--c", c};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return compare(arguments);
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(certificates_of_files, Certificates)

BOOST_AUTO_TEST_CASE(a_right_product) {
  const Outcome outcome = check();
  BOOST_TEST(outcome.status == 0, outcome.err);
  BOOST_TEST(outcome.out.starts_with("right: C (2×2×3, f32, math strict)"), outcome.out);
  BOOST_TEST(contains(outcome.out, "2 of 2 rows element by element"));
  BOOST_TEST(outcome.err.empty());
}

BOOST_AUTO_TEST_CASE(a_wrong_product) {
  folder.write("wrong.npy", npy_bytes<float>("<f4", false, "(2, 2)", {58, 64, 140, 154}));
  const Outcome outcome = check({}, "wrong.npy");
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(outcome.out.starts_with("wrong: "), outcome.out);
  BOOST_TEST(contains(outcome.out, "c(1, 0) = 140, exact 139"));
  // b.npy holds the transpose of what is multiplied
  folder.write("b.npy", npy_bytes<float>("<f4", false, "(2, 3)", {7, 9, 11, 8, 10, 12}));
  BOOST_TEST(check({"--transB"}).status == 0);
  folder.write("b.npy", npy_bytes<float>("<f4", true, "(3, 2)", {7, 9, 11, 8, 10, 12}));
  BOOST_TEST(check().status == 0);
}

BOOST_AUTO_TEST_CASE(json_goes_to_stdout_or_a_file) {
  const nlohmann::json answer = nlohmann::json::parse(check({"--json", "-"}).out);
  BOOST_TEST(answer.at("schema") == "tessera.certificate/1");
  BOOST_TEST(answer.at("verdict") == "right");
  const Outcome outcome = check({"--json", "answer.json"});
  BOOST_TEST(outcome.out.starts_with("right"));
  BOOST_TEST((nlohmann::json::parse(folder.read("answer.json")) == answer));
}

BOOST_AUTO_TEST_CASE(factors_and_an_epilogue) {
  folder.write("before.npy", npy_bytes<float>("<f4", false, "(2, 2)", {1, 1, -200, 1}));
  folder.write("bias.npy", npy_bytes<float>("<f4", false, "(1, 2)", {-30, 1}));
  folder.write("residual.npy", npy_bytes<float>("<f4", false, "(2, 2)", {1, 2, 3, 4}));
  folder.write("layer.npy", npy_bytes<float>("<f4", false, "(2, 2)", {3, 37, 3, 84}));
  // max(0.5·a·b + 2·before + bias, 0) + residual, where one element is cut off
  folder.write("before.npy", npy_bytes<float>("<f4", false, "(2, 2)", {1.5, 1, -200, 1}));
  const std::vector<std::string> layer{"--alpha", "0.5",      "--beta",       "2",    "--c-before", "before.npy",
                                       "--bias",  "bias.npy", "--activation", "relu", "--residual", "residual.npy"};
  const Outcome outcome = check(layer, "layer.npy");
  BOOST_TEST(outcome.status == 0, outcome.out);
  folder.write("layer.npy", npy_bytes<float>("<f4", false, "(2, 2)", {3, 37, -300, 84}));
  BOOST_TEST(check(layer, "layer.npy").status == 1);
}

BOOST_AUTO_TEST_CASE(batches_and_eight_bits) {
  folder.write("a.npy", npy_bytes<std::int8_t>("|i1", false, "(2, 1, 2)", {1, 2, -3, 4}));
  folder.write("b.npy", npy_bytes<std::int8_t>("|i1", false, "(2, 1)", {5, 6}));
  folder.write("c.npy", npy_bytes<std::int32_t>("<i4", false, "(2, 1, 1)", {17, 9}));
  BOOST_TEST(check().status == 0, check().err);
  BOOST_TEST(contains(check().out, "2 results"));
  folder.write("c.npy", npy_bytes<std::int32_t>("<i4", false, "(2, 1, 1)", {17, 8}));
  BOOST_TEST(check().status == 1);
  BOOST_TEST(contains(check().out, "product 1 c(0, 0) = 8, exact 9"));
  // 1, 2 and 0.5 as e4m3, which NumPy saves as bytes without a type
  folder.write("a.npy", npy_bytes<std::uint8_t>("|V1", false, "(1, 2)", {0x38, 0x40}));
  folder.write("b.npy", npy_bytes<std::uint8_t>("|V1", false, "(2, 1)", {0x38, 0x30}));
  folder.write("c.npy", npy_bytes<float>("<f4", false, "(1, 1)", {2}));
  BOOST_TEST(check({"--dtype", "e4m3"}).status == 0, check({"--dtype", "e4m3"}).err);
  BOOST_TEST(check({"--dtype", "e4m3,e5m2"}).status == 1);
  expect_usage_error(check(), {"a.npy", "bytes without a type", "e4m3 or e5m2"});
}

BOOST_AUTO_TEST_CASE(bad_input_is_refused) {
  expect_usage_error(compare({"--check", "--a", "a.npy", "--b", "b.npy"}), {"--check", "--c"});
  expect_usage_error(check({"--sizes", "3"}), {"--sizes", "makes no sense with --check"});
  expect_usage_error(check({"--cpu"}), {"--cpu", "makes no sense with --check"});
  expect_usage_error(check({"--beta", "1"}), {"--beta", "--c-before"});
  expect_usage_error(check({"--activation", "rely"}), {"rely", "relu"});
  expect_usage_error(check({"--math", "strikt"}), {"strikt", "strict"});
  expect_usage_error(check({"--vectors", "-1"}), {"--vectors", "-1"});
  expect_usage_error(check({"--dtype", "f64"}), {"a.npy holds f32", "f64"});
  expect_usage_error(check({"--transA"}), {"a is 3×2 and b is 3×2", "2 ≠ 3"});
  expect_usage_error(compare({"--vectors", "3"}), {"--vectors", "--check"});
  expect_usage_error(check({}, "nothere.npy"), {"nothere.npy", "No such file"});
  folder.write("text.npy", "no array");
  expect_usage_error(check({}, "text.npy"), {"text.npy", "not a .npy file"});
  const std::string whole = npy_bytes<float>("<f4", false, "(2, 2)", {58, 64, 139, 154});
  folder.write("short.npy", whole.substr(0, whole.size() - 3));
  expect_usage_error(check({}, "short.npy"), {"short.npy", "truncated", "2×2", "16 bytes", "13"});
  folder.write("huge.npy", npy_bytes<float>("<f4", false, "(9000000000000000000, 2)", {}));
  expect_usage_error(check({}, "huge.npy"), {"huge.npy", "overflows"});
  folder.write("flat.npy", npy_bytes<float>("<f4", false, "(4,)", {58, 64, 139, 154}));
  expect_usage_error(check({}, "flat.npy"), {"flat.npy", "1 dimensions"});
  folder.write("complex.npy", npy_bytes<float>("<c8", false, "(1, 2)", {58, 64, 139, 154}));
  expect_usage_error(check({}, "complex.npy"), {"complex.npy", "complex64"});
  folder.write("other.npy", npy_bytes<double>("<f8", false, "(2, 2)", {58, 64, 139, 154}));
  expect_usage_error(check({}, "other.npy"), {"f32", "c holds f64"});
  folder.write("wide.npy", npy_bytes<float>("<f4", false, "(2, 3)", {58, 64, 139, 154, 1, 2}));
  expect_usage_error(check({}, "wide.npy"), {"c is 2×3", "2×2"});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
