#pragma once

/// The description of the machine that the programs print and write.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tessera/backend.hpp>

namespace tessera::apps {

struct ThreadSource {
  int threads = 1;
  std::string source; ///< the environment variable, "processor affinity" or a cgroup quota
};
/// Returns default_threads() and where the number came from. The first call decides; later calls repeat its answer.
/// Throws what default_threads() throws.
ThreadSource thread_source();

/// Returns how many processors this process may use: by affinity, or fewer if its cgroup has a quota.
int usable_processors();

std::string cpu_name();
/// Returns the instruction sets of the processor that matter to matrix products, whether or not a kernel uses them.
std::vector<std::string> instruction_sets();
std::string operating_system();
std::string compiler();
std::string utc_date(); ///< ISO 8601

struct Cache {
  int level = 0;
  std::string kind; ///< "data", "instruction", "unified"
  std::size_t bytes = 0;
  std::size_t line_bytes = 0;
  std::string shared_by; ///< processors, as in "0-1"
};
/// Returns the caches of the first processor that this process may use, by level; none if the system does not tell.
std::vector<Cache> caches();
nlohmann::ordered_json caches_json();

/// Returns the bytes of the largest cache; 32 MiB if the system does not tell.
std::size_t last_level_cache_bytes();
std::size_t available_memory_bytes();

/// Returns the capabilities that this backend has, under the names of their fields.
nlohmann::ordered_json to_json(const Capabilities& capabilities);

/// Returns the known backends in host memory, without the reference, which is no yardstick for speed.
std::vector<Backend> processor_backends();

/// Returns the machine block of a JSON report. It asks only the given backends, so that no other plug-in is loaded.
nlohmann::ordered_json machine_json(const std::vector<Backend>& backends);

} // namespace tessera::apps
