#include "environment.hpp"

#include <charconv>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

namespace tessera::cuda {
namespace {

std::string_view variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::string_view{} : std::string_view(text);
}

Status invalid(const char* name, std::string_view text, const char* advice) {
  return {StatusCode::InvalidArgument, std::string(name) + " = '" + std::string(text) + "' " + advice};
}

/// Takes the whole number that `text` begins with and leaves the rest in `text`. Returns false if there is none.
template <class Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

int binary_exponent(std::string_view suffix) {
  if (suffix.empty()) return 0;
  if (suffix == "K" || suffix == "k") return 10;
  if (suffix == "M" || suffix == "m") return 20;
  if (suffix == "G" || suffix == "g") return 30;
  return -1;
}

} // namespace

Status device_from_environment(std::optional<int>& device) {
  device.reset();
  const std::string_view text = variable("TESSERA_CUDA_DEVICE");
  if (text.empty()) return {};
  std::string_view rest = text;
  int index = 0;
  if (!take_number(rest, index) || !rest.empty() || index < 0)
    return invalid("TESSERA_CUDA_DEVICE", text,
                   "is not the index of a device; set a whole number from 0 on, or unset it");
  device = index;
  return {};
}

Status memory_limit_from_environment(std::size_t& bytes) {
  bytes = 0;
  const std::string_view text = variable("TESSERA_CUDA_MEMORY_LIMIT");
  if (text.empty()) return {};
  std::string_view rest = text;
  std::size_t number = 0;
  const bool starts_with_number = take_number(rest, number);
  const int exponent = binary_exponent(rest);
  if (!starts_with_number || exponent < 0 || number == 0 ||
      number > (std::numeric_limits<std::size_t>::max() >> exponent))
    return invalid(
        "TESSERA_CUDA_MEMORY_LIMIT", text,
        "is not an amount of memory; set a number of bytes from 1 on, or one such as 512M or 2G, or unset it");
  bytes = number << exponent;
  return {};
}

} // namespace tessera::cuda
