#include "filling_words.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <tessera/status.hpp>

#include "common/words.hpp"

namespace tessera::compare_app {
namespace {

/// Returns the largest E of wide:E for a type. Its exponents go from −E to E, and neither products nor their sums may
/// overflow or underflow.
int largest_exponent(DType type) { return type == DType::F64 ? 500 : type == DType::F16 ? 4 : 56; }

Filling parse_wide(const std::vector<std::string>& parts, const std::vector<DType>& types) {
  if (parts.size() > 2)
    throw InvalidArgument(
        fmt::format("--dist: wide has {} numbers; give none or one, as in wide:32, for magnitudes "
                    "2^-32 … 2^32",
                    parts.size() - 1));
  const Index exponent = parts.size() == 2 ? apps::parse_index("--dist", parts[1], 1) : 32;
  for (const DType type : types)
    if (exponent > largest_exponent(type))
      throw InvalidArgument(fmt::format("--dist: products of {} overflow with wide:{}; the most is wide:{}",
                                        to_string(type), exponent, largest_exponent(type)));
  return {Distribution::Wide, -static_cast<double>(exponent), static_cast<double>(exponent)};
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
      apps::choose("--dist", parts[0], {"uniform", "normal", "integers", "wide", "cancel", "special"});
  if (kind == 3) return parse_wide(parts, types);
  if (kind > 3) return parse_hard_case(parts, operation);
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
  const bool whole = filling.distribution == Distribution::Integers;
  if (!whole && std::find(types.begin(), types.end(), whole_number_type.type) != types.end())
    throw InvalidArgument(fmt::format("--dist: '{}' makes no whole numbers, which {} needs; use integers:{:g}:{:g}",
                                      text, whole_number_type.name, default_whole.low, default_whole.high));
  return filling;
}

} // namespace tessera::compare_app
