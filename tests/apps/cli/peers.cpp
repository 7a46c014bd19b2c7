/// Tests gemm_bench peers.

#include <algorithm>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "support/process.hpp"

namespace tessera::test {

using nlohmann::json;

BOOST_FIXTURE_TEST_SUITE(peers, Programs)

BOOST_AUTO_TEST_CASE(every_peer_is_timed_on_every_shape) {
  const Outcome outcome = bench({"peers", "--shapes", "7x5x3,64x64x64", "--threads", "1,2", "--rounds", "3",
                                 "--sample-ms", "0.1", "--json", "out.json"});
  BOOST_TEST(outcome.status == 0, outcome.err);
  for (const char* part : {"f32 7×5×3", "f64 64×64×64", "tessera-openmp", "tessera-tbb", "fma-probe"})
    BOOST_TEST(contains(outcome.out, part), part);
  const json report = json::parse(folder.read("out.json"));
  BOOST_TEST(report["schema"] == "tessera.peers/1");
  std::size_t tbb = 0;
  for (const json& entry : report["results"]) {
    if (entry["peer"] != "tessera-tbb") continue;
    ++tbb;
    BOOST_TEST(entry["gflops"] > 0.0);
    BOOST_TEST(entry["seconds"]["samples"] == 3);
    BOOST_TEST(entry["seconds"]["min"] <= entry["seconds"]["median"]);
    BOOST_TEST(!entry.contains("problem"));
  }
  BOOST_TEST(tbb == 8u); // There are two types, two numbers of threads and two shapes.
}

BOOST_AUTO_TEST_CASE(shapes_say_how_operands_are_stored) {
  const Outcome outcome = bench({"peers", "--shapes", "7x5x3:TN,7x5x3", "--threads", "1", "--dtype", "f32", "--rounds",
                                 "1", "--sample-ms", "0.1", "--json", "out.json"});
  BOOST_TEST(outcome.status == 0, outcome.err);
  std::vector<json> stored;
  const json report = json::parse(folder.read("out.json"));
  for (const json& entry : report["results"])
    if (entry["peer"] == "tessera-openmp") stored.push_back({entry["trans_a"], entry["trans_b"]});
  BOOST_TEST((stored == std::vector<json>{{true, false}, {false, false}}));
}

BOOST_AUTO_TEST_CASE(factors_are_timed_and_checked) {
  const Outcome outcome = bench({"peers", "--shapes", "70x65x33,9x5x3:TT", "--threads", "1", "--rounds", "3",
                                 "--sample-ms", "0.1", "--alpha", "-1", "--beta", "1", "--json", "out.json"});
  BOOST_TEST(outcome.status == 0, outcome.err);
  BOOST_TEST(contains(outcome.out, "f64 70×65×33 α=-1 β=1"), outcome.out);
  const json report = json::parse(folder.read("out.json"));
  for (const json& entry : report["results"]) {
    BOOST_TEST(entry["alpha"] == -1.0);
    BOOST_TEST(entry["beta"] == 1.0);
    BOOST_TEST(!entry.contains("problem"), entry.dump());
  }
}

BOOST_AUTO_TEST_CASE(random_products_follow_from_the_seed) {
  const auto shapes = [&](const char* seeds) {
    const Outcome outcome = bench({"peers", "--random", "3", "--seed", seeds, "--threads", "1", "--dtype", "f32",
                                   "--rounds", "1", "--sample-ms", "0.1", "--json", "out.json"});
    BOOST_TEST(outcome.status == 0, outcome.err);
    std::vector<json> drawn;
    const json report = json::parse(folder.read("out.json"));
    for (const json& entry : report["results"])
      if (entry["peer"] == "tessera-openmp")
        drawn.push_back(
            {entry["m"], entry["n"], entry["k"], entry["trans_a"], entry["trans_b"], entry["alpha"], entry["beta"]});
    return drawn;
  };
  const std::vector<json> both = shapes("5,6"), second = shapes("6");
  BOOST_TEST_REQUIRE(both.size() == 6u);
  BOOST_TEST_REQUIRE(second.size() == 3u);
  BOOST_TEST((std::vector<json>(both.begin() + 3, both.end()) == second));
  BOOST_TEST((std::vector<json>(both.begin(), both.begin() + 3) != second));
  for (const int factor : {5, 6}) // alpha and beta
    BOOST_TEST((std::any_of(both.begin(), both.end(), [&](const json& x) { return x[factor] != both[0][factor]; })));
  for (const json& product : both)
    for (int size = 0; size < 3; ++size) BOOST_TEST((product[size] >= 4 && product[size] <= 4096));
}

BOOST_AUTO_TEST_CASE(bad_words_are_named) {
  expect_usage_error(bench({"peers", "--kernals", "simd"}), {"unknown argument '--kernals'", "'--kernel'"});
  expect_usage_error(bench({"peers", "--random", "0"}), {"--random"});
  expect_usage_error(bench({"peers", "--shapes", "8x8x8:TX"}), {"--shapes", "'TX'", "8x8x8:TX", "TN"});
  expect_usage_error(bench({"peers", "--random", "2", "--seed", "x"}), {"--seed", "'x'"});
  expect_usage_error(bench({"peers", "--kernel", "simd"}), {"--kernel", "--gpu"});
  expect_usage_error(bench({"peers", "--gpu", "--dtype", "tf23"}), {"tf23", "tf32"});
  expect_usage_error(bench({"peers", "--shapes", "7x5"}), {"--shapes", "'7x5'", "MxNxK"});
  expect_usage_error(bench({"peers", "--shapes", "7x5x3x2"}), {"--shapes", "'7x5x3x2'"});
  expect_usage_error(bench({"peers", "--library", "libnothing.so"}), {"--library", "libnothing.so"});
  expect_usage_error(bench({"peers", "--dtype", "f33"}), {"f33", "f32"});
}

BOOST_AUTO_TEST_CASE(lists_of_executors_compute_the_same_bits) {
  const Outcome outcome = bench({"executors", "--executors", "reference,reference+openmp,openmp+tbb", "--shapes",
                                 "300x200x1100", "--dtype", "f32,bf16", "--rounds", "2", "--json", "out.json"});
  BOOST_TEST(outcome.status == 0, outcome.err);
  const json report = json::parse(folder.read("out.json"));
  BOOST_TEST(report["schema"] == "tessera.executors/1");
  BOOST_REQUIRE(report["results"].size() == 6u);
  for (const json& entry : report["results"]) {
    BOOST_TEST(entry["seconds"]["samples"] == 2);
    BOOST_TEST(entry["gflops"] > 0.0);
    BOOST_TEST(!entry.contains("problem"));
    const std::string check = entry["check"];
    BOOST_TEST(contains(check, entry["executors"] == "reference" ? "of its bound" : "same bits as the first"), check);
  }
}

BOOST_AUTO_TEST_CASE(matrices_that_stay_on_executors_have_the_same_bits) {
  const Outcome outcome =
      bench({"executors", "--operands", "resident", "--executors", "reference,openmp+tbb", "--shapes", "70x1300x90",
             "--dtype", "f64,bf16", "--rounds", "2", "--json", "out.json"});
  BOOST_TEST(outcome.status == 0, outcome.err);
  const json report = json::parse(folder.read("out.json"));
  BOOST_REQUIRE(report["results"].size() == 4u);
  for (const json& entry : report["results"]) {
    BOOST_TEST(entry["peer"] == "tessera-resident");
    BOOST_TEST(entry["seconds"]["samples"] == 2);
    const std::string check = entry["check"];
    BOOST_TEST(contains(check, entry["executors"] == "reference" ? "of its bound" : "same bits as the first"), check);
  }
}

BOOST_AUTO_TEST_CASE(a_product_that_takes_longer_than_its_seconds_counts_once) {
  const Outcome outcome = bench({"executors", "--executors", "reference,openmp", "--shapes", "60x60x60", "--dtype",
                                 "f32", "--seconds", "1e-9", "--rounds", "3", "--json", "out.json"});
  BOOST_TEST(outcome.status == 0, outcome.err);
  const json report = json::parse(folder.read("out.json"));
  for (const json& entry : report["results"]) {
    BOOST_TEST(entry["seconds"]["samples"] == 1);
    BOOST_TEST(entry.contains("check"));
  }
}

BOOST_AUTO_TEST_CASE(an_unknown_executor_is_named) {
  const Outcome outcome = bench({"executors", "--executors", "openmp+opnmp"});
  BOOST_TEST(outcome.status == 2);
  BOOST_TEST(contains(outcome.err, "opnmp"), outcome.err);
  expect_usage_error(bench({"executors", "--executors", "reference", "--operands", "residnt"}),
                     {"--operands", "residnt", "resident"});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
