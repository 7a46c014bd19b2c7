#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <boost/test/unit_test.hpp>

#include "documents.hpp"
#include "report/format.hpp"
#include "report/reproduce.hpp"
#include "report/shell.hpp"

using namespace tessera::report;
using namespace tessera::report::testing;

namespace {

std::string reproduce(const Json& entry, Json whole = document({})) {
  whole["results"].push_back(entry);
  const Run run = read_run(whole);
  return reproduce_command(run.entries.back(), run);
}

std::string reason_of(const Json& whole) {
  try {
    read_run(whole);
  } catch (const DocumentError& error) {
    return error.what();
  }
  return "accepted";
}

} // namespace

BOOST_AUTO_TEST_CASE(missing_and_null_numbers_are_unknown) {
  Json entry = passed("simd", 64, 1);
  entry["seconds"] = nullptr;
  entry["error"] = {{"max_rel", nullptr}};
  entry.erase("gflops");
  const Run run = read_run(document({entry}));
  BOOST_TEST(!run.entries[0].timed());
  BOOST_TEST(run.entries[0].gflops != run.entries[0].gflops);
  BOOST_TEST(run.entries[0].number("max_rel") != run.entries[0].number("max_rel"));
  BOOST_TEST(time_text(run.entries[0].median) == "–");
}

BOOST_AUTO_TEST_CASE(what_is_no_document_is_refused_with_the_reason) {
  BOOST_TEST(reason_of(Json::array()) == "is array, not an object");
  BOOST_TEST(reason_of(Json::object()).starts_with("has no schema"));
  Json other = document({});
  other["schema"] = "tessera.compare/2";
  BOOST_TEST(
      reason_of(other).starts_with("has schema 'tessera.compare/2', and this program reads 'tessera.compare/1'"));
  other["schema"] = schema;
  other.erase("results");
  BOOST_TEST(reason_of(other) == "has no list of results");
}

BOOST_AUTO_TEST_CASE(a_document_that_is_nested_too_deep_is_refused) {
  std::string name = (std::filesystem::temp_directory_path() / "tessera_document_XXXXXX").string();
  close(mkstemp(name.data()));
  std::string said = "accepted";
  for (const auto& [open, ends] : {std::pair{"[", "]"}, std::pair{"{\"a\": ", "}"}}) {
    std::string text = R"({"schema": "tessera.compare/1", "results": [], "machine": )";
    for (int i = 0; i < 200000; ++i) text += open;
    text += "1";
    for (int i = 0; i < 200000; ++i) text += ends;
    std::ofstream(name) << text << "}";
    try {
      read_run(load_run(name).document);
    } catch (const DocumentError& error) {
      said = error.what();
    }
    BOOST_TEST(said == name + ": is nested deeper than 64 levels, so it is no report of gemm_compare");
  }
  std::filesystem::remove(name);
}

BOOST_AUTO_TEST_CASE(a_bad_grade_is_named_by_its_place) {
  Json whole = document({});
  whole["grades"] = 7;
  BOOST_TEST(reason_of(whole) == "'grades' is number, not a list");
  whole["grades"] = Json::array({Json::object()});
  BOOST_TEST(reason_of(whole) == "grades[0]: has no list of sizes");
  whole["grades"][0]["sizes"] = Json::array({{{"n", -4}}});
  BOOST_TEST(reason_of(whole) == "grades[0]: 'n' is -4, which is no size");
  whole["grades"][0]["sizes"] =
      Json::array({{{"n", 8}, {"componentwise", 2.0}},
                   {{"n", 4}, {"componentwise", 1.0}},
                   {{"n", 8}, {"componentwise", 3.0}}}); // It ran twice: the larger error counts.
  const Run run = read_run(whole);
  BOOST_TEST(run.grades[0].sizes.size() == 2u);
  BOOST_TEST(run.grades[0].sizes[1].n == 8);
  BOOST_TEST(run.grades[0].sizes[1].error == 3);
}

BOOST_AUTO_TEST_CASE(a_bad_row_is_named_by_its_place) {
  const Json good = passed("simd", 64, 1);
  BOOST_TEST(reason_of(document({good, with(good, {{"m", -1}})})) == "results[1]: 'm' is -1, which is no size");
  BOOST_TEST(reason_of(document({with(good, {{"m", "64"}})})) == "results[0]: 'm' is string, not a number");
  BOOST_TEST(reason_of(document({with(good, {{"kernel", ""}})})) == "results[0]: names no backend or no kernel");
  BOOST_TEST(reason_of(document({with(good, {{"seconds", 1.0}})})) == "results[0]: 'seconds' is number, not an object");
  BOOST_TEST(reason_of(document({Json("row")})) == "results[0]: is string, not an object");
}

BOOST_AUTO_TEST_CASE(failing_is_neither_passed_nor_left_out) {
  for (const char* verdict : {"wrong", "failed", "crashed", "hung", "out_of_bounds"})
    BOOST_TEST(read_run(document({with(passed("simd", 64, 1), {{"verdict", verdict}})})).entries[0].failing());
  for (const char* verdict : {"pass", "cannot say", "rejected", "skipped", "timed", "interrupted"})
    BOOST_TEST(!read_run(document({with(passed("simd", 64, 1), {{"verdict", verdict}})})).entries[0].failing());
}

BOOST_AUTO_TEST_CASE(reproduce_leaves_defaults_out) {
  BOOST_TEST(reproduce(passed("simd", 64, 1)) == "gemm_compare --backend openmp --kernels simd --sizes 64");
}

