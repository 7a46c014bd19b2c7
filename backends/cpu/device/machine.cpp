#include "machine.hpp"

#include <unistd.h>
#include <fstream>

#include <tessera/detail/open_file.hpp>

namespace tessera::cpu {
namespace {

std::string processor_name() {
  std::ifstream file = detail::open_file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line))
    if (line.starts_with("model name"))
      if (const auto colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  return "unknown processor";
}

std::string first_word(const std::string& path) try {
  std::ifstream file = detail::open_file(path);
  std::string word;
  file >> word;
  return word;
} catch (const std::ios_base::failure&) { // a file of the system that cannot be read
  return {};
}

/// Returns the bytes that a size such as "32K", "2048K" or "32M" means.
std::size_t bytes_from(const std::string& text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return 0;
  std::size_t unit_at = 0;
  const std::size_t number = std::stoul(text, &unit_at);
  const char unit = unit_at < text.size() ? text[unit_at] : ' ';
  return unit == 'K' ? number << 10 : unit == 'M' ? number << 20 : number;
}

void inspect_caches(Machine& machine) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const std::string level = first_word(folder + "level");
    if (level.empty()) break;
    if (first_word(folder + "type") == "Instruction") continue;
    const std::size_t bytes = bytes_from(first_word(folder + "size"));
    if (level == "1") machine.l1_bytes = bytes;
    if (level == "2") machine.l2_bytes = bytes;
    if (level == "3") machine.l3_bytes = bytes;
  }
}

} // namespace

Machine inspect_machine() {
  Machine machine;
  machine.processor = processor_name();
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0)
    machine.memory_bytes = static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_bytes);
  inspect_caches(machine);
  return machine;
}

} // namespace tessera::cpu
