#include "text.hpp"

#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/detail/printable.hpp>

#include "common/ladders.hpp"
#include "common/terminal.hpp"

namespace tessera::info_app {
namespace {

using nlohmann::ordered_json;

/// Prints a label and a text beside it, which goes on below itself.
void print_field(const std::string& label, std::size_t width_of_label, const std::string& text) {
  fmt::print("{}\n", apps::wrapped(apps::pad_right(label, width_of_label) + text, apps::terminal_width(stdout),
                                   width_of_label));
}

void print_machine_field(const std::string& label, const std::string& text) {
  constexpr std::size_t width_of_label = 22;
  print_field(label, width_of_label, text);
}

void print_backend_field(const std::string& label, const std::string& text) {
  constexpr std::size_t width_of_label = 13;
  print_field(label, width_of_label, text);
}

std::string device_line(const ordered_json& device) {
  std::string line = text_of(device, "device");
  if (device.contains("threads")) line += fmt::format(", {} threads", device["threads"].get<int>());
  if (device.contains("instruction_set")) line += ", " + text_of(device, "instruction_set");
  const bool has_capability = device.contains("compute_capability");
  if (has_capability) line += ", compute capability " + text_of(device, "compute_capability");
  if (device.contains("driver"))
    line += fmt::format(", {} {}, {}", device["multiprocessors"].get<int>(),
                        has_capability ? "multiprocessors" : "compute units", text_of(device, "driver"));
  if (device.contains("memory_bytes"))
    line += fmt::format(", {:.1f} GiB", device["memory_bytes"].get<double>() / (1 << 30));
  return line;
}

void print_machine(const ordered_json& report) {
  const ordered_json& machine = report["machine"];
  const ordered_json& standard = report["default_backend"];
  fmt::print("Tessera {}, {}\n", text_of(machine["libraries"], "tessera"), text_of(machine, "compiler"));
  print_machine_field("System", text_of(machine, "os"));
  print_machine_field("Processor", text_of(machine, "cpu"));
  print_machine_field("Instruction sets",
                      fmt::format("{}", fmt::join(machine["instruction_sets"].get<std::vector<std::string>>(), " ")));
  print_machine_field("Threads",
                      fmt::format("{}, from {}", machine["threads"].get<int>(), text_of(machine, "threads_from")));
  print_machine_field("Default backend",
                      text_of(standard, "backend") + (standard["from"] == "automatic"
                                                          ? ", the best one available; TESSERA_BACKEND names another"
                                                          : ", which TESSERA_BACKEND names"));
  for (const ordered_json& cache : machine["caches"])
    print_machine_field(
        fmt::format("Cache L{} {}", cache["level"].get<int>(), text_of(cache, "kind")),
        fmt::format("{} KiB, lines of {} bytes, shared by processors {}", cache["bytes"].get<std::size_t>() / 1024,
                    cache["line_bytes"].get<std::size_t>(), text_of(cache, "shared_by")));
}

void print_backends(const ordered_json& report) {
  fmt::print("\nBackends\n");
  for (const ordered_json& backend : report["backends"]) {
    const std::string name = text_of(backend, "backend");
    const std::string path = text_of(backend, "path");
    print_backend_field("  " + name + " ",
                        backend["available"] ? "available" : "not available: " + text_of(backend, "reason"));
    for (const ordered_json& device : report["machine"]["devices"])
      if (text_of(device, "backend") == name) print_backend_field("", device_line(device));
    if (!path.empty()) print_backend_field("", path);
  }
}

void print_counts(const ordered_json& kernels) {
  std::map<std::string, int> counts;
  for (const ordered_json& kernel : kernels) ++counts[text_of(kernel, "backend")];
  std::vector<std::string> parts;
  for (const auto& [backend, count] : counts) parts.push_back(fmt::format("{} of {}", count, backend));
  fmt::print("\n");
  print_machine_field("Kernels", fmt::format("{}; tessera_info --all lists them", fmt::join(parts, ", ")));
}

void print_kernels(const ordered_json& report) {
  for (const ordered_json& backend : report["backends"]) {
    if (!backend["built"]) continue;
    fmt::print("\nKernels of {}, best first\n", text_of(backend, "backend"));
    for (const ordered_json& kernel : report["kernels"])
      if (kernel["backend"] == backend["backend"])
        fmt::print("{}\n", apps::kernel_record(kernel, apps::terminal_width(stdout)));
  }
}

} // namespace

std::string text_of(const ordered_json& json, const char* key) {
  return detail::printable(json[key].get<std::string>());
}

void print_report(const ordered_json& report, KernelText kernels) {
  print_machine(report);
  print_backends(report);
  if (kernels == KernelText::Counts) print_counts(report["kernels"]);
  if (kernels == KernelText::All) print_kernels(report);
}

} // namespace tessera::info_app
