/// Tests which command lines race the models of a GPU's matrix units, and how the others say that they do not.

#include <set>

#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "support/process.hpp"

namespace tessera::test {
namespace {

using nlohmann::json;

struct Models : Programs {
  /// Races the reference's kernels, of which hopper_units alone is a model.
  Outcome race(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--backend", "reference", "--sizes", "12", "--repeat", "1"});
    return compare(arguments);
  }

  std::set<std::string> raced(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--json", "-"});
    const Outcome outcome = race(arguments);
    BOOST_REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    const json document = json::parse(outcome.out);
    std::set<std::string> kernels;
    for (const json& entry : document["results"]) kernels.insert(entry["kernel"].get<std::string>());
    return kernels;
  }
};

const std::set<std::string> no_models{"canonical", "gold"};
const std::set<std::string> with_models{"canonical", "gold", "hopper_units"};
const std::set<std::string> only_models{"hopper_units"};

} // namespace

BOOST_FIXTURE_TEST_SUITE(models, Models)

BOOST_AUTO_TEST_CASE(models_run_only_where_they_are_meant) {
  BOOST_TEST(raced({}) == no_models, boost::test_tools::per_element());
  BOOST_TEST(raced({"--kernels", "*"}) == no_models, boost::test_tools::per_element());
  BOOST_TEST(raced({"--all-modes"}) == with_models, boost::test_tools::per_element());
  BOOST_TEST(raced({"--math", "all"}) == with_models, boost::test_tools::per_element());
  BOOST_TEST(raced({"--math", "tf32"}) == only_models, boost::test_tools::per_element());
  BOOST_TEST(raced({"--math", "strict"}) == no_models, boost::test_tools::per_element());
  BOOST_TEST(raced({"--kernels", "hopper*"}) == only_models, boost::test_tools::per_element());
  BOOST_TEST(raced({"--kernels", "gold,hopper_units"}) == (std::set<std::string>{"gold", "hopper_units"}),
             boost::test_tools::per_element());
  BOOST_TEST(raced({"--dtype", "f64"}) == no_models, boost::test_tools::per_element());
  BOOST_TEST(raced({"--dtype", "f64", "--math", "int8_units"}) == (std::set<std::string>{"int8_units"}),
             boost::test_tools::per_element());
  BOOST_TEST(raced({"--kernels", "gold", "--all-modes"}) == (std::set<std::string>{"gold"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(one_line_says_what_was_left_out) {
  const std::string line = "left out: hopper_units (reference), slow models";
  const Outcome table = race({});
  BOOST_TEST(contains(table.out, "\n  " + line), table.out);
  for (const char* way : {"--kernels hopper_units", "--all-modes"}) BOOST_TEST(contains(table.out, way), table.out);
  BOOST_TEST(table.err == "");
  BOOST_TEST(contains(race({"--json", "-"}).err, "gemm_compare: " + line)); // there is no table
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--all-modes"}, {"--kernels", "gold"}, {"--math", "strict"}}) {
    const Outcome outcome = race(arguments);
    BOOST_TEST(!contains(outcome.out + outcome.err, "left out"), outcome.out);
  }
}

BOOST_AUTO_TEST_CASE(the_list_has_the_models) {
  BOOST_TEST(contains(compare({"--backend", "reference", "--list"}).out, "hopper_units"));
}

/// Strict entries stand together, above the entries of other modes, in the table and in the document.
BOOST_AUTO_TEST_CASE(strict_entries_come_first) {
  const json document = json::parse(race({"--all-modes", "--json", "-"}).out);
  bool other = false;
  for (const json& entry : document["results"]) {
    other |= entry["math"] != "strict";
    BOOST_TEST((entry["math"] == "strict") == !other, entry["kernel"]);
  }
  BOOST_TEST(other);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