BOOST_AUTO_TEST_CASE(reproduce_says_all_that_is_not_default) {
  const Json entry = with(passed("simd", 64, 1), {{"n", 3},
                                                  {"dtype", "f64"},
                                                  {"trans_a", true},
                                                  {"trans_b", true},
                                                  {"alpha", -0.5},
                                                  {"beta", 2.0},
                                                  {"threads", 7}});
  Json whole = document({});
  whole["inputs"] = {{"dist", "integers:1:100"}, {"seed", 9}, {"check_rows", 5}};
  BOOST_TEST(reproduce(entry, whole) ==
             "gemm_compare --backend openmp --kernels simd --shape 64x3x64 --dtype f64 --transA "
             "--transB --alpha -0.5 --beta 2 --dist integers:1:100 --seed 9 --check-rows 5 --threads 7");
}

BOOST_AUTO_TEST_CASE(reproduce_names_the_mode_only_where_the_kernel_has_several) {
  const Json strict = with(passed("cublas", 64, 1), {{"backend", "cuda"}, {"threads", 0}});
  const Json tf32 = with(strict, {{"math", "tf32"}});
  BOOST_TEST(reproduce(tf32) == "gemm_compare --backend cuda --kernels cublas --sizes 64");
  BOOST_TEST(reproduce(tf32, document({strict})) ==
             "gemm_compare --backend cuda --kernels cublas --sizes 64 --math tf32");
}

BOOST_AUTO_TEST_CASE(reproduce_of_files_reductions_and_odd_names) {
  Json whole = document({});
  whole["inputs"] = {{"a", "my A.npy"}, {"b", "b.npy"}};
  BOOST_TEST(reproduce(passed("simd", 64, 1), whole) ==
             "gemm_compare --backend openmp --kernels simd --a 'my A.npy' --b b.npy");
  BOOST_TEST(reproduce(with(passed("cub", 1, 1), {{"op", "sum_of_squares"}, {"n", 999}})) ==
             "gemm_compare --op sum_of_squares --backend openmp --kernels cub --sizes 999");
  BOOST_TEST(reproduce(passed("cblas:lib[1]*.so", 8, 1)) ==
             "gemm_compare --backend openmp --kernels 'cblas:lib[[]1][*].so' --sizes 8");
  BOOST_TEST(shell_quoted("it's") == "'it'\\''s'");
  BOOST_TEST(shell_quoted("") == "''");
}

BOOST_AUTO_TEST_CASE(reproduce_of_operations) {
  const Json triad = with(passed("triad", 1, 1), {{"op", "triad"}, {"n", 999}, {"sizes", 1}, {"dtype", "f64"}});
  BOOST_TEST(reproduce(triad) == "gemm_compare --op triad --backend openmp --sizes 999 --dtype f64");
  Json whole = document({});
  whole["inputs"] = {{"op_plugins", {{"heat f32", "my/heat.so"}, {"heat f64", "other.so"}}}};
  const Json heat = with(passed("heat", 20, 1), {{"op", "heat"}, {"k", 1}, {"sizes", 2}});
  const std::string start = "gemm_compare --op-plugin my/heat.so --op heat --backend openmp ";
  BOOST_TEST(reproduce(heat, whole) == start + "--sizes 20 --dtype f32");
  BOOST_TEST(reproduce(with(heat, {{"m", 1}}), whole) == start + "--shape 1x20 --dtype f32");
  BOOST_TEST(reproduce(with(heat, {{"sizes", 3}, {"k", 5}}), whole) == start + "--shape 20x20x5 --dtype f32");
  whole["inputs"]["op_plugins"] = "no object";
  BOOST_TEST(reproduce(heat, whole) == "gemm_compare --op heat --backend openmp --sizes 20 --dtype f32");
}

BOOST_AUTO_TEST_CASE(reproduce_of_a_kernel_from_outside) {
  const Json entry = with(passed("my.so", 64, 1), {{"backend", "external"}, {"device", "cpu"}});
  Json whole = document({});
  whole["inputs"] = {{"kernel", {"a/other.so", "a/my.so"}}, {"abi", "leetgpu"}};
  const std::string ladder = "--backend reference --kernels canonical --sizes 64";
  BOOST_TEST(reproduce(entry, whole) == "gemm_compare --kernel a/my.so " + ladder);
  whole["inputs"].update({{"abi", "cblas"}, {"kernel_time_limit", 2.0}, {"kernel_memory_limit", 100}, {"repeat", 99}});
  BOOST_TEST(reproduce(entry, whole) ==
             "gemm_compare --kernel a/my.so --abi cblas --kernel-time-limit 2 --kernel-memory-limit 100 " + ladder +
                 " --repeat 99");
}

BOOST_AUTO_TEST_CASE(numbers_read_as_people_write_them) {
  BOOST_TEST(time_text(1.234e-3) == "1.23 ms");
  BOOST_TEST(time_text(45.6e-6) == "45.6 µs");
  BOOST_TEST(time_text(0.99999e-3) == "1.00 ms");
  BOOST_TEST(time_text(3e-9) == "3.00 ns");
  BOOST_TEST(speed_text(51300) == "51.3 TFLOP/s");
  BOOST_TEST(speed_text(412) == "412 GFLOP/s");
  BOOST_TEST(percent_text(87.4) == "87 %");
  BOOST_TEST(percent_text(0.42) == "0.4 %");
  BOOST_TEST(error_text(0) == "0");
  BOOST_TEST(bound_text(0.99987) == "0.9999");
  BOOST_TEST(bound_text(1.2) == "1.20");
  BOOST_TEST(error_text(3.14e-7) == "3.1e-07");
  BOOST_TEST(count_text(1234) == "1234");
  BOOST_TEST(count_text(1234567) == "1\u202f234\u202f567");
}
