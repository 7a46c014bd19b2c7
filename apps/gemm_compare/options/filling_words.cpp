#include "filling_words.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <tessera/status.hpp>

#include "common/words.hpp"

namespace tessera::compare_app {
namespace {

/// Returns the largest E of wide:E and scaled:E for a type. Its exponents go from −E to E, and neither products nor
/// their sums may overflow or underflow.
int largest_exponent(DType type) {
  const int range = element_type(type).largest_exponent;
  return range >= 1023 ? 500 : range >= 127 ? 56 : (range - 7) / 2;
}

/// Reads the E of wide:E or scaled:E, or takes `usual` where there is none.
Index parse_exponent(const std::vector<std::string>& parts, const std::vector<DType>& types, Index usual) {
  const std::string& word = parts[0];
  if (parts.size() > 2)
    throw InvalidArgument(
        fmt::format("--dist: {0} has {1} numbers; give none or one, as in {0}:{2}, for magnitudes "
                    "2^-{2} … 2^{2}",
                    word, parts.size() - 1, usual));
  const Index exponent = parts.size() == 2 ? apps::parse_index("--dist", parts[1], 1) : usual;
  for (const DType type : types)
    if (exponent > largest_exponent(type))
      throw InvalidArgument(fmt::format("--dist: products of {0} overflow with {1}:{2}; the most is {1}:{3}",
                                        to_string(type), word, exponent, largest_exponent(type)));
  return exponent;
}

Filling parse_wide(const std::vector<std::string>& parts, const std::vector<DType>& types) {
  const auto exponent = static_cast<double>(parse_exponent(parts, types, 32));
  return {Distribution::Wide, -exponent, exponent};
}

Filling parse_scaled(const std::vector<std::string>& parts, Operation operation, const std::vector<DType>& types) {
  if (operation != Operation::Gemm) throw InvalidArgument("--dist: scaled is for --op gemm");
  Filling filling;
  filling.scale = static_cast<int>(parse_exponent(parts, types, 16));
  return filling;
}

/// Reads the words that take no numbers and are for products alone: cancel, special.
Filling parse_hard_case(const std::vector<std::string>& parts, Operation operation) {
  if (parts.size() != 1) throw InvalidArgument(fmt::format("--dist: {} takes no numbers", parts[0]));
  if (operation != Operation::Gemm) throw InvalidArgument(fmt::format("--dist: {} is for --op gemm", parts[0]));
  if (parts[0] == "cancel") return {Distribution::Uniform, -1, 1, true};
  return {Distribution::Special, 0, 0};
}

Filling parse_any_filling(const std::string& text, Operation operation, const std::vector<DType>& types) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ':')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  const std::size_t kind =
      apps::choose("--dist", parts[0], {"uniform", "normal", "integers", "wide", "scaled", "cancel", "special"});
  if (kind == 3) return parse_wide(parts, types);
  if (kind == 4) return parse_scaled(parts, operation, types);
  if (kind > 4) return parse_hard_case(parts, operation);
  Filling filling;
  filling.distribution = std::array{Distribution::Uniform, Distribution::Normal, Distribution::Integers}[kind];
  if (kind == 1) filling.low = 0;
  if (kind == 2) {
    filling.low = -8;
    filling.high = 8;
  }
  if (parts.size() != 1 && parts.size() != 3)
    throw InvalidArgument(fmt::format("--dist: '{}' has {} numbers; give none or two, as in {}:{}:{}", text,
                                      parts.size() - 1, parts[0], filling.low, filling.high));
  if (parts.size() == 3) {
    filling.low = apps::parse_real("--dist", parts[1]);
    filling.high = apps::parse_real("--dist", parts[2]);
  }
  if (!std::isfinite(filling.low) || !std::isfinite(filling.high) || (kind != 1 && !(filling.low < filling.high)))
    throw InvalidArgument(
        fmt::format("--dist: '{}' is not a range: {} is not below {}", text, filling.low, filling.high));
  if (kind == 2 && (filling.low != std::trunc(filling.low) || filling.high != std::trunc(filling.high) ||
                    std::max(std::abs(filling.low), std::abs(filling.high)) > 0x1p24))
    throw InvalidArgument(fmt::format("--dist: the ends of '{}' are not whole numbers up to 2^24", text));
  return filling;
}

} // namespace

Filling parse_filling(const std::string& text, Operation operation, const std::vector<DType>& types) {
  const Filling filling = parse_any_filling(text, operation, types);
  if (filling.distribution == Distribution::Integers) return filling;
  if (const auto whole = std::find_if(types.begin(), types.end(), is_whole_number); whole != types.end())
    throw InvalidArgument(fmt::format("--dist: '{}' makes no whole numbers, which {} needs; use integers:{:g}:{:g}",
                                      text, tessera::to_string(*whole), default_whole.low, default_whole.high));
  return filling;
}

} // namespace tessera::compare_app
