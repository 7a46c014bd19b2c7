#include "format.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

namespace tessera::report {
namespace {

constexpr const char* none = "–";
constexpr const char* narrow_space = "\u202f";

} // namespace

std::string number_text(double value) {
  if (!std::isfinite(value)) return none;
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size >= 1e6 || size < 1e-3) return fmt::format("{:.1e}", value);
  if (size >= 99.5) return fmt::format("{:.0f}", value);
  if (size >= 9.95) return fmt::format("{:.1f}", value);
  return size >= 0.0995 ? fmt::format("{:.2f}", value) : fmt::format("{:.3f}", value);
}

std::string time_text(double seconds) {
  if (!std::isfinite(seconds)) return none;
  struct Unit {
    double size;
    const char* name;
  };
  static constexpr std::array units{Unit{1, "s"}, Unit{1e-3, "ms"}, Unit{1e-6, "µs"}};
  for (const Unit& unit : units)
    if (std::abs(seconds) >= 0.9995 * unit.size)
      return fmt::format("{} {}", number_text(seconds / unit.size), unit.name);
  return fmt::format("{} ns", number_text(seconds / 1e-9));
}

std::string speed_text(double gflops) {
  if (!std::isfinite(gflops)) return none;
  return gflops >= 999.5 ? number_text(gflops / 1000) + " TFLOP/s" : number_text(gflops) + " GFLOP/s";
}

std::string bandwidth_text(double gbytes) {
  if (!std::isfinite(gbytes)) return none;
  return gbytes >= 999.5 ? number_text(gbytes / 1000) + " TB/s" : number_text(gbytes) + " GB/s";
}

std::string speed_text(const Facts& facts) {
  return facts.bandwidth > 0 ? bandwidth_text(facts.bandwidth) : speed_text(facts.gflops);
}

std::string percent_text(double percent) {
  if (!std::isfinite(percent)) return none;
  return percent >= 9.95 ? fmt::format("{:.0f} %", percent) : fmt::format("{:.1f} %", percent);
}

std::string factor_text(double factor) {
  if (!std::isfinite(factor)) return none;
  return factor >= 9.95 ? fmt::format("×{}", count_text(std::round(factor))) : fmt::format("×{:.1f}", factor);
}

std::string error_text(double error) {
  if (!std::isfinite(error)) return none;
  return error == 0 ? "0" : fmt::format("{:.1e}", error);
}

std::string bound_text(double share) {
  return share >= 0.995 && share < 1 ? fmt::format("{:.4f}", share) : number_text(share);
}

std::string count_text(double count) {
  if (!std::isfinite(count)) return none;
  std::string digits = fmt::format("{:.0f}", count);
  if (digits.size() <= 4) return digits;
  for (std::size_t at = digits.size() - 3; at > 0 && at<digits.size(); at = at> 3 ? at - 3 : 0)
    digits.insert(at, narrow_space);
  return digits;
}

std::string contract_mark(const Facts& facts) { return facts.canonical ? " ≡" : ""; }

std::string sizes_text(const Facts& facts) {
  if (facts.sizes < 2) return fmt::format("n = {}", facts.n);
  return fmt::format("m = {}, n = {}{}", facts.m, facts.n, facts.sizes > 2 ? fmt::format(", k = {}", facts.k) : "");
}

std::string product_text(const Entry& entry) {
  if (entry.sizes == 3) return fmt::format("{}×{}×{}", entry.m, entry.n, entry.k);
  if (entry.sizes == 2) return fmt::format("{}×{}", entry.m, entry.n);
  if (entry.op != "gemm") return count_text(static_cast<double>(entry.n)) + " elements";
  std::string text = entry.square() ? fmt::format("{}³", entry.n) : fmt::format("{}×{}×{}", entry.m, entry.n, entry.k);
  if (entry.trans_a || entry.trans_b)
    text += fmt::format(", {}·{}", entry.trans_a ? "Aᵀ" : "A", entry.trans_b ? "Bᵀ" : "B");
  if (!entry.result.empty()) text += ", C in " + entry.result;
  if (entry.alpha != 1) text += fmt::format(", alpha {}", entry.alpha);
  if (entry.beta != 0) text += fmt::format(", beta {}", entry.beta);
  return text;
}

double spread_percent(const Entry& entry) {
  return entry.samples > 1 ? 50 * (entry.max - entry.min) / entry.median : unknown;
}

} // namespace tessera::report
