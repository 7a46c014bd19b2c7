#include "documents.hpp"

#include <cmath>

namespace tessera::report::testing {
namespace {

constexpr double peak = 100; // GFLOP/s of the CPU in f32.

/// Returns an entry whose numbers agree with each other: the speed follows from the time, the percentage from the speed
/// and `ceiling` in GFLOP/s.
Json consistent(const std::string& backend, const std::string& kernel, const std::string& dtype, int size,
                double seconds, double ceiling) {
  const double speed = 2.0 * size * size * size / seconds / 1e9;
  return with(passed(kernel, size, seconds), {{"backend", backend},
                                              {"dtype", dtype},
                                              {"threads", backend == "cuda" ? 0 : 2},
                                              {"gflops", speed},
                                              {"ceiling_percent", 100 * speed / ceiling}});
}

/// Adds the entries of one size. The best CPU kernel takes c·n³. The GPU takes hardly more than a launch, and a launch
/// takes as long as n = 396 on the CPU. Both transfers together take 2.4 launches. So the GPU wins with transfers from
/// n = 597 on.
void add_size(Json& entries, const std::string& dtype, int size) {
  const double operations = 2.0 * size * size * size;
  const double slower = dtype == "f64" ? 2 : 1;
  for (const char* backend : {"openmp", "tbb"})
    for (int i = 0; i < 8; ++i)
      entries.push_back(consistent(backend, "host_" + std::to_string(i), dtype, size,
                                   slower * operations / (peak * 1e9) * std::pow(1.6, 7 - i) / 0.8, peak));
  const double launch = 1.1 * slower * operations / (peak * 1e9) / 0.8 * std::pow(384.0 / size, 3);
  for (int i = 0; i < 14; ++i)
    entries.push_back(consistent("cuda", "device_" + std::to_string(i), dtype, size,
                                 launch + slower * operations / 50e12 * std::pow(1.5, 13 - i), 60e3));
  for (const char* direction : {"to device", "from device"})
    entries.push_back(with(passed(direction, size, 1.2 * launch), {{"backend", "cuda"},
                                                                   {"dtype", dtype},
                                                                   {"threads", 0},
                                                                   {"transfer", true},
                                                                   {"error", nullptr},
                                                                   {"gflops", nullptr},
                                                                   {"ceiling_percent", nullptr},
                                                                   {"verdict", "timed"}}));
}

/// Adds the grades. All of the host's kernels have equal errors, and so have all but one of the device's kernels.
void add_grades(Json& grades, const std::string& dtype) {
  const auto add = [&](const char* backend, const std::string& kernel, double error, double power, const char* letter) {
    Json grade{{"backend", backend},
               {"kernel", kernel},
               {"dtype", dtype},
               {"math", "strict"},
               {"threads", backend == std::string("cuda") ? 0 : 2},
               {"grade", letter},
               {"slope", power},
               {"sizes", Json::array()}};
    for (const int n : {256, 512, 1024, 2048, 4096})
      grade["sizes"].push_back({{"n", n}, {"componentwise", error * std::pow(n / 256.0, power)}});
    grades.push_back(grade);
  };
  for (const char* backend : {"openmp", "tbb"})
    for (int i = 0; i < 8; ++i) add(backend, "host_" + std::to_string(i), 4, 0.5, "A");
  for (int i = 0; i < 13; ++i) add("cuda", "device_" + std::to_string(i), 2, 0.5, "A");
  add("cuda", "device_13", 8, 1.5, "none");
}

} // namespace

Json passed(const std::string& kernel, int size, double seconds) {
  Json entry = Json::parse(R"({
    "op": "gemm", "backend": "openmp", "kernel": "", "dtype": "f32", "math": "strict", "canonical": true,
    "m": 0, "n": 0, "k": 0, "trans_a": false, "trans_b": false, "alpha": 1.0, "beta": 0.0, "threads": 2,
    "transfer": false, "seconds": {}, "gflops": 0.0, "ceiling_percent": 50.0, "speedup": 2.0,
    "error": {"total_abs": 0.5, "max_rel": 1e-5, "mean_rel": 1e-7, "max_over_bound": 0.25, "differing_bits": 0},
    "verdict": "pass", "reason": ""})");
  entry["kernel"] = kernel;
  for (const char* dimension : {"m", "n", "k"}) entry[dimension] = size;
  entry["gflops"] = 2.0 * size * size * size / seconds / 1e9;
  return timed(entry, 0.99 * seconds, seconds, 1.01 * seconds, 7);
}

Json with(Json entry, std::initializer_list<std::pair<const char*, Json>> fields) {
  for (const auto& [key, value] : fields) entry[key] = value;
  return entry;
}

Json timed(Json entry, double min, double median, double max, int samples) {
  Json& seconds = entry["seconds"] = Json::object();
  seconds["median"] = median;
  seconds["min"] = min;
  seconds["max"] = max;
  seconds["samples"] = samples;
  return entry;
}

Json document(std::initializer_list<Json> entries) {
  Json whole = Json::parse(R"({
    "schema": "tessera.compare/1",
    "command": ["gemm_compare", "--kernels", "*"],
    "inputs": {"seed": 1},
    "machine": {
      "cpu": "A Processor", "threads": 2, "date": "2026-01-01T00:00:00Z",
      "devices": [{"backend": "openmp", "device": "A Processor", "host_memory": true},
                  {"backend": "cuda", "device": "A Card", "host_memory": false, "driver": "1.0"}]},
    "results": []})");
  for (const Json& entry : entries) whole["results"].push_back(entry);
  return whole;
}

Json full_run() {
  Json entries = Json::array();
  for (const char* dtype : {"f32", "f64"})
    for (const int size : {256, 512, 1024, 2048, 4096}) add_size(entries, dtype, size);
  for (Json& entry : entries)
    if (entry["kernel"] == "device_9" && entry["n"] == 1024 && entry["dtype"] == "f32") {
      entry["verdict"] = "wrong";
      entry["error"]["max_over_bound"] = 3.5;
    }
  Json whole = document({});
  whole["results"] = entries;
  whole["grades"] = Json::array();
  for (const char* dtype : {"f32", "f64"}) add_grades(whole["grades"], dtype);
  return whole;
}

std::string section(const std::string& page, const std::string& id) {
  const std::size_t begin = page.find("<section id=\"" + id + "\"");
  return begin == std::string::npos ? "" : page.substr(begin, page.find("</section>", begin) - begin);
}

Json run_of_modes() {
  const auto entry = [](const char* kernel, const char* math, bool canonical, int size, double gflops) {
    const double seconds = 2.0 * size * size * size / gflops / 1e9;
    return with(passed(kernel, size, seconds),
                {{"math", math}, {"canonical", canonical}, {"ceiling_percent", nullptr}});
  };
  Json whole = document({});
  for (const int size : {128, 256}) {
    whole["results"].push_back(entry("model", "tf32", true, size, 0.04));
    whole["results"].push_back(entry("exact", "compensated", false, size, 10));
    whole["results"].push_back(entry("simd", "strict", true, size, 100));
    whole["results"].push_back(entry("tiled", "strict", false, size, 50));
  }
  return whole;
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) ++found;
  return found;
}

} // namespace tessera::report::testing
