/// A backend of another author in gemm_compare and in its reports.

#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "support/process.hpp"

namespace tessera::test {

using nlohmann::json;

BOOST_FIXTURE_TEST_SUITE(standin_programs, Programs)

BOOST_AUTO_TEST_CASE(it_is_listed) {
  const Outcome outcome = compare({"--list"});
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(contains(outcome.out, "\nstandin\n"), outcome.out);
  BOOST_TEST(contains(outcome.out, "delegated"), outcome.out);
  const Outcome information = info({"--json"});
  BOOST_TEST(information.status == 0);
  BOOST_TEST(contains(information.out, "\"standin\""), information.out);
}

BOOST_AUTO_TEST_CASE(it_races_and_is_reported) {
  const Outcome outcome = compare({"--backend", "reference,standin", "--shape", "20x30x40", "--repeat", "2", "--json",
                                   "run.json", "--html", "run.html", "--no-progress"});
  BOOST_TEST(outcome.status == 0, outcome.err);
  const json report = json::parse(folder.read("run.json"));
  int entries = 0;
  for (const json& entry : report["results"]) {
    if (entry["backend"] != "standin") continue;
    ++entries;
    BOOST_TEST(entry["kernel"] == "delegated");
    BOOST_TEST(entry["verdict"] == "pass");
    BOOST_TEST(entry["error"]["differing_bits"] == 0);
    BOOST_TEST(entry["threads"] >= 1);
  }
  BOOST_TEST(entries == 1);
  bool described = false;
  for (const json& device : report["machine"]["devices"])
    described |= device["backend"] == "standin" && device["device"] == "stand-in" && device["host_memory"] == true;
  BOOST_TEST(described);
  const std::string page = folder.read("run.html");
  BOOST_TEST(contains(page, "standin"));
  BOOST_TEST(contains(page, "b-other"));
  BOOST_TEST(!contains(page, "standin, f32")); // one group with the reference: the processor's
  BOOST_TEST(contains(page, "processor, f32"));
}

BOOST_AUTO_TEST_CASE(it_belongs_to_the_processor) {
  const Outcome outcome =
      compare({"--cpu", "--kernels", "delegated", "--shape", "8x8x8", "--repeat", "1", "--csv", "-"});
  BOOST_TEST(outcome.status == 0, outcome.err);
  BOOST_TEST(contains(outcome.out, "standin,"), outcome.out);
}

BOOST_AUTO_TEST_CASE(an_unknown_one_is_a_usage_error) {
  expect_usage_error(compare({"--backend", "standing"}),
                     {"unknown backend 'standing'", "did you mean 'standin'?", "no libtessera_standing.so"});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
