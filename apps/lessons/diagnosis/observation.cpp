#include "observation.hpp"

#include <limits>

#include <fmt/format.h>

namespace tessera::lessons {

double Stored::at(Index place) const {
  if (place < 0 || place >= static_cast<Index>(data.size())) return std::numeric_limits<double>::quiet_NaN();
  return data[static_cast<std::size_t>(place)];
}

double Observation::sum(Index i, Index j, Index first, Index last) const {
  double sum = 0;
  for (Index p = first; p < last; ++p) sum += a_at(i, p) * b_at(p, j);
  return sum;
}

double Observation::scaled(Index i, Index j, double sum) const {
  return tried.alpha * sum + (tried.beta == 0 ? 0 : tried.beta * c_before.at(i, j));
}

std::string to_text(const Case& tried) {
  std::string text = fmt::format("m = {}, n = {}, k = {}", tried.shape.m, tried.shape.n, tried.shape.k);
  if (tried.op_a == Op::Transpose) text += ", A transposed";
  if (tried.op_b == Op::Transpose) text += ", B transposed";
  if (tried.pad > 0) text += fmt::format(", rows {} elements further apart than they are long", tried.pad);
  if (tried.alpha != 1) text += fmt::format(", alpha = {:g}", tried.alpha);
  if (tried.beta != 0) text += fmt::format(", beta = {:g}", tried.beta);
  if (tried.type == DType::F64) text += ", f64";
  return text;
}

} // namespace tessera::lessons
