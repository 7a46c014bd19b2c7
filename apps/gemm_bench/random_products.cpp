#include "random_products.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <tessera/random.hpp>
#include <tessera/status.hpp>

#include "common/words.hpp"

namespace tessera::bench {
namespace {

/// The numbers of one product, uniform in [0, 1).
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t product) : seed_(seed), product_(product) {}
  double next() {
    const PhiloxBlock block = philox4x32(seed_, product_, stream_++);
    return unit_uniform(block, 0, double{});
  }

 private:
  std::uint64_t seed_, product_;
  std::uint32_t stream_ = 0;
};

Index draw_size(Draws& draws, Index least, Index most) {
  const double size =
      static_cast<double>(least) * std::pow(static_cast<double>(most + 1) / static_cast<double>(least), draws.next());
  const double kind = draws.next();
  const Index multiple = kind < 1.0 / 4 ? 64 : kind < 1.0 / 4 + 1.0 / 3 ? 8 : 1;
  return std::max(multiple, static_cast<Index>(size) / multiple * multiple);
}

template <std::size_t count>
double draw_one_of(Draws& draws, const std::array<double, count>& values) {
  return values[static_cast<std::size_t>(draws.next() * static_cast<double>(count))];
}

} // namespace

double multiply_adds(const RacedProduct& product) {
  const GemmShape& s = product.shape;
  return static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
}

std::string to_text(const RacedProduct& product) {
  const GemmShape& s = product.shape;
  std::string text = fmt::format("{}×{}×{}", s.m, s.n, s.k);
  if (product.op_a != Op::None || product.op_b != Op::None)
    text += std::string(product.op_a == Op::None ? " N" : " T") + (product.op_b == Op::None ? "N" : "T");
  if (product.alpha != 1) text += fmt::format(" α={:g}", product.alpha);
  if (product.beta != 0) text += fmt::format(" β={:g}", product.beta);
  return text;
}

RacedProduct parse_product(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string letters = text.substr(colon);
  for (const char* known : {"", ":NN", ":NT", ":TN", ":TT"}) {
    if (letters != known) continue;
    const auto [m, n, k] = apps::parse_sizes("--shapes", text.substr(0, colon), 1);
    const auto op = [&](std::size_t at) {
      return letters.size() > at && letters[at] == 'T' ? Op::Transpose : Op::None;
    };
    return {.shape = {m, n, k}, .op_a = op(1), .op_b = op(2)};
  }
  throw InvalidArgument(
      fmt::format("--shapes: '{}' in '{}' does not say how A and B are stored: NN, NT, TN or TT, for example "
                  "128x2302x144:TN",
                  letters.substr(1), text));
}

std::vector<RacedProduct> random_products(int count, std::uint64_t seed, const SizeLimits& limits) {
  std::vector<RacedProduct> products;
  products.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    Draws draws(seed, static_cast<std::uint64_t>(i));
    RacedProduct product;
    product.shape.m = draw_size(draws, limits.side_least, limits.side_most);
    product.shape.n = draw_size(draws, limits.side_least, limits.side_most);
    product.shape.k = draw_size(draws, limits.depth_least, limits.depth_most);
    for (Op* op : {&product.op_a, &product.op_b}) *op = draws.next() < 0.4 ? Op::Transpose : Op::None;
    product.beta = draw_one_of<6>(draws, {0, 0, 1, 1, 0.5, -0.5});
    product.alpha = draw_one_of<4>(draws, {1, 1, -1, 0.75});
    products.push_back(product);
  }
  return products;
}

} // namespace tessera::bench
