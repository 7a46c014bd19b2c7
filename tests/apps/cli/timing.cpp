/// Tests how a device's kernels are timed and what the report says of it. The device is odd_device.

#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "results.hpp"
#include "support/process.hpp"

namespace tessera::test {

using nlohmann::json;

namespace {

struct TimedDevice : Programs {
  json on_device(std::vector<std::string> arguments, Variables variables = {}) const {
    arguments.insert(arguments.begin(), {"--backend", "cuda", "--repeat", "3", "--json", "-"});
    variables.emplace_back("TESSERA_PLUGIN_PATH", TESSERA_ODD_DEVICE_FOLDER);
    const Outcome outcome = compare(arguments, variables);
    BOOST_TEST_REQUIRE(outcome.status == 0, outcome.err);
    return json::parse(outcome.out);
  }
  json on_recording_device(const std::vector<std::string>& arguments) const {
    return on_device(arguments, {{"ODD_DEVICE_RECORDS", "1"}});
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(timing, TimedDevice)

BOOST_AUTO_TEST_CASE(short_runs_are_replayed_where_the_device_records) {
  const json fine = result_of(on_recording_device({"--kernels", "fine", "--sizes", "8"}), "fine");
  BOOST_TEST(fine["verdict"] == "pass");
  BOOST_TEST(fine["timing"] == "graph");
  BOOST_TEST(fine["runs_per_sample"].get<int>() >= 20);
  BOOST_TEST(fine["seconds"]["samples"] == 3);
  BOOST_TEST(!fine.contains("timing_note"));
}

/// A replay uses each set of operands once; else a run would read what the run before has written.
BOOST_AUTO_TEST_CASE(what_adds_to_c_is_replayed_and_right) {
  const json document =
      on_recording_device({"--timing", "graph", "--kernels", "fine", "--shape", "30x20x10", "--beta", "-0.5"});
  BOOST_TEST(result_of(document, "fine")["timing"] == "graph");
  BOOST_TEST(result_of(document, "fine")["verdict"] == "pass");
  BOOST_TEST(document["inputs"]["timing"] == "graph");
}

BOOST_AUTO_TEST_CASE(a_wrong_replay_is_found) {
  const Outcome outcome =
      compare({"--backend", "cuda", "--timing", "graph", "--kernels", "off_by_one", "--sizes", "8", "--json", "-"},
              {{"TESSERA_PLUGIN_PATH", TESSERA_ODD_DEVICE_FOLDER}, {"ODD_DEVICE_RECORDS", "1"}});
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(result_of(json::parse(outcome.out), "off_by_one")["timing"] == "graph");
}

BOOST_AUTO_TEST_CASE(events_are_had_for_the_asking) {
  const json fine = result_of(on_recording_device({"--timing", "events", "--kernels", "fine", "--sizes", "8"}), "fine");
  BOOST_TEST(fine["timing"] == "events");
  BOOST_TEST(!fine.contains("runs_per_sample"));
}

BOOST_AUTO_TEST_CASE(a_kernel_that_cannot_be_recorded_says_so) {
  const json document = on_recording_device({"--timing", "graph", "--kernels", "fine,waiting", "--sizes", "8"});
  BOOST_TEST(result_of(document, "fine")["timing"] == "graph");
  const json waiting = result_of(document, "waiting");
  BOOST_TEST(waiting["verdict"] == "pass");
  BOOST_TEST(waiting["timing"] == "events");
  BOOST_TEST(waiting["timing_note"] == "it waits for the device");
  BOOST_TEST(contains(waiting["reason"].get<std::string>(), "timed by events: it waits for the device"));
}

BOOST_AUTO_TEST_CASE(a_device_that_does_not_record_is_timed_by_events) {
  const json automatic = result_of(on_device({"--kernels", "fine", "--sizes", "8"}), "fine");
  BOOST_TEST(automatic["timing"] == "events");
  BOOST_TEST(!automatic.contains("timing_note"));
  const json asked = result_of(on_device({"--timing", "graph", "--kernels", "fine", "--sizes", "8"}), "fine");
  BOOST_TEST(asked["timing"] == "events");
  BOOST_TEST(contains(asked["timing_note"].get<std::string>(), "do not record"));
}

BOOST_AUTO_TEST_CASE(the_state_of_the_device_is_beside_the_time) {
  const json fine = result_of(on_recording_device({"--kernels", "fine", "--sizes", "8"}), "fine");
  BOOST_TEST(fine["device_state"]["sm_mhz"] == 1755);
  BOOST_TEST(fine["device_state"]["power_w"] == 320.5);
  BOOST_TEST(fine["device_state"]["temperature_c"].is_null());
  BOOST_TEST(!result_of(on_device({"--kernels", "fine", "--sizes", "8"}), "fine").contains("device_state"));
}

BOOST_AUTO_TEST_CASE(what_a_kernel_takes_of_the_device_is_beside_the_time) {
  const json resources = result_of(on_recording_device({"--kernels", "fine", "--sizes", "8"}), "fine")["resources"];
  BOOST_TEST(resources["registers"] == 40);
  BOOST_TEST(resources["static_shared"] == 1024);
  BOOST_TEST(resources["dynamic_shared"] == 65536);
  BOOST_TEST(resources["local_memory"] == 16);
  BOOST_TEST(resources["block_threads"] == 256);
  BOOST_TEST(resources["blocks"] == 3);
  BOOST_TEST(resources["occupancy_percent"] == 37.5);
  BOOST_TEST(!result_of(on_device({"--kernels", "fine", "--sizes", "8"}), "fine").contains("resources"));
}

BOOST_AUTO_TEST_CASE(the_list_says_what_kernels_take_of_the_device) {
  const auto listed = [&](const char* records) {
    return compare({"--list", "--backend", "cuda"},
                   {{"TESSERA_PLUGIN_PATH", TESSERA_ODD_DEVICE_FOLDER}, {records, "1"}})
        .out;
  };
  BOOST_TEST(contains(listed("ODD_DEVICE_RECORDS"), "40 registers, 1024 + 65536 bytes shared, 16 local, 3 blocks"));
  BOOST_TEST(!contains(listed("ODD_DEVICE_IS_QUIET"), "registers"));
}

BOOST_AUTO_TEST_CASE(products_that_verify_themselves_have_a_column) {
  std::vector<std::string> arguments{
      "--backend", "openmp,reference", "--kernels", "simd,canonical", "--shape", "70x80x90", "--beta",
      "2",         "--repeat",         "3",         "--json",         "-"};
  const json plain = json::parse(compare(arguments).out);
  arguments.emplace_back("--verify");
  const json verified = json::parse(compare(arguments).out);
  BOOST_TEST(verified["results"].size() == 2u);
  for (const json& result : plain["results"]) BOOST_TEST(!result.contains("verify_percent"));
  for (const json& result : verified["results"]) {
    BOOST_TEST(result["verdict"] == "pass");
    BOOST_TEST(result["error"]["differing_bits"] == 0);
    BOOST_TEST(result["verify_percent"].is_number());
  }
  arguments.erase(arguments.end() - 3, arguments.end() - 1);
  BOOST_TEST(contains(compare(arguments).out, "verify"));
  const Outcome device = compare({"--backend", "cuda", "--kernels", "fine", "--sizes", "8", "--verify"},
                                 {{"TESSERA_PLUGIN_PATH", TESSERA_ODD_DEVICE_FOLDER}});
  BOOST_TEST(device.status == 0, device.err);
  BOOST_TEST(contains(device.err, "--verify: cuda computes in a device's memory"), device.err);
  expect_usage_error(compare({"--op", "sum_of_squares", "--verify"}), {"--verify: is for races of products"});
  expect_usage_error(compare({"tune", "--verify"}), {"--verify: is for races of products"});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
