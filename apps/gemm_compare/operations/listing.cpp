#include "listing.hpp"

#include <array>

#include <fmt/format.h>

#include <tessera/detail/printable.hpp>

#include "common/wrapped_text.hpp"

namespace tessera::compare_app {
namespace {

constexpr std::array accesses{"read", "written", "updated"};
constexpr std::array size_names{"n", "m, n", "m, n, k"};

} // namespace

nlohmann::ordered_json to_json(const NamedOperation& operation) {
  const OperationEntry& entry = *operation.entry;
  nlohmann::ordered_json arrays = nlohmann::ordered_json::array();
  for (std::size_t a = 0; a < entry.count; ++a)
    arrays.push_back({{"access", accesses[static_cast<std::size_t>(entry.arrays[a].access)]},
                      {"dtype", to_string(entry.arrays[a].type)}});
  return {{"op", entry.name},       {"dtype", to_string(entry.type)}, {"sizes", entry.sizes},
          {"arrays", arrays},       {"flops", entry.flops},           {"ulps", entry.ulps},
          {"file", operation.file}, {"summary", entry.summary}};
}

std::string operation_record(const nlohmann::ordered_json& operation, std::size_t width) {
  const auto text = [&](const char* key) { return detail::printable(operation[key].get<std::string>()); };
  const auto sizes = static_cast<std::size_t>(operation["sizes"].get<int>());
  const std::string file = text("file");
  return apps::wrapped_record(fmt::format("  {:<24} {:<4} {:<8}", text("op"), text("dtype"), size_names[sizes - 1]),
                              text("summary") + (file.empty() ? "" : " [" + file + "]"), width);
}

} // namespace tessera::compare_app
