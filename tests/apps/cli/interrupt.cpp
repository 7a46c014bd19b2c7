/// Tests that Ctrl-C does not lose what was measured so far.

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <thread>

#include <nlohmann/json.hpp>

#include "support/process.hpp"

namespace tessera::test {

BOOST_FIXTURE_TEST_CASE(an_interrupt_keeps_what_was_measured, Programs) {
  // The first group is done at once; the second would take minutes.
  Process process(TESSERA_GEMM_COMPARE,
                  {"--backend", "reference", "--kernels", "gold", "--sizes", "16,3000", "--repeat", "3", "--time-limit",
                   "0", "--json", "out.json"},
                  folder.path());
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  const auto start = std::chrono::steady_clock::now();
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  BOOST_TEST(outcome.status == 130);
  BOOST_TEST((std::chrono::steady_clock::now() - start < std::chrono::seconds(5)));
  BOOST_TEST(contains(outcome.out, "m = 16"));
  BOOST_TEST(contains(outcome.err, "interrupted"));
  const nlohmann::json report = nlohmann::json::parse(folder.read("out.json"));
  BOOST_TEST_REQUIRE(!report["results"].empty());
  BOOST_TEST(report["results"][0]["m"] == 16);
  BOOST_TEST(report["results"][0]["verdict"] == "pass");
  BOOST_TEST(folder.names() == (std::vector<std::string>{"out.json"}), boost::test_tools::per_element());
}

} // namespace tessera::test
