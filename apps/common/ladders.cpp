#include "ladders.hpp"

#include <fmt/format.h>

#include <tessera/detail/printable.hpp>

#include "wrapped_text.hpp"

namespace tessera::apps {
namespace {

using nlohmann::ordered_json;

const char* word(ReduceOp op) {
  switch (op) {
    case ReduceOp::SumOfSquares:
      return "sum_of_squares";
    case ReduceOp::SumAbs:
      return "sum_abs";
    case ReduceOp::MaxAbs:
      return "max_abs";
  }
  return "unknown";
}

} // namespace

ordered_json to_json(const BackendInfo& info) {
  return {{"backend", to_string(info.backend)},
          {"built", info.built},
          {"available", info.available},
          {"reason", info.reason},
          {"path", info.path},
          {"memory", to_string(info.memory)},
          {"serves_auto", info.serves_auto}};
}

ordered_json kernels_json(Backend backend) {
  ordered_json kernels = ordered_json::array();
  for (const GemmKernel& kernel : gemm_kernels(backend))
    kernels.push_back({{"op", "gemm"},
                       {"backend", to_string(backend)},
                       {"kernel", kernel.name},
                       {"dtype", to_string(kernel.type)},
                       {"math", to_string(kernel.math)},
                       {"canonical", has_contract(kernel.summation)},
                       {"tile", {{"m", kernel.tile.m}, {"n", kernel.tile.n}, {"k", kernel.tile.k}}},
                       {"summary", kernel.summary},
                       {"source", kernel.source}});
  for (const ReduceKernel& kernel : reduce_kernels(backend))
    kernels.push_back({{"op", word(kernel.op)},
                       {"backend", to_string(backend)},
                       {"kernel", kernel.name},
                       {"dtype", to_string(kernel.type)},
                       {"math", to_string(Math::Strict)},
                       {"canonical", kernel.summation == Summation::Canonical},
                       {"summary", kernel.summary},
                       {"source", kernel.source}});
  return kernels;
}

std::string kernel_record(const ordered_json& kernel, std::size_t width, const std::string& more) {
  const auto text = [&](const char* key) { return detail::printable(kernel[key].get<std::string>()); };
  return wrapped_record(fmt::format("  {:<15} {:<24} {:<4} {:<16} {:<10}", text("op"), text("kernel"), text("dtype"),
                                    text("math"), kernel["canonical"] ? "canonical" : ""),
                        fmt::format("{} [{}]{}", text("summary"), text("source"), more), width);
}

} // namespace tessera::apps
