#include "machine.hpp"

#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <CLI/Version.hpp>
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <tessera/detail/processors.hpp>
#include <tessera/status.hpp>
#include <tessera/version.hpp>

namespace tessera::apps {
namespace {

using nlohmann::ordered_json;

/// Returns the value of the first line "key<separator>value" in a text file; empty if there is none.
std::string value_in(const std::string& path, const std::string& key, char separator) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(key)) continue;
    const std::size_t at = line.find(separator);
    if (at == std::string::npos) continue;
    std::string value = line.substr(at + 1);
    const auto ends = [](char c) { return c == ' ' || c == '"' || c == '\t'; };
    while (!value.empty() && ends(value.front())) value.erase(value.begin());
    while (!value.empty() && ends(value.back())) value.pop_back();
    return value;
  }
  return {};
}

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

int first_processor() { return std::max(0, detail::ProcessorMask::of_thread(0).first()); }

/// "32K" → 32768.
std::size_t parse_size(const std::string& text) {
  std::size_t end = 0;
  std::size_t value = 0;
  try {
    value = std::stoul(text, &end);
  } catch (const std::exception&) {
    return 0;
  }
  if (end < text.size() && text[end] == 'K') value <<= 10;
  if (end < text.size() && text[end] == 'M') value <<= 20;
  return value;
}

ThreadSource read_thread_source() {
  ThreadSource result{default_threads(), {}};
  const int processors = detail::processors_of_process();
  if (is_set("TESSERA_NUM_THREADS"))
    result.source = "TESSERA_NUM_THREADS";
  else if (is_set("OMP_NUM_THREADS"))
    result.source = "OMP_NUM_THREADS";
  else if (processors > result.threads)
    result.source = fmt::format("cgroup quota ({} processors by affinity)", processors);
  else
    result.source = "processor affinity";
  return result;
}

} // namespace

ThreadSource thread_source() {
  static const ThreadSource found = read_thread_source();
  return found;
}

int usable_processors() {
  const ThreadSource threads = thread_source();
  return threads.source.starts_with("cgroup") ? threads.threads : detail::processors_of_process();
}

std::string cpu_name() {
  for (const char* key : {"model name", "Processor", "cpu model"})
    if (std::string name = value_in("/proc/cpuinfo", key, ':'); !name.empty()) return name;
  utsname names{};
  return uname(&names) == 0 ? names.machine : "unknown";
}

std::vector<std::string> instruction_sets() {
  std::string flags = value_in("/proc/cpuinfo", "flags", ':');
  if (flags.empty()) flags = value_in("/proc/cpuinfo", "Features", ':');
  flags = " " + flags + " ";
  std::vector<std::string> found;
  for (const char* name : {"sse4_2", "avx", "fma", "f16c", "avx2", "avx512f", "avx512vl", "avx512_bf16", "avx512_fp16",
                           "amx_tile", "amx_bf16", "asimd", "sve", "sve2", "sme"})
    if (flags.find(fmt::format(" {} ", name)) != std::string::npos) found.emplace_back(name);
  return found;
}

std::string operating_system() {
  std::string name = value_in("/etc/os-release", "PRETTY_NAME", '=');
  utsname names{};
  if (uname(&names) == 0)
    name += fmt::format("{}{} {} {}", name.empty() ? "" : ", ", names.sysname, names.release, names.machine);
  return name;
}

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}", __clang_version__);
#else
  return fmt::format("gcc {}", __VERSION__);
#endif
}

std::string utc_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::vector<Cache> caches() {
  namespace fs = std::filesystem;
  std::vector<Cache> found;
  const fs::path folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache", first_processor());
  for (int index = 0;; ++index) {
    const fs::path one = folder / fmt::format("index{}", index);
    std::error_code error;
    if (!fs::exists(one / "size", error)) break;
    Cache cache;
    cache.level = static_cast<int>(parse_size(first_line(one / "level")));
    cache.kind = first_line(one / "type");
    if (!cache.kind.empty() && cache.kind.front() < 'a')
      cache.kind.front() = static_cast<char>(cache.kind.front() + 32);
    cache.bytes = parse_size(first_line(one / "size"));
    cache.line_bytes = parse_size(first_line(one / "coherency_line_size"));
    cache.shared_by = first_line(one / "shared_cpu_list");
    found.push_back(cache);
  }
  std::stable_sort(found.begin(), found.end(), [](const Cache& x, const Cache& y) { return x.level < y.level; });
  return found;
}

ordered_json caches_json() {
  ordered_json json = ordered_json::array();
  for (const Cache& cache : caches())
    json.push_back({{"level", cache.level},
                    {"kind", cache.kind},
                    {"bytes", cache.bytes},
                    {"line_bytes", cache.line_bytes},
                    {"shared_by", cache.shared_by}});
  return json;
}

std::size_t last_level_cache_bytes() {
  std::size_t largest = 0;
  for (const Cache& cache : caches()) largest = std::max(largest, cache.bytes);
  return largest > 0 ? largest : std::size_t{32} << 20;
}

std::size_t available_memory_bytes() {
  const std::size_t kib = parse_size(value_in("/proc/meminfo", "MemAvailable", ':'));
  return kib > 0 ? kib << 10 : std::size_t{1} << 30;
}

ordered_json to_json(const Capabilities& c) {
  ordered_json json{{"backend", to_string(c.backend)}, {"device", c.device}, {"host_memory", c.host_memory}};
  if (c.memory_bytes > 0) json["memory_bytes"] = c.memory_bytes;
  if (c.host_memory) {
    json["threads"] = c.threads;
    json["instruction_set"] = c.instruction_set;
  }
  for (const auto& [name, bytes] :
       {std::pair{"l1_bytes", c.l1_bytes}, std::pair{"l2_bytes", c.l2_bytes}, std::pair{"l3_bytes", c.l3_bytes}})
    if (bytes > 0) json[name] = bytes;
  if (c.compute_major > 0) json["compute_capability"] = fmt::format("{}.{}", c.compute_major, c.compute_minor);
  if (!c.driver.empty()) {
    json["multiprocessors"] = c.multiprocessors;
    json["shared_memory_per_block"] = c.shared_memory_per_block;
    json["driver"] = c.driver;
  }
  return json;
}

std::vector<Backend> processor_backends() {
  std::vector<Backend> backends;
  for (const Backend backend : known_backends())
    if (memory_of(backend) == Memory::Host && backend != Backend::Reference) backends.push_back(backend);
  return backends;
}

ordered_json machine_json(const std::vector<Backend>& backends) {
  const ThreadSource threads = thread_source();
  ordered_json devices = ordered_json::array();
  std::string instruction_set;
  for (const Backend backend : backends) try {
      const Capabilities& capabilities = executor(backend).capabilities();
      devices.push_back(to_json(capabilities));
      if (capabilities.host_memory && backend != Backend::Reference && instruction_set.empty())
        instruction_set = capabilities.instruction_set;
    } catch (const BackendUnavailable&) { // the list of backends says why
    }
  return {{"cpu", cpu_name()},
          {"threads", threads.threads},
          {"threads_from", threads.source},
          {"instruction_set", instruction_set},
          {"os", operating_system()},
          {"date", utc_date()},
          {"compiler", compiler()},
          {"libraries",
           {{"tessera", TESSERA_VERSION},
            {"glibc", gnu_get_libc_version()},
            {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
            {"nlohmann_json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                          NLOHMANN_JSON_VERSION_PATCH)},
            {"cli11", CLI11_VERSION}}},
          {"devices", devices}};
}

} // namespace tessera::apps
