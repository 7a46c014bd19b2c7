/// Tests that whatever is wrong with the command line or the environment ends with exit status 2 and a message that
/// says what is wrong and what to do.

#include <boost/test/unit_test.hpp>

#include "support/process.hpp"

namespace tessera::test {

BOOST_FIXTURE_TEST_SUITE(bad_input, Programs)

BOOST_AUTO_TEST_CASE(an_unknown_option_names_the_nearest) {
  expect_usage_error(compare({"--szes", "64"}), {"--szes", "'--sizes'"});
}

BOOST_AUTO_TEST_CASE(unknown_options_of_the_other_programs_name_the_nearest) {
  expect_usage_error(compare({"tune", "--budgt", "3"}), {"--budgt", "'--budget'"});
  expect_usage_error(compare({"-sizes", "64"}), {"-sizes", "'--sizes'"});
  expect_usage_error(info({"--no-kernel"}), {"--no-kernel", "'--no-kernels'"});
  expect_usage_error(bench({"peers", "--shaps", "8x8x8"}), {"--shaps", "'--shapes'"});
  expect_usage_error(bench({"batch", "--cuont", "8"}), {"--cuont", "'--count'"});
}

BOOST_AUTO_TEST_CASE(an_unknown_backend_names_the_nearest) {
  expect_usage_error(compare({"--backend", "opnmp", "--sizes", "8"}), {"opnmp", "'openmp'"});
}

BOOST_AUTO_TEST_CASE(an_unknown_kernel_names_the_nearest) {
  expect_usage_error(compare({"--backend", "reference", "--kernels", "gold,canonicle"}), {"canonicle", "'canonical'"});
}

BOOST_AUTO_TEST_CASE(a_pattern_that_matches_nothing_is_an_error) {
  expect_usage_error(compare({"--backend", "reference", "--kernels", "zz*"}), {"zz*", "matches no kernel"});
}

BOOST_AUTO_TEST_CASE(a_mode_that_no_kernel_has_is_an_error) {
  expect_usage_error(compare({"--backend", "reference", "--math", "compensated"}), {"--math"});
  expect_usage_error(compare({"--backend", "reference", "--kernels", "gold", "--math", "tf32"}),
                     {"gold", "strict", "--math"});
}

BOOST_AUTO_TEST_CASE(unknown_words_name_the_nearest) {
  expect_usage_error(compare({"--dtype", "f65"}), {"f65", "'f64'"});
  expect_usage_error(compare({"--math", "strikt"}), {"strikt", "'strict'"});
  expect_usage_error(compare({"--dist", "unifrom"}), {"--dist", "unifrom", "'uniform'"});
  expect_usage_error(compare({"--timing", "grahp"}), {"--timing", "grahp", "'graph'"});
  expect_usage_error(compare({"--op", "gem"}), {"--op", "gem", "'gemm'"});
  expect_usage_error(compare({"--preset", "reprot"}), {"--preset", "reprot", "'report'"});
}

BOOST_AUTO_TEST_CASE(numbers_are_checked) {
  expect_usage_error(compare({"--sizes", "64,x"}), {"--sizes", "'x'"});
  expect_usage_error(compare({"--sizes", "-5"}), {"--sizes", "-5"});
  expect_usage_error(compare({"--sizes", ","}), {"--sizes"});
  expect_usage_error(compare({"--shape", "3x4"}), {"--shape", "3x4", "MxNxK"});
  expect_usage_error(compare({"--shape", "3x4x-1"}), {"--shape", "-1"});
  expect_usage_error(compare({"--alpha", "one"}), {"--alpha", "one"});
  expect_usage_error(compare({"--repeat", "0"}), {"--repeat", "0"});
  expect_usage_error(compare({"--threads", "0"}), {"--threads", "0"});
  expect_usage_error(compare({"--threads", "1,many"}), {"--threads", "many"});
  expect_usage_error(compare({"--time-limit", "-1"}), {"--time-limit"});
  expect_usage_error(compare({"--dist", "integers:5:1"}), {"--dist", "5", "1"});
  expect_usage_error(compare({"--alpha", "0.1", "--dtype", "f32,f64", "--sizes", "4"}), {"--alpha", "0.1", "f32"});
}

BOOST_AUTO_TEST_CASE(lists_have_no_empty_words) {
  expect_usage_error(compare({"--sizes", "256,"}), {"--sizes", "'256,'", "after its last comma"});
  expect_usage_error(compare({"--sizes", ",256"}), {"--sizes", "',256'", "before its first comma"});
  for (const char* option : {"--sizes", "--threads", "--dtype", "--math", "--kernels", "--columns", "--op"})
    expect_usage_error(compare({option, "a,,b"}), {option, "'a,,b'", "between two of its commas", "one comma"});
  expect_usage_error(compare({"--cblas", "none,", "--sizes", "8"}), {"--cblas", "'none,'"});
  expect_usage_error(bench({"peers", "--shapes", "8x8x8,"}), {"--shapes", "'8x8x8,'"});
  expect_usage_error(bench({"batch", "--threads", "1,,2"}), {"--threads", "'1,,2'"});
}

/// What is wrong with the last shape is said before the first one is raced.
BOOST_AUTO_TEST_CASE(empty_products_are_no_race) {
  expect_usage_error(compare({"--sizes", "0"}), {"--sizes", "0 is less than 1"});
  expect_usage_error(compare({"--sizes", "64,0"}), {"--sizes", "0 is less than 1"});
  for (const char* shape : {"0x5x7", "5x0x7", "5x7x0"})
    expect_usage_error(compare({"--shape", shape}), {"--shape", "0 is less than 1"});
  for (const char* command : {"peers", "batch", "executors"})
    expect_usage_error(bench({command, "--shapes", "8x8x8,8x0x8"}), {"--shapes", "0 is less than 1"});
}

BOOST_AUTO_TEST_CASE(sizes_that_overflow_are_named) {
  expect_usage_error(compare({"--backend", "reference", "--shape", "4000000000x4000000000x4000000000"}),
                     {"4000000000", "overflow"});
  expect_usage_error(compare({"--sizes", "99999999999999999999"}), {"--sizes", "99999999999999999999"});
}

BOOST_AUTO_TEST_CASE(matrices_larger_than_memory_are_refused) {
  const Outcome outcome = compare({"--backend", "reference", "--shape", "4000000x4000000x4"});
  expect_usage_error(outcome, {"memory"});
}

BOOST_AUTO_TEST_CASE(threads_from_the_environment_are_checked) {
  for (const char* text : {"garbage", "0", "-3", "2x"}) {
    expect_usage_error(compare({"--backend", "reference", "--sizes", "8"}, {{"TESSERA_NUM_THREADS", text}}),
                       {"TESSERA_NUM_THREADS", text});
    expect_usage_error(info({}, {{"TESSERA_NUM_THREADS", text}}), {"TESSERA_NUM_THREADS", text});
  }
}

BOOST_AUTO_TEST_CASE(an_unwritable_report_is_known_before_anything_runs) {
  expect_usage_error(compare({"--sizes", "8", "--json", "no/such/folder/out.json"}), {"no/such/folder/out.json"});
  expect_usage_error(compare({"--sizes", "8", "--csv", "."}), {"folder"});
  for (const char* option : {"--html", "--markdown"})
    expect_usage_error(compare({"--sizes", "8", option, "no/out"}), {"no/out"});
  BOOST_TEST(folder.names().empty());
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_an_error) {
  const Outcome outcome = compare({"--backend", "reference", "--sizes", "8", "--json", "/dev/full"});
  BOOST_TEST(outcome.status == 2);
  BOOST_TEST(contains(outcome.err, "/dev/full"));
  // No file may grow beyond a block. The program removes what it began to write and keeps what was there.
  for (const char* option : {"--json", "--html", "--markdown", "--csv"}) {
    folder.write("out", "old");
    const std::string command = std::string("trap '' XFSZ; ulimit -f 1; exec \"$0\" --backend reference") +
                                " --sizes 8,9,10,11,12,13,14 " + option + " out >/dev/null";
    const Outcome limited = Process("/bin/sh", {"-c", command, TESSERA_GEMM_COMPARE}, folder.path()).wait();
    BOOST_TEST(limited.status == 2, option);
    BOOST_TEST(contains(limited.err, "out"), option);
    BOOST_TEST(folder.read("out") == "old", option);
    BOOST_TEST(folder.names() == (std::vector<std::string>{"out"}), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(two_reports_cannot_share_stdout) {
  expect_usage_error(compare({"--sizes", "8", "--json", "-", "--csv", "-"}), {"--csv", "stdout"});
}

BOOST_AUTO_TEST_CASE(a_library_that_cannot_be_opened_is_named) {
  expect_usage_error(compare({"--sizes", "8", "--cblas", "libnosuchblas.so"}), {"--cblas", "libnosuchblas.so"});
  expect_usage_error(compare({"--sizes", "8", "--cblas", "libm.so.6"}), {"--cblas", "libm.so.6", "cblas_sgemm"});
}

BOOST_AUTO_TEST_CASE(info_checks_its_options) { expect_usage_error(info({"--josn"}), {"--josn", "'--json'"}); }

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
