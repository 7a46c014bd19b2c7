/// Tests tessera_info.

#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "support/process.hpp"

namespace tessera::test {

using nlohmann::json;

BOOST_FIXTURE_TEST_SUITE(machine_information, Programs)

BOOST_AUTO_TEST_CASE(says_what_there_is) {
  const Outcome outcome = info({"--all"});
  BOOST_TEST(outcome.status == 0);
  for (const char* part :
       {"Tessera", "Processor", "Threads", "Backends", "reference", "openmp", "tbb", "cuda", "opencl", "gold"})
    BOOST_TEST(contains(outcome.out, part), part);
}

BOOST_AUTO_TEST_CASE(every_missing_backend_has_a_reason) {
  const json report = json::parse(info({"--json"}).out);
  BOOST_TEST(report["schema"] == "tessera.info/1");
  BOOST_TEST(report["backends"].size() == 5u);
  for (const json& backend : report["backends"])
    BOOST_TEST((backend["available"] == true) == backend["reason"].get<std::string>().empty());
  BOOST_TEST(!report["kernels"].empty());
}

BOOST_AUTO_TEST_CASE(says_where_the_number_of_threads_came_from) {
  const json ours = json::parse(info({"--json"}, {{"TESSERA_NUM_THREADS", "3"}}).out)["machine"];
  BOOST_TEST(ours["threads"] == 3);
  BOOST_TEST(ours["threads_from"] == "TESSERA_NUM_THREADS");
  const json openmp =
      json::parse(info({"--json"}, {{"TESSERA_NUM_THREADS", ""}, {"OMP_NUM_THREADS", "1,2"}}).out)["machine"];
  BOOST_TEST(openmp["threads"] == 1);
  BOOST_TEST(openmp["threads_from"] == "OMP_NUM_THREADS");
}

BOOST_AUTO_TEST_CASE(says_the_default_backend_and_why) {
  const Variables named{{"TESSERA_BACKEND", "reference"}}, none{{"TESSERA_BACKEND", ""}};
  BOOST_TEST(
      contains(info({"--no-kernels"}, named).out, "Default backend       reference, which TESSERA_BACKEND names"));
  const json automatic = json::parse(info({"--json"}, none).out);
  BOOST_TEST(automatic["default_backend"]["from"] == "automatic");
  for (const json& backend : automatic["backends"]) // the best one comes first
    if (backend["available"] == true) {
      BOOST_TEST(automatic["default_backend"]["backend"] == backend["backend"]);
      break;
    }
  BOOST_TEST(contains(info({"--no-kernels"}, none).out, ", the best one available; TESSERA_BACKEND names another"));
  const Outcome wrong = info({}, {{"TESSERA_BACKEND", "tbbb"}});
  BOOST_TEST(wrong.status == 2);
  BOOST_TEST(contains(wrong.err, "TESSERA_BACKEND=tbbb: unknown backend 'tbbb'; did you mean 'tbb'?"), wrong.err);
}

BOOST_AUTO_TEST_CASE(writes_a_file) {
  BOOST_TEST(info({"--json", "info.json"}).status == 0);
  BOOST_TEST(json::parse(folder.read("info.json"))["machine"].contains("cpu"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
