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

bool has_other_math(const Row& row, const Run& run) {
  return std::any_of(run.rows.begin(), run.rows.end(), [&](const Row& other) {
    return other.backend == row.backend && other.kernel == row.kernel && other.dtype == row.dtype &&
           other.math != row.math;
  });
}

bool default_threads(const Row& row, const Run& run) {
  if (row.threads == 0 || row.backend == find_built_in(Backend::Reference)->name) return true;
  const auto threads = run.machine().find("threads");
  return threads != run.machine().end() && *threads == row.threads;
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

std::string reproduce_command(const Row& row, const Run& run) {
  std::string line = "gemm_compare";
  const auto add = [&](const char* option, const std::string& value) {
    line += fmt::format(" {} {}", option, shell_quoted(value));
  };
  const Json inputs =
      run.document.contains("inputs") && run.document["inputs"].is_object() ? run.document["inputs"] : Json::object();
  if (row.backend == "external" && inputs.contains("kernel")) { // a kernel from a file
    add("--kernel", kernel_file(inputs["kernel"], row.kernel));
    for (const auto& [key, option] :
         {std::pair{"abi", "--abi"}, std::pair{"device", "--device"}, std::pair{"kernel_math", "--kernel-math"},
          std::pair{"kernel_flags", "--kernel-flags"}, std::pair{"kernel_time_limit", "--kernel-time-limit"},
          std::pair{"kernel_memory_limit", "--kernel-memory-limit"}})
      if (inputs.contains(key) && inputs[key] != "leetgpu") add(option, text(inputs[key]));
    // A run needs at least one kernel of the ladder.
    line += " --backend reference --kernels canonical";
  } else {
    if (const Json files = inputs.value("op_plugins", Json::object()); files.is_object())
      if (const auto file = files.find(row.op + " " + row.dtype); file != files.end()) add("--op-plugin", text(*file));
    if (row.op != "gemm") add("--op", row.op);
    add("--backend", row.backend);
    if (!row.transfer && row.sizes == 0) add("--kernels", as_pattern(row.kernel));
    if (row.kernel.starts_with("cblas") && inputs.contains("cblas")) add("--cblas", text(inputs["cblas"]));
  }
  const bool files = inputs.contains("a") && inputs.contains("b");
  if (files) {
    add("--a", text(inputs["a"]));
    add("--b", text(inputs["b"]));
    if (inputs.contains("c")) add("--c", text(inputs["c"]));
  } else if (row.sizes_are_equal()) {
    add("--sizes", fmt::format("{}", row.n));
  } else if (row.sizes == 2) {
    add("--shape", fmt::format("{}x{}", row.m, row.n));
  } else {
    add("--shape", fmt::format("{}x{}x{}", row.m, row.n, row.k));
  }
  if (row.dtype != "f32" || row.sizes > 0) add("--dtype", row.dtype);
  if (!row.result.empty()) add("--result", row.result);
  if (has_other_math(row, run)) add("--math", row.math);
  if (row.trans_a) line += " --transA";
  if (row.trans_b) line += " --transB";
  if (row.alpha != 1) add("--alpha", fmt::format("{}", row.alpha));
  if (row.beta != 0) add("--beta", fmt::format("{}", row.beta));
  if (!files && inputs.contains("dist")) add("--dist", text(inputs["dist"]));
  if (inputs.contains("ld_pad")) add("--ld-pad", text(inputs["ld_pad"]));
  if (!files && inputs.contains("seed") && inputs["seed"] != 1) add("--seed", text(inputs["seed"]));
  if (inputs.contains("timing")) add("--timing", text(inputs["timing"]));
  if (inputs.contains("check_rows")) add("--check-rows", text(inputs["check_rows"]));
  // The usual number of runs is enough, unless the run had more.
  if (inputs.contains("repeat") && inputs["repeat"].is_number() && inputs["repeat"] > usual_repeat)
    add("--repeat", text(inputs["repeat"]));
  if (!default_threads(row, run)) add("--threads", fmt::format("{}", row.threads));
  return line;
}

} // namespace tessera::report
