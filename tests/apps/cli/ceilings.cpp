/// Tests that the machine's ceilings are measured, kept in the user's cache folder, and used.

#include <sys/stat.h>
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "support/process.hpp"

namespace tessera::test {

using nlohmann::json;

namespace {

namespace fs = std::filesystem;

struct Cache : Programs {
  const std::string file = (folder.path() / "cache" / "tessera" / "ceilings.json").string();
  const Variables here{{"XDG_CACHE_HOME", (folder.path() / "cache").string()}};
  const bool measures; ///< There is a backend that measures.

  /// Each test begins with a file of this machine's ceilings, which are measured once.
  Cache() : measures(compare({"--cpu", "--list"}, here).out.find(" simd ") != std::string::npos) {
    static std::string measured;
    fs::create_directories(folder.path() / "cache" / "tessera");
    if (!measures) return;
    if (measured.empty()) {
      run();
      measured = folder.read("cache/tessera/ceilings.json");
    }
    folder.write("cache/tessera/ceilings.json", measured);
  }

  /// Makes a small run measure the ceilings of f32 on one thread.
  json run(const std::vector<std::string>& more = {}, std::string* said = nullptr) const {
    std::vector<std::string> arguments{"--cpu", "--kernels", "simd", "--sizes", "16,300", "--threads",
                                       "1",     "--repeat",  "3",    "--json",  "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = compare(arguments, here);
    BOOST_TEST(outcome.status == 0);
    if (said != nullptr) *said = outcome.err;
    const json report = json::parse(outcome.out);
    BOOST_TEST_REQUIRE(report["machine"]["ceilings"].size() == 1u);
    return report["machine"]["ceilings"][0];
  }
  /// Runs a product on the odd device, which says at once what its ceilings are.
  Outcome on_odd_device(Variables variables) const {
    variables.emplace_back("TESSERA_PLUGIN_PATH", TESSERA_ODD_DEVICE_FOLDER);
    return compare({"--backend", "cuda", "--kernels", "fine", "--sizes", "16"}, variables);
  }
  json kept() const { return json::parse(folder.read("cache/tessera/ceilings.json")); }
  void keep(const json& whole) const { folder.write("cache/tessera/ceilings.json", whole.dump()); }
  json& first(json& whole) const { return whole["machines"][0]["ceilings"][0]; }
};

/// The run went well, it has ceilings, and one line on stderr has these parts.
void expect_line(const Outcome& outcome, const std::vector<std::string>& parts) {
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(contains(outcome.out, "% peak"), outcome.out);
  for (const std::string& part : parts) BOOST_TEST(contains(outcome.err, part), outcome.err);
  BOOST_TEST(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1, outcome.err);
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(measured_ceilings, Cache)

BOOST_AUTO_TEST_CASE(what_was_measured_is_kept_and_found_again) {
  if (!measures) return;
  json whole = kept();
  BOOST_TEST(whole["schema"] == "tessera.ceilings/1");
  const json measured = first(whole);
  BOOST_TEST(measured["device"] == "cpu");
  BOOST_TEST(measured["flops"].get<double>() > 1e8);
  BOOST_TEST(measured["bytes_per_second"].get<double>() > 1e8);
  BOOST_TEST(measured["peaks"].contains("portable"));
  double nearer = 1e300;
  for (const json& cache : measured["caches"]) {
    BOOST_TEST(cache["bytes_per_second"].get<double>() <= nearer);
    nearer = cache["bytes_per_second"];
  }
  BOOST_TEST(measured["bytes_per_second"].get<double>() <= nearer);
  // A number that no machine reaches shows where it came from, until the machine is measured again.
  first(whole)["flops"] = 1e20;
  keep(whole);
  BOOST_TEST(run()["flops"] == 1e20);
  BOOST_TEST(run({"--measure-ceilings"})["flops"].get<double>() < 1e18);
  BOOST_TEST(run()["flops"].get<double>() < 1e18);
}

BOOST_AUTO_TEST_CASE(another_machine_is_measured_and_the_first_one_kept) {
  if (!measures) return;
  json whole = kept();
  whole["machines"][0]["fingerprint"]["cpu"] = "Another Processor";
  first(whole)["flops"] = 1e20;
  keep(whole);
  BOOST_TEST(run()["flops"].get<double>() < 1e18);
  whole = kept();
  BOOST_TEST(whole["machines"].size() == 2u);
  BOOST_TEST(first(whole)["flops"] == 1e20);
}

BOOST_AUTO_TEST_CASE(a_file_that_says_nothing_is_named_and_replaced) {
  if (!measures) return;
  folder.write("cache/tessera/ceilings.json", "{\"schema\": \"tessera.ceil");
  std::string said;
  BOOST_TEST(run({}, &said)["flops"].get<double>() > 1e8);
  BOOST_TEST(contains(said, file), said);
  BOOST_TEST(contains(said, "measured again"), said);
  BOOST_TEST(kept()["machines"].size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_nested_too_deep_is_named_and_replaced) {
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  for (const std::string& text : {deep, R"({"schema": "tessera.ceilings/1", "machines": )" + deep + "}"}) {
    folder.write("cache/tessera/ceilings.json", text);
    expect_line(on_odd_device(here), {file, "nested deeper than 64 levels", "measured again"});
    BOOST_TEST(kept()["machines"].size() == 1u);
  }
}

BOOST_AUTO_TEST_CASE(a_file_of_another_version_stays) {
  const std::string text = R"({"schema": "tessera.ceilings/2", "machines": {"of": "a later version"}})";
  folder.write("cache/tessera/ceilings.json", text);
  expect_line(on_odd_device(here), {file, "tessera.ceilings/2", "measured again", "the file stays as it is"});
  BOOST_TEST(folder.read("cache/tessera/ceilings.json") == text);
}

BOOST_AUTO_TEST_CASE(a_pipe_or_a_folder_in_its_place_stays) {
  for (const bool pipe : {true, false}) {
    fs::remove(file);
    if (pipe)
      BOOST_TEST(mkfifo(file.c_str(), 0600) == 0);
    else
      fs::create_directory(file);
    expect_line(on_odd_device(here), {file + (pipe ? ": is a pipe" : ": is a folder"), "measured again"});
    BOOST_TEST((pipe ? fs::is_fifo(file) : fs::is_directory(file)));
  }
}

/// A file where a folder should be, and a link to itself: both fail for root, too, as another user's home does for a
/// user.
BOOST_AUTO_TEST_CASE(a_place_that_cannot_be_written_is_no_error) {
  folder.write("file", "");
  fs::create_symlink("loop", folder.path() / "loop");
  for (const auto& [name, why] : Variables{{"file", "Not a directory"}, {"loop", "Too many levels"}})
    for (const char* variable : {"XDG_CACHE_HOME", "HOME"}) {
      const std::string place = (folder.path() / name).string();
      expect_line(on_odd_device({{variable, place}, {"XDG_CACHE_HOME", ""}}), {"ceilings", place, why});
    }
}

BOOST_AUTO_TEST_CASE(what_binds_is_the_nearest_level_that_holds_the_operands) {
  if (!measures) return;
  json whole = kept();
  first(whole).update(json::parse(R"({"flops": 1e30, "bytes_per_second": 1e17, "caches": [
    {"level": 1, "bytes": 4000, "bytes_per_second": 4e17}, {"level": 2, "bytes": 100000, "bytes_per_second": 2e17}]})"));
  keep(whole);
  const auto percent = [&](int n, const char* dtype, double bandwidth, double size) {
    const Outcome outcome = compare(
        {"--cpu", "--kernels", "simd", "--sizes", std::to_string(n), "--threads", "1", "--dtype", dtype, "--json", "-"},
        here);
    const json report = json::parse(outcome.out);
    for (const json& one : report["results"])
      BOOST_TEST(one["ceiling_percent"].get<double>() ==
                     100 * 3.0 * n * n * size / bandwidth / one["seconds"]["median"].get<double>(),
                 boost::test_tools::tolerance(1e-9));
  };
  percent(16, "f32", 4e17, 4);
  percent(64, "f32", 2e17, 4);
  percent(128, "f32", 1e17, 4);
}

/// odd_device claims 1 TFLOP/s, an L2 cache of 10 KiB at 2 TB/s, and memory at 1 TB/s.
BOOST_AUTO_TEST_CASE(a_devices_cache_counts_like_the_processors) {
  const Variables odd{here[0], {"TESSERA_PLUGIN_PATH", TESSERA_ODD_DEVICE_FOLDER}};
  const auto percent = [&](int k, double bandwidth) {
    const Outcome outcome = compare({"--backend", "cuda", "--kernels", "fine", "--shape", "1x1x" + std::to_string(k),
                                     "--dtype", "f32", "--json", "-"},
                                    odd);
    const json report = json::parse(outcome.out);
    for (const json& one : report["results"])
      if (one["kernel"] == "fine")
        BOOST_TEST(one["ceiling_percent"].get<double>() ==
                       100 * 4.0 * (2 * k + 1) / bandwidth / one["seconds"]["median"].get<double>(),
                   boost::test_tools::tolerance(1e-9));
    return report["machine"]["ceilings"][0]["caches"];
  };
  const json caches = percent(100, 2e12);
  BOOST_TEST(caches.dump() == R"([{"bytes":10240,"bytes_per_second":2000000000000.0,"level":2}])");
  percent(4000, 1e12);
  const json fingerprint = kept()["machines"].back()["fingerprint"];
  BOOST_TEST(fingerprint["device"] == "odd device");
  BOOST_TEST(fingerprint["l2_bytes"] == 10240);
  BOOST_TEST(contains(info({"--ceilings"}, odd).out, "L2 (10 KiB) 2000, memory 1000.0"));
}

BOOST_AUTO_TEST_CASE(a_ceiling_that_a_kernel_breaks_was_disturbed) {
  if (!measures) return;
  json whole = kept();
  first(whole)["flops"] = 1e3;
  keep(whole);
  BOOST_TEST(run()["flops"].get<double>() > 1e8);
  whole = kept();
  BOOST_TEST(first(whole)["flops"].get<double>() > 1e8);
}

BOOST_AUTO_TEST_CASE(the_information_shows_them) {
  if (!measures) return;
  const Variables one{here[0], {"TESSERA_NUM_THREADS", "1"}};
  const Outcome outcome = info({"--ceilings"}, one);
  BOOST_TEST(outcome.status == 0);
  for (const char* part : {"Ceilings", "portable", "memory", "1 thread", "f64"})
    BOOST_TEST(contains(outcome.out, part), part);
  BOOST_TEST(contains(outcome.out, file));
  const json report = json::parse(info({"--ceilings", "--json"}, one).out);
  const json& ceilings = report["machine"]["ceilings"]; // of f32 and of f64, beside ones of devices, without threads
  BOOST_TEST(std::ranges::count_if(ceilings, [](const json& entry) { return entry["threads"] == 1; }) == 2);
  BOOST_TEST(!json::parse(info({"--json"}, one).out)["machine"].contains("ceilings"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
