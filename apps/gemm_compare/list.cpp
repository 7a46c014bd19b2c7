#include "list.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <tessera/detail/printable.hpp>

#include "common/ladders.hpp"
#include "reporters/reporter.hpp"

namespace tessera::compare_app {
namespace {

bool wanted(const Options& options, Backend backend) {
  const auto& requests = options.backends;
  return requests.empty() || std::any_of(requests.begin(), requests.end(),
                                         [&](const BackendRequest& request) { return request.backend == backend; });
}

} // namespace

void list_kernels(const Options& options) {
  nlohmann::ordered_json backends = nlohmann::ordered_json::array();
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
  const bool print = options.json != "-";
  for (const BackendInfo& info : available_backends()) {
    if (!wanted(options, info.backend)) continue;
    backends.push_back(apps::to_json(info));
    if (print)
      fmt::print("{}{}\n", to_string(info.backend),
                 info.available ? "" : ": not available: " + detail::printable(info.reason));
    for (const auto& kernel : apps::kernels_json(info.backend)) {
      kernels.push_back(kernel);
      if (print) fmt::print("{}\n", apps::kernel_line(kernel));
    }
  }
  if (options.json.empty()) return;
  const nlohmann::ordered_json report{{"schema", "tessera.kernels/1"}, {"backends", backends}, {"kernels", kernels}};
  write_report(options.json, report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

} // namespace tessera::compare_app
