#include "list.hpp"

#include <fmt/format.h>

#include <tessera/backend.hpp>

#include "reporter.hpp"

namespace tessera::compare_app {
namespace {

using nlohmann::ordered_json;

bool wanted(const Options& options, Backend backend) {
  if (options.backends.empty()) return true;
  for (const BackendRequest& request : options.backends)
    if (request.backend == backend) return true;
  return false;
}

ordered_json tile_json(const Tile& tile) { return {{"m", tile.m}, {"n", tile.n}, {"k", tile.k}}; }

ordered_json gemm_json(Backend backend, const GemmKernel& row) {
  return {{"op", "gemm"},
          {"backend", to_string(backend)},
          {"kernel", row.name},
          {"dtype", to_string(row.type)},
          {"math", to_string(row.math)},
          {"canonical", row.summation == Summation::Canonical},
          {"tile", tile_json(row.tile)},
          {"summary", row.summary},
          {"source", row.source}};
}

ordered_json reduce_json(Backend backend, const ReduceKernel& row) {
  const char* op = row.op == ReduceOp::SumOfSquares ? "sum_of_squares"
                   : row.op == ReduceOp::SumAbs     ? "sum_abs"
                                                    : "max_abs";
  return {{"op", op},
          {"backend", to_string(backend)},
          {"kernel", row.name},
          {"dtype", to_string(row.type)},
          {"math", "strict"},
          {"canonical", row.summation == Summation::Canonical},
          {"summary", row.summary},
          {"source", row.source}};
}

void print_backend(const ordered_json& backend, const ordered_json& kernels) {
  const std::string reason = backend["reason"];
  fmt::print("{}{}\n", backend["backend"].get<std::string>(), reason.empty() ? "" : ": not available: " + reason);
  for (const ordered_json& row : kernels)
    if (row["backend"] == backend["backend"])
      fmt::print("  {:<15} {:<24} {:<4} {:<16} {:<10} {} [{}]\n", row["op"].get<std::string>(),
                 row["kernel"].get<std::string>(), row["dtype"].get<std::string>(), row["math"].get<std::string>(),
                 row["canonical"] ? "canonical" : "", row["summary"].get<std::string>(),
                 row["source"].get<std::string>());
}

} // namespace

void list_kernels(const Options& options) {
  ordered_json backends = ordered_json::array();
  ordered_json kernels = ordered_json::array();
  for (const BackendInfo& info : available_backends()) {
    if (!wanted(options, info.backend)) continue;
    backends.push_back({{"backend", to_string(info.backend)},
                        {"built", info.built},
                        {"available", info.available},
                        {"reason", info.reason},
                        {"path", info.path}});
    for (const GemmKernel& row : gemm_kernels(info.backend)) kernels.push_back(gemm_json(info.backend, row));
    for (const ReduceKernel& row : reduce_kernels(info.backend)) kernels.push_back(reduce_json(info.backend, row));
  }
  if (!options.json.empty())
    write_report(
        options.json,
        ordered_json{{"schema", "tessera.kernels/1"}, {"backends", backends}, {"kernels", kernels}}.dump(2) + "\n");
  if (options.json != "-")
    for (const ordered_json& backend : backends) print_backend(backend, kernels);
}

} // namespace tessera::compare_app
