/// tessera_info prints which backends Tessera found on this machine, and why the others are missing.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include <tessera/backend.hpp>
#include <tessera/detail/printable.hpp>
#include <tessera/files.hpp>
#include <tessera/status.hpp>
#include <tessera/version.hpp>

#include "ceilings.hpp"
#include "common/command_line.hpp"
#include "common/ladders.hpp"
#include "common/machine.hpp"
#include "common/notes.hpp"
#include "common/terminal.hpp"
#include "health.hpp"
#include "text.hpp"

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

/// Bytes of names that are no UTF-8 are replaced, because they are no text in JSON.
std::string dumped(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

int run(int argc, char** argv) {
  CLI::App app("Backends, devices, threads and caches that Tessera sees on this machine, and with --all the kernels.",
               "tessera_info");
  app.footer("Exit status: 0; 1 where --health finds a difference; 2 on bad usage or a bad environment variable.");
  app.set_version_flag("--version", std::string("tessera_info " TESSERA_VERSION));
  std::string json;
  bool no_kernels = false;
  bool all_of_it = false;
  bool ceilings = false;
  bool measure_ceilings = false;
  bool health = false;
  double seconds = 60;
  app.add_option("--json", json, "Write JSON to FILE; to stdout if it is - or left out")
      ->type_name("[FILE]")
      ->expected(0, 1)
      ->default_str("-");
  app.add_flag("--all", all_of_it, "Show the kernels of each backend, too");
  app.add_flag("--no-kernels", no_kernels, "Leave the kernels out, of JSON as well");
  app.add_flag("--ceilings", ceilings, "Peaks and bandwidths of every backend, measured if no earlier run kept them");
  app.add_flag("--measure-ceilings", measure_ceilings, "The same, measured in any case");
  app.add_flag("--health", health,
               "Examine the machine: each core alone, all at once, memory and every backend compute results whose bits "
               "are known");
  app.add_option("--seconds", seconds, "How long --health takes; 0: one short round")->type_name("SECONDS");
  if (!apps::parse(app, argc, argv)) return 0;
  const bool wants_json = app.count("--json") > 0;
  if (wants_json && json.empty()) json = "-";
  if (app.count("--seconds") > 0 && !health) throw InvalidArgument("--seconds: makes no sense without --health");
  if (health) {
    if (!(seconds >= 0 && seconds <= 1e9))
      throw InvalidArgument(fmt::format("--seconds {}: it must be a number from 0 to 1e9", seconds));
    if (all_of_it || no_kernels || ceilings || measure_ceilings)
      throw InvalidArgument("--health: makes no sense with --all, --no-kernels, --ceilings or --measure-ceilings");
    if (wants_json && json != "-") check_writable(json);
    return examine(seconds, json);
  }
  if (all_of_it && no_kernels) throw InvalidArgument("--no-kernels: makes no sense with --all, which lists them");
  if (wants_json && json != "-") check_writable(json); // ceilings take a while
  ordered_json all = report(!no_kernels);
  std::vector<apps::CeilingEntry> entries;
  if (ceilings || measure_ceilings) {
    entries = find_ceilings(available(available_backends()), measure_ceilings);
    for (const apps::CeilingEntry& entry : entries) all["machine"]["ceilings"].push_back(apps::to_json(entry));
  }
  if (!wants_json && (ceilings || measure_ceilings))
    print_ceilings(entries);
  else if (!wants_json)
    print_report(all, no_kernels ? KernelText::None : all_of_it ? KernelText::All : KernelText::Counts);
  else if (json == "-")
    fmt::print("{}\n", dumped(all));
  else
    write_text_file(json, dumped(all) + "\n");
  return 0;
}

} // namespace
} // namespace tessera::info_app

int main(int argc, char** argv) try {
  tessera::apps::open_standard_streams();
  const int status = tessera::info_app::run(argc, argv);
  tessera::apps::flush_stdout();
  return status;
} catch (const std::exception& error) {
  tessera::apps::note_error("tessera_info", error);
  return 2;
}
