/// Tests what gemm_compare says of kernels that are wrong, refuse or fail, and of a device's copies. The device is
/// odd_device.

#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include <tessera/interop/io.hpp>

#include "results.hpp"
#include "support/process.hpp"

namespace tessera::test {

using nlohmann::json;

namespace {

struct OddDevice : Programs {
  Outcome on_device(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--backend", "cuda", "--repeat", "3"});
    return compare(arguments, {{"TESSERA_PLUGIN_PATH", TESSERA_ODD_DEVICE_FOLDER}});
  }
  /// Returns the result of one kernel, whatever the exit status is.
  static json result(const Outcome& outcome, const std::string& kernel) {
    return result_of(json::parse(outcome.out), kernel);
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(verdicts, OddDevice)

BOOST_AUTO_TEST_CASE(a_right_kernel_passes_with_its_copies_apart) {
  const Outcome outcome = on_device({"--kernels", "fine", "--sizes", "50", "--json", "-"});
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(result(outcome, "fine")["verdict"] == "pass");
  BOOST_TEST(result(outcome, "fine")["threads"] == 0);
  for (const char* copy : {"copy_in", "copy_out"}) {
    const json transfer = result(outcome, copy);
    BOOST_TEST(transfer["transfer"] == true);
    BOOST_TEST(transfer["verdict"] == "timed");
    BOOST_TEST(transfer["seconds"]["samples"] == 3);
    BOOST_TEST(transfer["error"].is_null());
    BOOST_TEST(contains(transfer["reason"].get<std::string>(), "GB/s"));
  }
}

BOOST_AUTO_TEST_CASE(c_is_taken_to_the_device_if_it_is_read) {
  const Outcome outcome = on_device({"--kernels", "fine", "--sizes", "50", "--beta", "-0.5", "--json", "-"});
  BOOST_TEST(result(outcome, "fine")["verdict"] == "pass");
}

BOOST_AUTO_TEST_CASE(a_wrong_element_is_found) {
  const Outcome outcome = on_device({"--kernels", "off_by_one", "--shape", "20x30x10", "--json", "-"});
  BOOST_TEST(outcome.status == 1);
  const json wrong = result(outcome, "off_by_one");
  BOOST_TEST(wrong["verdict"] == "wrong");
  BOOST_TEST(contains(wrong["reason"].get<std::string>(), "(19, 29)"));
  BOOST_TEST(wrong["error"]["max_over_bound"].get<double>() > 1);
  BOOST_TEST(wrong["error"]["differing_bits"] == 1);
}

/// Only the first and the last row are compared, and the error is between them.
BOOST_AUTO_TEST_CASE(a_wrong_element_outside_the_sampled_rows_is_found) {
  const Outcome outcome =
      on_device({"--kernels", "fine,off_inside", "--shape", "20x30x10", "--check-rows", "2", "--json", "-"});
  BOOST_TEST(outcome.status == 1);
  const json wrong = result(outcome, "off_inside");
  BOOST_TEST(wrong["verdict"] == "wrong");
  BOOST_TEST(contains(wrong["reason"].get<std::string>(), "row 10 by Freivalds"));
  BOOST_TEST(wrong["error"]["max_over_bound"].get<double>() < 1);
  BOOST_TEST(wrong["freivalds"]["max_over_bound"].get<double>() > 1);
  BOOST_TEST(wrong["freivalds"]["worst_row"] == 10);
  const json right = result(outcome, "fine");
  BOOST_TEST(right["verdict"] == "pass");
  BOOST_TEST(right["reason"] == "checked 2 of 20 rows, and all by Freivalds");
  BOOST_TEST(right["freivalds"]["rows_judged"] == 20);
  BOOST_TEST(right["freivalds"]["vectors"] == 16);
}

BOOST_AUTO_TEST_CASE(rows_that_freivalds_cannot_judge_are_left_out) {
  const Outcome outcome =
      on_device({"--kernels", "fine", "--shape", "20x30x10", "--check-rows", "2", "--dist", "special", "--json", "-"});
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(contains(result(outcome, "fine")["reason"].get<std::string>(), "may reach the others"));
}

BOOST_AUTO_TEST_CASE(a_result_that_is_not_written_is_nan) {
  const Outcome outcome = on_device({"--kernels", "unwritten", "--sizes", "8", "--json", "-"});
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(result(outcome, "unwritten")["error"]["misplaced"] == 64);
}

BOOST_AUTO_TEST_CASE(canonical_kernels_are_held_to_their_bits) {
  const Outcome outcome = on_device({"--kernels", "almost*", "--sizes", "40", "--json", "-"});
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(result(outcome, "almost")["verdict"] == "wrong");
  BOOST_TEST(contains(result(outcome, "almost")["reason"].get<std::string>(), "canonical"));
  BOOST_TEST(result(outcome, "almost_other")["verdict"] == "pass");
}

BOOST_AUTO_TEST_CASE(whole_numbers_admit_no_difference) {
  const Outcome outcome =
      on_device({"--kernels", "almost_other", "--sizes", "40", "--dist", "integers:1:9", "--json", "-"});
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(contains(result(outcome, "almost_other")["reason"].get<std::string>(), "exact"));
}

BOOST_AUTO_TEST_CASE(a_refusal_keeps_its_reason) {
  const Outcome outcome = on_device({"--kernels", "fine,refusing", "--sizes", "8", "--json", "-"});
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(result(outcome, "refusing")["verdict"] == "rejected");
  BOOST_TEST(contains(result(outcome, "refusing")["reason"].get<std::string>(), "bad mood"));
  BOOST_TEST(result(outcome, "refusing")["seconds"].is_null());
}

BOOST_AUTO_TEST_CASE(if_nothing_ran_nothing_is_well) {
  const Outcome outcome = on_device({"--kernels", "refusing", "--sizes", "8"});
  BOOST_TEST(outcome.status == 2);
  BOOST_TEST(contains(outcome.out, "bad mood"));
  BOOST_TEST(contains(outcome.err, "no kernel ran"));
}

BOOST_AUTO_TEST_CASE(a_failure_stops_that_kernel_alone) {
  const Outcome outcome = on_device({"--kernels", "fine,failing", "--sizes", "8", "--json", "-"});
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(result(outcome, "failing")["verdict"] == "failed");
  BOOST_TEST(contains(result(outcome, "failing")["reason"].get<std::string>(), "on fire"));
  BOOST_TEST(result(outcome, "fine")["verdict"] == "pass");
}

BOOST_AUTO_TEST_CASE(the_table_shows_the_same) {
  const Outcome outcome = on_device({"--sizes", "8"});
  for (const char* part :
       {"copy_in", "GB/s", "wrong", "not run: refusing (cuda): it is in a bad mood", "failed", "pass"})
    BOOST_TEST(contains(outcome.out, part), part);
}

BOOST_AUTO_TEST_CASE(a_wrong_product_is_not_written) {
  folder.write("a.npy", npy_bytes<float>("<f4", false, "(2, 3)", {1, 2, 3, 4, 5, 6}));
  folder.write("b.npy", npy_bytes<float>("<f4", false, "(3, 2)", {7, 8, 9, 10, 11, 12}));
  const Outcome wrong = on_device({"--kernels", "off_by_one", "--a", "a.npy", "--b", "b.npy", "--out", "c.npy"});
  BOOST_TEST(wrong.status == 1);
  BOOST_TEST(contains(wrong.err, "not written"));
  BOOST_TEST(folder.names() == (std::vector<std::string>{"a.npy", "b.npy"}), boost::test_tools::per_element());
  const Outcome right = on_device({"--kernels", "off_by_one,fine", "--a", "a.npy", "--b", "b.npy", "--out", "c.npy"});
  BOOST_TEST(right.status == 1); // off_by_one is still wrong.
  BOOST_TEST((load_npy<float>(folder.path() / "c.npy") == Matrix<float>{{58, 64}, {139, 154}}));
}

BOOST_AUTO_TEST_CASE(reductions_show_the_devices_own_clock) {
  const Outcome outcome = on_device({"--op", "sum_of_squares", "--sizes", "1000", "--json", "-"});
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(result(outcome, "fine")["verdict"] == "pass");
  BOOST_TEST(result(outcome, "fine")["device_seconds"] == 0.25);
  BOOST_TEST(result(outcome, "doubled")["verdict"] == "wrong");
  BOOST_TEST(contains(on_device({"--op", "sum_of_squares", "--sizes", "1000"}).out, "250.00 ms"));
}

BOOST_AUTO_TEST_CASE(sums_of_whole_numbers_must_be_exact) {
  const Outcome outcome = on_device({"--op", "sum_of_squares", "--dtype", "i32", "--sizes", "100000", "--json", "-"});
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(result(outcome, "fine")["verdict"] == "pass");
  BOOST_TEST(result(outcome, "fine")["dtype"] == "i32");
  BOOST_TEST(contains(result(outcome, "fine")["reason"].get<std::string>(), "exact: "));
  BOOST_TEST(result(outcome, "narrow")["verdict"] == "wrong");
  BOOST_TEST(contains(result(outcome, "narrow")["reason"].get<std::string>(), " instead of "));
}

BOOST_AUTO_TEST_CASE(the_list_needs_no_device) {
  const Outcome outcome = on_device({"--list"});
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(contains(outcome.out, "off_by_one"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
