#include "environment.hpp"

#include <charconv>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

namespace tessera::opencl {

Status memory_limit_from_environment(std::size_t& bytes) {
  constexpr const char* variable = "TESSERA_OPENCL_MEMORY_LIMIT";
  bytes = 0;
  const char* const set = std::getenv(variable);
  const std::string_view text = set == nullptr ? "" : set;
  if (text.empty()) return {};
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const int exponent = suffix.empty() ? 0 : suffix == "K" ? 10 : suffix == "M" ? 20 : suffix == "G" ? 30 : -1;
  if (error == std::errc{} && exponent >= 0 && number > 0 &&
      number <= std::numeric_limits<std::size_t>::max() >> exponent) {
    bytes = number << exponent;
    return {};
  }
  return {StatusCode::InvalidArgument,
          std::string(variable) + " = '" + std::string(text) +
              "' is no amount of memory; set a number of bytes from 1 on, or one such as 512M or 2G, or unset it"};
}

namespace {

/// PoCL keeps what it has compiled, unless it is told not to. To make a program's binary it compiles each kernel in a
/// form that it launches only after reading that binary, so that keeping it twice makes the first product slow.
bool driver_keeps_programs(const Device& device) {
  const char* const cache = std::getenv("POCL_KERNEL_CACHE");
  return device.platform_name == "Portable Computing Language" && (cache == nullptr || std::string_view(cache) != "0");
}

} // namespace

Status cache_from_environment(const Device& device, bool& keeps_programs) {
  const char* const set = std::getenv("TESSERA_OPENCL_CACHE");
  const std::string_view text = set == nullptr ? "" : set;
  keeps_programs = text == "all" || (text.empty() && !driver_keeps_programs(device));
  if (text.empty() || text == "all" || text == "none") return {};
  return {
      StatusCode::InvalidArgument,
      "TESSERA_OPENCL_CACHE = '" + std::string(text) +
          "' is not known; set it to none, which keeps no compiled programs, or to all, which keeps them also where "
          "the driver does so itself, or unset it"};
}

Status none_from_environment(const char* variable, const char* meaning, bool& is_none) {
  const char* const set = std::getenv(variable);
  const std::string_view text = set == nullptr ? "" : set;
  is_none = text == "none";
  if (is_none || text.empty()) return {};
  return {StatusCode::InvalidArgument, std::string(variable) + " = '" + std::string(text) +
                                           "' is not known; set it to none, which " + meaning + ", or unset it"};
}

} // namespace tessera::opencl
