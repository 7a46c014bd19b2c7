#include "ceilings.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/detail/printable.hpp>

#include "common/ceiling_file.hpp"
#include "common/terminal.hpp"

namespace tessera::info_app {
namespace {

std::string speed(double flops) {
  return flops >= 1e12 ? fmt::format("{:.1f} TFLOP/s", flops * 1e-12) : fmt::format("{:.1f} GFLOP/s", flops * 1e-9);
}

std::string level_text(const apps::CacheLevel& cache) {
  const bool small = cache.bytes < (std::size_t{1} << 20);
  return fmt::format("L{} ({} {}) {:.0f}", cache.level, small ? cache.bytes >> 10 : cache.bytes >> 20,
                     small ? "KiB" : "MiB", cache.bytes_per_second * 1e-9);
}

bool has_kernels_of(const Executor& executor, Math math) {
  return std::ranges::any_of(executor.gemm_kernels(), [&](const GemmKernel& kernel) { return kernel.math == math; });
}

} // namespace

std::vector<apps::CeilingEntry> find_ceilings(const std::vector<Backend>& backends, bool measure) {
  apps::CeilingTable table(backends, measure, "tessera_info");
  bool processor = false;
  for (const Backend backend : backends) {
    const Capabilities& machine = executor(backend).capabilities();
    if (!machine.host_memory) {
      for (const ElementType& element : element_types)
        if (element.scalar == element.type) table.find(backend, element.type, Math::Strict, 0);
      for (const Math math : {Math::Tf32, Math::Bf16, Math::Fp16})
        if (has_kernels_of(executor(backend), math)) table.find(backend, DType::F32, math, 0);
    } else if (backend != Backend::Reference && !processor) { // the processor's other backends have its ceilings
      processor = true;
      for (const DType type : {DType::F32, DType::F64})
        for (const int threads : std::set{1, machine.threads}) table.find(backend, type, Math::Strict, threads);
    }
  }
  return table.entries();
}

void print_ceilings(const std::vector<apps::CeilingEntry>& entries) {
  const std::size_t width = apps::terminal_width(stdout);
  const auto print_line = [&](const std::string& line, std::size_t indent) {
    fmt::print("{}\n", apps::wrapped(line, width, indent));
  };
  print_line("Ceilings, measured: multiply-adds in registers; bandwidth in GB/s of reading a cache, and of memory", 2);
  for (const apps::CeilingEntry& entry : entries) {
    std::vector<std::string> peaks, levels;
    for (const auto& [name, flops] : entry.peaks)
      peaks.push_back(fmt::format("{} {}", detail::printable(name), speed(flops)));
    for (const apps::CacheLevel& cache : entry.caches) levels.push_back(level_text(cache));
    levels.push_back(fmt::format("memory {:.1f}", entry.bytes_per_second * 1e-9));
    const std::string threads =
        entry.threads > 0 ? fmt::format("{} thread{}", entry.threads, entry.threads == 1 ? "" : "s") : "";
    constexpr std::size_t indent = 20;
    print_line(fmt::format("  {:<5} {:<11} {} {:<7} {}", detail::printable(entry.device), threads,
                           to_string(entry.type), to_string(entry.math),
                           peaks.empty() ? speed(entry.flops) : fmt::format("{}", fmt::join(peaks, ", "))),
               indent);
    print_line(std::string(indent, ' ') + fmt::format("{}", fmt::join(levels, ", ")), indent);
  }
  if (entries.empty()) fmt::print("  none: no backend here measures any\n");
  if (const auto file = apps::ceiling_file(); !file.empty()) fmt::print("  Kept in {}\n", file.string());
}

} // namespace tessera::info_app
