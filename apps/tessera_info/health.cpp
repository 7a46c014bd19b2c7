#include "health.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tessera/backend.hpp>
#include <tessera/checking/health.hpp>
#include <tessera/files.hpp>
#include <tessera/status.hpp>
#include <tessera/version.hpp>

#include "common/machine.hpp"
#include "common/terminal.hpp"

namespace tessera::info_app {
namespace {

using nlohmann::ordered_json;

constexpr const char* variable = "TESSERA_CPU_ISA";

/// Returns the instruction set that backends of the processor use; empty where there is no such backend.
std::string used_instruction_set() {
  for (const Backend backend : apps::processor_backends())
    if (const Capabilities* machine = capabilities_of(backend)) return machine->instruction_set;
  return {};
}

/// Returns the sets below this one, if the process may choose.
std::vector<std::string> lesser_sets(const std::string& used) {
  const char* const chosen = std::getenv(variable);
  if (chosen != nullptr && *chosen != '\0') return {};
  if (used == "avx512") return {"avx2", "portable"};
  if (used == "avx2" || used == "neon") return {"portable"};
  return {};
}

ordered_json to_json(const HealthReport& report, const std::string& instruction_set) {
  ordered_json findings = ordered_json::array(), gaps = ordered_json::array();
  for (const HealthFinding& x : report.findings)
    findings.push_back({{"backend", x.backend},
                        {"device", x.device},
                        {"core", x.core},
                        {"all_at_once", x.at_once},
                        {"test", x.test},
                        {"kernel", x.kernel},
                        {"row", x.row},
                        {"col", x.col},
                        {"found", x.found},
                        {"expected", x.expected},
                        {"wrong", x.wrong},
                        {"runs", x.runs}});
  for (const HealthGap& x : report.gaps) gaps.push_back({{"backend", x.backend}, {"reason", x.reason}});
  return {{"instruction_set", instruction_set},
          {"sound", report.sound()},
          {"rounds", report.rounds},
          {"runs", report.runs},
          {"seconds", report.seconds},
          {"backends", report.backends},
          {"cores", report.cores},
          {"findings", findings},
          {"not_tested", gaps}};
}

/// What an examination said, and how it ended.
struct Answer {
  std::string text;
  int status = 0;
};

/// Runs this program once more under a lesser instruction set.
Answer examine_with(const std::string& instruction_set, double seconds, bool as_json) {
  int ends[2];
  if (pipe(ends) != 0) throw IoError(std::string("--health: no pipe for a process: ") + std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  setenv(variable, instruction_set.c_str(), 1); // this process has chosen its own set long ago
  std::vector<std::string> words{"tessera_info", "--health", "--seconds", fmt::format("{}", seconds)};
  if (as_json) words.insert(words.end(), {"--json", "-"});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  unsetenv(variable);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  Answer answer;
  if (failed == 0) {
    char buffer[4096];
    for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof buffer)) != 0;) {
      if (count < 0 && errno != EINTR) break;
      if (count > 0) answer.text.append(buffer, static_cast<std::size_t>(count));
    }
  }
  close(ends[0]);
  if (failed != 0)
    throw IoError(std::string("--health: no process for a lesser instruction set: ") + std::strerror(failed));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  constexpr int by_signal = 128;
  answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : by_signal + WTERMSIG(status);
  return answer;
}

} // namespace

int examine(double seconds, const std::string& json) {
  const std::string used = used_instruction_set();
  const std::vector<std::string> lesser = lesser_sets(used);
  const double share = seconds / static_cast<double>(1 + lesser.size());
  const HealthReport report = health({.seconds = share});
  bool sound = report.sound();
  ordered_json examinations = ordered_json::array({to_json(report, used)});
  std::string text = fmt::format("{}{}", used.empty() ? "" : used + ": ", to_text(report));
  for (const std::string& instruction_set : lesser) {
    const Answer answer = examine_with(instruction_set, share, !json.empty());
    sound = sound && answer.status == 0;
    const std::string ended = fmt::format("the process ended with status {}", answer.status);
    if (json.empty()) {
      text += answer.status <= 1 ? answer.text : fmt::format("{}: NOT SOUND: {}\n", instruction_set, ended);
      continue;
    }
    const ordered_json all = ordered_json::parse(answer.text, nullptr, false);
    if (answer.status <= 1 && all.is_object())
      examinations.push_back(all["examinations"][0]);
    else
      examinations.push_back({{"instruction_set", instruction_set}, {"sound", false}, {"failure", ended}});
  }
  if (json.empty()) {
    apps::print_to_stdout(text);
    return sound ? 0 : 1;
  }
  const ordered_json document{{"schema", "tessera.health/1"},
                              {"sound", sound},
                              {"machine", apps::machine_json(apps::processor_backends())},
                              {"examinations", examinations}};
  const std::string written = document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  if (json == "-")
    apps::print_to_stdout(written);
  else
    write_text_file(json, written);
  return sound ? 0 : 1;
}

} // namespace tessera::info_app
