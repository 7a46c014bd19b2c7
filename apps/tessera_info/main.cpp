/// tessera_info prints which backends Tessera found on this machine, and why the others are missing.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include <tessera/backend.hpp>
#include <tessera/detail/printable.hpp>
#include <tessera/io.hpp>
#include <tessera/status.hpp>
#include <tessera/version.hpp>

#include "ceilings.hpp"
#include "common/command_line.hpp"
#include "common/ladders.hpp"
#include "common/machine.hpp"
#include "common/terminal.hpp"

namespace tessera::info_app {
namespace {

using nlohmann::ordered_json;

std::vector<Backend> available(const std::vector<BackendInfo>& all) {
  std::vector<Backend> backends;
  for (const BackendInfo& info : all)
    if (info.available) backends.push_back(info.backend);
  return backends;
}

/// Says what Backend::Auto stands for, and why. Throws where TESSERA_BACKEND names no backend that can be used.
ordered_json default_backend() {
  const char* const word = std::getenv("TESSERA_BACKEND");
  const bool is_named = word != nullptr && *word != '\0' && std::string_view(word) != to_string(Backend::Auto);
  return {{"backend", to_string(executor(Backend::Auto).capabilities().backend)},
          {"from", is_named ? "TESSERA_BACKEND" : "automatic"}};
}

ordered_json report(bool with_kernels) {
  const std::vector<BackendInfo> all = available_backends();
  ordered_json machine = apps::machine_json(available(all));
  machine["instruction_sets"] = apps::instruction_sets();
  machine["caches"] = apps::caches_json();
  ordered_json backends = ordered_json::array();
  ordered_json kernels = ordered_json::array();
  for (const BackendInfo& info : all) {
    backends.push_back(apps::to_json(info));
    if (!with_kernels) continue;
    for (const ordered_json& kernel : apps::kernels_json(info.backend)) kernels.push_back(kernel);
  }
  ordered_json all_of_it{{"schema", "tessera.info/1"},
                         {"machine", machine},
                         {"default_backend", default_backend()},
                         {"backends", backends}};
  if (with_kernels) all_of_it["kernels"] = kernels;
  return all_of_it;
}

std::string text_of(const ordered_json& json, const char* key) {
  return detail::printable(json[key].get<std::string>());
}

/// Bytes of names that are no UTF-8 are replaced, because they are no text in JSON.
std::string text_of(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

std::string device_line(const ordered_json& device) {
  std::string line = text_of(device, "device");
  if (device.contains("threads")) line += fmt::format(", {} threads", device["threads"].get<int>());
  if (device.contains("instruction_set")) line += ", " + text_of(device, "instruction_set");
  if (device.contains("compute_capability"))
    line += fmt::format(", compute capability {}, {} multiprocessors, {}", text_of(device, "compute_capability"),
                        device["multiprocessors"].get<int>(), text_of(device, "driver"));
  if (device.contains("memory_bytes"))
    line += fmt::format(", {:.1f} GiB", device["memory_bytes"].get<double>() / (1 << 30));
  return line;
}

void print(const ordered_json& report) {
  const ordered_json& machine = report["machine"];
  fmt::print("Tessera {}, {}\n", text_of(machine["libraries"], "tessera"), text_of(machine, "compiler"));
  fmt::print("System            {}\n", text_of(machine, "os"));
  fmt::print("Processor         {}\n", text_of(machine, "cpu"));
  fmt::print("Instruction sets  {}\n", fmt::join(machine["instruction_sets"].get<std::vector<std::string>>(), " "));
  fmt::print("Threads           {}, from {}\n", machine["threads"].get<int>(), text_of(machine, "threads_from"));
  const ordered_json& standard = report["default_backend"];
  fmt::print("Default backend   {}, {}\n", text_of(standard, "backend"),
             standard["from"] == "automatic" ? "the best one available; TESSERA_BACKEND names another"
                                             : "which TESSERA_BACKEND names");
  for (const ordered_json& cache : machine["caches"])
    fmt::print("Cache L{} {:<12} {} KiB, lines of {} bytes, shared by processors {}\n", cache["level"].get<int>(),
               text_of(cache, "kind"), cache["bytes"].get<std::size_t>() / 1024, cache["line_bytes"].get<std::size_t>(),
               text_of(cache, "shared_by"));
  fmt::print("\nBackends\n");
  for (const ordered_json& backend : report["backends"]) {
    const std::string name = text_of(backend, "backend");
    const std::string path = text_of(backend, "path");
    fmt::print("  {:<10} {}\n", name,
               backend["available"] ? "available" : "not available: " + text_of(backend, "reason"));
    for (const ordered_json& device : machine["devices"])
      if (text_of(device, "backend") == name) fmt::print("  {:<10} {}\n", "", device_line(device));
    if (!path.empty()) fmt::print("  {:<10} {}\n", "", path);
  }
  if (!report.contains("kernels")) return;
  for (const ordered_json& backend : report["backends"]) {
    if (!backend["built"]) continue;
    fmt::print("\nKernels of {}, best first\n", text_of(backend, "backend"));
    for (const ordered_json& kernel : report["kernels"])
      if (kernel["backend"] == backend["backend"]) fmt::print("{}\n", apps::kernel_line(kernel));
  }
}

int run(int argc, char** argv) {
  CLI::App app("Backends, devices, threads, caches and kernels that Tessera sees on this machine.", "tessera_info");
  app.footer("Exit status: 0; 2 on bad usage or a bad environment variable.");
  app.set_version_flag("--version", std::string("tessera_info " TESSERA_VERSION));
  std::string json;
  bool no_kernels = false;
  bool ceilings = false;
  bool measure_ceilings = false;
  app.add_option("--json", json, "Write JSON to FILE; to stdout if it is - or left out")
      ->type_name("[FILE]")
      ->expected(0, 1)
      ->default_str("-");
  app.add_flag("--no-kernels", no_kernels, "Leave the kernels out");
  app.add_flag("--ceilings", ceilings, "Peaks and bandwidths of every backend, measured if no earlier run kept them");
  app.add_flag("--measure-ceilings", measure_ceilings, "The same, measured in any case");
  if (!apps::parse(app, argc, argv)) return 0;
  const bool wants_json = app.count("--json") > 0;
  if (wants_json && json.empty()) json = "-";
  ordered_json all = report(!no_kernels);
  std::vector<apps::CeilingRow> rows;
  if (ceilings || measure_ceilings) {
    rows = find_ceilings(available(available_backends()), measure_ceilings);
    for (const apps::CeilingRow& row : rows) all["machine"]["ceilings"].push_back(apps::to_json(row));
  }
  if (!wants_json && (ceilings || measure_ceilings))
    print_ceilings(rows);
  else if (!wants_json)
    print(all);
  else if (json == "-")
    fmt::print("{}\n", text_of(all));
  else
    write_text_file(json, text_of(all) + "\n");
  return 0;
}

} // namespace
} // namespace tessera::info_app

int main(int argc, char** argv) try {
  const int status = tessera::info_app::run(argc, argv);
  tessera::apps::flush_stdout();
  return status;
} catch (const std::exception& error) {
  fmt::print(stderr, "tessera_info: {}\n", tessera::detail::printable(error.what(), true));
  return 2;
}
