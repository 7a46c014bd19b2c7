#include "reproduce.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <tessera/backend_list.hpp>

#include "shell.hpp"

namespace tessera::report {
namespace {

constexpr int usual_repeat = 7;

std::string text(const Json& value) {
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Makes a name a pattern of --kernels that matches this name alone: characters with a meaning are put in brackets.
std::string as_pattern(const std::string& name) {
  std::string pattern;
  for (const char c : name) pattern += c == '*' || c == '?' || c == '[' ? fmt::format("[{}]", c) : std::string(1, c);
  return pattern;
}

/// The file, among several, that the entry is named after.
std::string kernel_file(const Json& files, const std::string& name) {
  if (!files.is_array()) return text(files);
  for (const Json& file : files)
    if (std::string path = text(file); path == name || path.ends_with("/" + name)) return path;
  return name;
}

bool has_other_math(const Entry& entry, const Run& run) {
  return std::any_of(run.entries.begin(), run.entries.end(), [&](const Entry& other) {
    return other.backend == entry.backend && other.kernel == entry.kernel && other.dtype == entry.dtype &&
           other.math != entry.math;
  });
}

bool default_threads(const Entry& entry, const Run& run) {
  if (entry.threads == 0 || entry.backend == find_built_in(Backend::Reference)->name) return true;
  const auto threads = run.machine().find("threads");
  return threads != run.machine().end() && *threads == entry.threads;
}

} // namespace

std::string shell_quoted(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("_-+=:,./%@").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string reproduce_command(const Entry& entry, const Run& run) {
  std::string line = "gemm_compare";
  const auto add = [&](const char* option, const std::string& value) {
    line += fmt::format(" {} {}", option, shell_quoted(value));
  };
  const Json inputs =
      run.document.contains("inputs") && run.document["inputs"].is_object() ? run.document["inputs"] : Json::object();
  if (entry.backend == "external" && inputs.contains("kernel")) { // a kernel from a file
    add("--kernel", kernel_file(inputs["kernel"], entry.kernel));
    for (const auto& [key, option] :
         {std::pair{"abi", "--abi"}, std::pair{"device", "--device"}, std::pair{"kernel_math", "--kernel-math"},
          std::pair{"kernel_flags", "--kernel-flags"}, std::pair{"kernel_time_limit", "--kernel-time-limit"},
          std::pair{"kernel_memory_limit", "--kernel-memory-limit"}})
      if (inputs.contains(key) && inputs[key] != "leetgpu") add(option, text(inputs[key]));
    // A run needs at least one kernel of the ladder.
    line += " --backend reference --kernels canonical";
  } else {
    if (const Json files = inputs.value("op_plugins", Json::object()); files.is_object())
      if (const auto file = files.find(entry.op + " " + entry.dtype); file != files.end())
        add("--op-plugin", text(*file));
    if (entry.op != "gemm") add("--op", entry.op);
    add("--backend", entry.backend);
    if (!entry.transfer && entry.sizes == 0) add("--kernels", as_pattern(entry.kernel));
    if (entry.kernel.starts_with("cblas") && inputs.contains("cblas")) add("--cblas", text(inputs["cblas"]));
  }
  const bool files = inputs.contains("a") && inputs.contains("b");
  if (files) {
    add("--a", text(inputs["a"]));
    add("--b", text(inputs["b"]));
    if (inputs.contains("c")) add("--c", text(inputs["c"]));
  } else if (entry.sizes_are_equal()) {
    add("--sizes", fmt::format("{}", entry.n));
  } else if (entry.sizes == 2) {
    add("--shape", fmt::format("{}x{}", entry.m, entry.n));
  } else {
    add("--shape", fmt::format("{}x{}x{}", entry.m, entry.n, entry.k));
  }
  if (entry.dtype != "f32" || entry.sizes > 0) add("--dtype", entry.dtype);
  if (!entry.result.empty()) add("--result", entry.result);
  if (has_other_math(entry, run)) add("--math", entry.math);
  if (entry.trans_a) line += " --transA";
  if (entry.trans_b) line += " --transB";
  if (entry.alpha != 1) add("--alpha", fmt::format("{}", entry.alpha));
  if (entry.beta != 0) add("--beta", fmt::format("{}", entry.beta));
  if (!files && inputs.contains("dist")) add("--dist", text(inputs["dist"]));
  if (inputs.contains("ld_pad")) add("--ld-pad", text(inputs["ld_pad"]));
  if (!files && inputs.contains("seed") && inputs["seed"] != 1) add("--seed", text(inputs["seed"]));
  if (inputs.contains("timing")) add("--timing", text(inputs["timing"]));
  if (inputs.contains("check_rows")) add("--check-rows", text(inputs["check_rows"]));
  // The usual number of runs is enough, unless the run had more.
  if (inputs.contains("repeat") && inputs["repeat"].is_number() && inputs["repeat"] > usual_repeat)
    add("--repeat", text(inputs["repeat"]));
  if (!default_threads(entry, run)) add("--threads", fmt::format("{}", entry.threads));
  return line;
}

} // namespace tessera::report
