#include "list.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <tessera/detail/printable.hpp>

#include "common/ladders.hpp"
#include "common/words.hpp"
#include "reporters/reporter.hpp"

namespace tessera::compare_app {
namespace {

bool wanted(const Options& options, Backend backend) {
  const auto& requests = options.backends;
  return requests.empty() || std::any_of(requests.begin(), requests.end(),
                                         [&](const BackendRequest& request) { return request.backend == backend; });
}

/// Returns whether --list shows the kernel: every kernel, or with --preset the kernels that the preset would run.
bool wanted(const Options& options, const nlohmann::ordered_json& kernel) {
  if (options.preset == nullptr) return true;
  const auto is = [&](const char* key, std::string_view word) { return kernel.value(key, "") == word; };
  const bool typed =
      std::any_of(options.types.begin(), options.types.end(), [&](DType type) { return is("dtype", to_string(type)); });
  const bool reduces = options.operation == Operation::SumOfSquares;
  const std::string name = kernel.value("kernel", "");
  const bool named = options.kernels.empty() ||
                     std::any_of(options.kernels.begin(), options.kernels.end(),
                                 [&](const std::string& pattern) { return apps::matches_glob(pattern, name); });
  return typed && named && is("op", reduces ? "sum_of_squares" : "gemm");
}

void print_preset(const Options& options) {
  const Preset& preset = *options.preset;
  fmt::print("preset {}: {}\n{}\n", preset.name, preset.summary, preset.source);
  for (const Published& figure : preset.published)
    fmt::print("  published: {} {}: {}\n", figure.backend, figure.kernels, text_of(figure));
  std::string shapes;
  for (const Shape& shape : options.shapes)
    shapes += options.operation == Operation::Gemm ? fmt::format(" {}×{}×{}", shape.m, shape.n, shape.k)
                                                   : fmt::format(" {}", shape.n);
  fmt::print("products:{}\nkernels: {}\n", shapes,
             options.kernels.empty() ? "all" : apps::joined(options.kernels, ", "));
}

} // namespace

void list_kernels(const Options& options) {
  nlohmann::ordered_json backends = nlohmann::ordered_json::array();
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
  const bool print = options.json != "-";
  if (print && options.preset != nullptr) print_preset(options);
  for (const BackendInfo& info : available_backends()) {
    if (!wanted(options, info.backend)) continue;
    backends.push_back(apps::to_json(info));
    if (print)
      fmt::print("{}{}\n", to_string(info.backend),
                 info.available ? "" : ": not available: " + detail::printable(info.reason));
    for (const auto& kernel : apps::kernels_json(info.backend)) {
      if (!wanted(options, kernel)) continue;
      kernels.push_back(kernel);
      if (print) fmt::print("{}\n", apps::kernel_line(kernel));
    }
  }
  if (options.json.empty()) return;
  const nlohmann::ordered_json report{{"schema", "tessera.kernels/1"}, {"backends", backends}, {"kernels", kernels}};
  write_report(options.json, report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

} // namespace tessera::compare_app
