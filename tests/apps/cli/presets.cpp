/// Tests the presets: what they would run, what they show beside it, and what they say where they cannot run.

#include <boost/test/unit_test.hpp>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "results.hpp"
#include "support/process.hpp"

namespace tessera::test {

using nlohmann::json;

namespace {

struct KnownPreset {
  const char* name;
  bool on_gpu;
  std::vector<const char*> says; ///< what --list says of it
};

const std::vector<KnownPreset> known_presets{
    {"blog", true, {"GTX 1080", "4096×4096×4096", "naive_coalesced: 392 ms", "cublas: 20 ms"}},
    {"course", true, {"1000×1000×1000", "1024×1024×1024", "shared_tile_zero_padded", "kahan*"}},
    {"pitch", false, {"1000×1000×1000", "1024×1024×1024", "pitched: over 3 times", "cudaMallocPitch"}},
    {"report", false, {"i7-6700HQ", "512×512×512", "2560×2560×2560", "gold: 20 s", "≈ 14 times", "kernels: all"}},
    {"sgemm", true, {"A6000", "4092×4092×4092", "tile_1d: 8474.7 GFLOP/s", "z_order"}},
    {"walkthrough", true, {"V100", "5, 50, 300, 500, 650, 1000 and 7000 GFLOP/s", "occupancy*: 650 GFLOP/s"}},
};

/// Returns the words of the first line after `title` that begins with these two words.
std::vector<std::string> row_after(const std::string& text, const std::string& title, const std::string& backend,
                                   const std::string& kernel) {
  std::istringstream lines(text.substr(std::min(text.find(title), text.size())));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    if (words.size() > 2 && words[0] == backend && words[1] == kernel) return words;
  }
  BOOST_ERROR("no entry " << backend << " " << kernel << " after '" << title << "' in:\n" << text);
  return {};
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(preset_runs, Programs)

BOOST_AUTO_TEST_CASE(each_preset_lists_what_it_runs) {
  for (const KnownPreset& preset : known_presets) {
    const Outcome outcome = compare({"--preset", preset.name, "--list"});
    BOOST_TEST(outcome.status == 0, outcome.err);
    BOOST_TEST(contains(outcome.out, std::string("preset ") + preset.name + ": "), outcome.out);
    for (const char* part : preset.says)
      BOOST_TEST(contains(outcome.out, part), part << " is not in:\n" << outcome.out);
    BOOST_TEST(contains(compare({"--help"}).out, std::string("\n  ") + preset.name + " "), preset.name);
  }
  const Outcome reductions = compare({"--preset", "course", "--op", "sum_of_squares", "--list", "--cpu"});
  BOOST_TEST(contains(reductions.out, "products: 1048576\nkernels: all"), reductions.out);
  BOOST_TEST(contains(reductions.out, "sum_of_squares"), reductions.out);
  BOOST_TEST(!contains(reductions.out, "gemm "), reductions.out);
}

BOOST_AUTO_TEST_CASE(a_preset_of_a_gpu_says_so_where_there_is_none) {
  const json machine = json::parse(compare({"--list", "--json", "-"}).out);
  if (has_gpu(machine)) return;
  for (const KnownPreset& preset : known_presets)
    if (preset.on_gpu)
      expect_usage_error(compare({"--preset", preset.name}),
                         {std::string("--preset ") + preset.name, "run on a GPU", "--list", "cuda is not available"});
}

BOOST_AUTO_TEST_CASE(presets_that_cannot_be) {
  const Outcome unknown = compare({"--preset", "sgem"});
  expect_usage_error(unknown, {"'sgem'", "did you mean 'sgemm'"});
  for (const KnownPreset& preset : known_presets) BOOST_TEST(contains(unknown.err, preset.name), unknown.err);
  expect_usage_error(compare({"--preset", "blog", "--op", "sum_of_squares"}), {"blog", "--op sum_of_squares"});
  expect_usage_error(compare({"--preset", "blog", "--backend", "reference"}), {"blog", "reference", "cublas"});
  expect_usage_error(compare({"tune", "--preset", "blog"}), {"--preset", "tune"});
  expect_usage_error(compare({"--preset", "blog", "--diff", "a.json", "b.json"}), {"--preset", "--diff"});
  expect_usage_error(compare({"--preset", "blog", "--cpu", "--kernels", "nosuch"}), {"--kernels", "nosuch"});
}

BOOST_AUTO_TEST_CASE(published_figures_stand_beside_the_results) {
  const Outcome outcome =
      compare({"--preset", "report", "--cblas", "none", "--sizes", "24,40", "--repeat", "2", "--json", "out.json"});
  BOOST_TEST(outcome.status == 0, outcome.err);
  BOOST_TEST(outcome.out.starts_with("Preset report: "), outcome.out);
  const std::string title = "Published (i7-6700HQ, n = 1024), and here (n = 40)";
  const json document = json::parse(folder.read("out.json"));
  const auto mean_of = [&](const std::string& backend, const std::string& kernel) {
    for (const json& entry : document["results"])
      if (entry["backend"] == backend && entry["kernel"] == kernel && entry["n"] == 40)
        return entry["seconds"]["mean"].get<double>();
    return 0.0;
  };
  const std::vector<std::string> gold = row_after(outcome.out, title, "reference", "gold");
  BOOST_TEST(contains(fmt::format("{}", fmt::join(gold, " ")), "gold 20 s 1.00 "));
  BOOST_TEST(gold.back() == "1.00");
  const std::vector<std::string> canonical = row_after(outcome.out, title, "reference", "canonical");
  BOOST_TEST_REQUIRE(canonical.size() > 4u);
  BOOST_TEST(canonical[2] == "–"); // nothing was published of it
  BOOST_TEST(canonical[3] == "–");
  BOOST_TEST(canonical.back() ==
             fmt::format("{:.2f}", mean_of("reference", "gold") / mean_of("reference", "canonical")));
  if (mean_of("openmp", "tiled_4x4") == 0) return;
  const std::vector<std::string> tiled = row_after(outcome.out, title, "openmp", "tiled_4x4");
  BOOST_TEST(contains(fmt::format("{}", fmt::join(tiled, " ")), "tiled_4x4 ≈ 14 times 14.00 "));
}

/// On a machine without a GPU the processor's kernels run, without padding between the rows of matrices.
BOOST_AUTO_TEST_CASE(the_pitch_preset_runs_on_what_there_is) {
  const Outcome outcome = compare({"--preset", "pitch", "--sizes", "24,32", "--repeat", "1", "--json", "out.json"});
  BOOST_TEST(outcome.status == 0, outcome.err);
  const json document = json::parse(folder.read("out.json"));
  BOOST_TEST(document["inputs"]["ld_pad"] == 0);
  const std::string title = "GFLOP/s over the sizes";
  BOOST_TEST(contains(outcome.out, title), outcome.out);
  bool on_gpu = false;
  for (const json& entry : document["results"]) on_gpu |= entry["backend"] == "cuda" && entry["kernel"] == "pitched";
  BOOST_TEST(contains(outcome.out, "over 3 times") == on_gpu); // figures stand beside entries of their backend alone
  std::vector<double> speeds;
  for (const json& entry : document["results"])
    if (entry["backend"] == "openmp" && entry["kernel"] == "naive") speeds.push_back(entry["gflops"].get<double>());
  if (speeds.empty()) return; // OpenMP was not built
  BOOST_TEST_REQUIRE(speeds.size() == 2u);
  const std::vector<std::string> naive = row_after(outcome.out, title, "openmp", "naive");
  BOOST_TEST_REQUIRE(naive.size() > 4u);
  BOOST_TEST(naive[naive.size() - 3] == fmt::format("{:.2f}", speeds[0]));
  BOOST_TEST(naive[naive.size() - 2] == fmt::format("{:.2f}", speeds[1]));
  const auto [low, high] = std::minmax(speeds[0], speeds[1]);
  BOOST_TEST(naive.back() == fmt::format("{:.2f}", high / low));
}

BOOST_AUTO_TEST_CASE(what_the_command_line_says_counts) {
  const Outcome outcome = compare({"--preset", "course", "--cpu", "--kernels", "gold", "--sizes", "20", "--repeat", "1",
                                   "--dtype", "f64", "--json", "-"});
  BOOST_TEST(outcome.status == 0, outcome.err);
  const json document = json::parse(outcome.out);
  BOOST_TEST(document["results"].size() == 1u);
  const json gold = result_of(document, "gold");
  BOOST_TEST(gold["n"] == 20);
  BOOST_TEST(gold["dtype"] == "f64");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
