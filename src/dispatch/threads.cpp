/// The number of threads that a CPU executor uses by default.

#include <sched.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include <tessera/backend.hpp>
#include <tessera/detail/open_file.hpp>
#include <tessera/status.hpp>

namespace tessera {
namespace {

std::optional<int> threads_from(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  // OMP_NUM_THREADS may list one number for each nesting level; the first one is for the outermost level.
  const std::string_view all(text);
  const std::string_view word = all.substr(0, all.find(','));
  int threads = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), threads);
  if (error != std::errc{} || end != word.data() + word.size() || threads < 1)
    throw InvalidArgument(std::string(variable) + " = '" + text +
                          "' is not a number of threads; set a whole number from 1 on, or unset it");
  return threads;
}

int threads_by_affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

/// Returns the quota of cgroup v2, rounded up to whole processors; none where there is no quota.
std::optional<int> threads_by_quota() {
  std::ifstream membership = detail::open_file("/proc/self/cgroup");
  std::string line;
  std::string group;
  while (std::getline(membership, line))
    if (line.starts_with("0::")) group = line.substr(3);
  std::ifstream file = detail::open_file("/sys/fs/cgroup" + group + "/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return std::nullopt;
  return std::max(1, static_cast<int>(std::ceil(std::atof(quota.c_str()) / period)));
}

} // namespace

int default_threads() {
  if (const auto threads = threads_from("TESSERA_NUM_THREADS")) return *threads;
  if (const auto threads = threads_from("OMP_NUM_THREADS")) return *threads;
  const int processors = threads_by_affinity();
  return std::min(processors, threads_by_quota().value_or(processors));
}

} // namespace tessera
