#pragma once

/// What the programs say about the machine they ran on.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tessera/backend.hpp>

namespace tessera::apps {

struct ThreadSource {
  int threads = 1;
  std::string source; ///< the variable, or what the system allows
};
/// default_threads() and where the number came from, as it was when first asked. Throws as default_threads() does.
ThreadSource thread_source();

/// Processors that this process may use: by affinity, or fewer if its cgroup has a quota.
int usable_processors();

std::string cpu_name();
/// Those of the processor that matter to matrix products, whether or not a kernel uses them.
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
/// Caches of the first processor this process may use, by level; empty where the system does not tell.
std::vector<Cache> caches();
nlohmann::ordered_json caches_json();

/// Bytes of the largest cache; 32 MiB where the system does not tell.
std::size_t last_level_cache_bytes();
std::size_t available_memory_bytes();

/// The capabilities that apply, under their own names.
nlohmann::ordered_json to_json(const Capabilities& capabilities);

/// The known backends whose memory is the host's, without the reference, which is no yardstick for speed.
std::vector<Backend> processor_backends();

/// The machine block of a JSON report. Asks the given backends alone, so that nothing else is loaded.
nlohmann::ordered_json machine_json(const std::vector<Backend>& backends);

} // namespace tessera::apps
