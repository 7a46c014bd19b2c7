/// A certificate of a solution as text and as JSON.

#include <cmath>

#include <tessera/checking/check_solve.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/number_text.hpp>
#include <tessera/detail/number_type.hpp>

#if defined(TESSERA_HAVE_JSON)
#include "core/base/json_number.hpp"
#endif

namespace tessera {
namespace {

std::string solution_number(double value) { return detail::general_text(value, 3); }

std::string type_of_solution(const SolveCertificate& x) {
  if (!x.x_is_complex) return std::string(checked_type(x.type_x).name);
  return std::string(detail::NumberType(static_cast<DType>(x.type_x), true).array_name());
}

std::string solution_name(const SolveCertificate& x) {
  return "X (" + std::to_string(x.n) + "×" + std::to_string(x.count) + ", " + type_of_solution(x) + ")";
}

std::string solution_head(const SolveCertificate& x) {
  const std::string sense = x.nearness == Nearness::Norm ? "in norm" : "element by element";
  switch (x.verdict) {
    case Verdict::Right:
      return "right: " + solution_name(x) + " solves a system that is near A and B " + sense;
    case Verdict::Unknown:
      return "unknown: NaN, Inf or overflow hides whether " + solution_name(x) + " solves a system near A and B";
    case Verdict::Wrong:
      break;
  }
  return "wrong: " + solution_name(x) + " solves no system that is near A and B " + sense;
}

#if defined(TESSERA_HAVE_JSON)
using nlohmann::ordered_json;

ordered_json solution_json(const Enclosure& x) {
  return {{"least", json_number(x.least)}, {"most", json_number(x.most)}};
}
#endif

} // namespace

std::string to_text(const SolveCertificate& x) {
  const detail::ContractArithmetic contract;
  std::string all = solution_head(x) + "\n";
  const auto line = [&](const std::string& says) { all += "  " + says + "\n"; };
  line("the nearest system differs by " + solution_number(x.by_elements.most) + " of its elements, and by " +
       solution_number(x.by_norm.most) + " in norm; the limit is " + solution_number(x.limit));
  if (x.row >= 0)
    line("row " + std::to_string(x.row) + ", column " + std::to_string(x.col) +
         ": b - A·x = " + solution_number(x.residual) + ", |A||x| + |b| = " + solution_number(x.scale));
  if (x.verdict == Verdict::Wrong && x.by_norm.most <= x.limit)
    line("such an X is usual where rows of A differ in size; a step of refinement helps");
  if (x.unjudged > 0)
    line(std::to_string(x.unjudged) + " elements could not be judged: NaN or Inf in A or B, or a sum that overflows");
  return all;
}

#if defined(TESSERA_HAVE_JSON)
std::string to_json(const SolveCertificate& x, int indent) {
  const detail::ContractArithmetic contract;
  const ordered_json json{{"schema", "tessera.solve_certificate/1"},
                          {"verdict", to_string(x.verdict)},
                          {"nearness", x.nearness == Nearness::Norm ? "norm" : "elements"},
                          {"type", type_of_solution(x)},
                          {"n", x.n},
                          {"count", x.count},
                          {"limit", x.limit},
                          {"by_elements", solution_json(x.by_elements)},
                          {"by_norm", solution_json(x.by_norm)},
                          {"row", x.row},
                          {"col", x.col},
                          {"residual", json_number(x.residual)},
                          {"scale", json_number(x.scale)},
                          {"unjudged", x.unjudged}};
  return json.dump(indent);
}
#else
std::string to_json(const SolveCertificate&, int) {
  throw Error(StatusCode::Unavailable,
              "a certificate as JSON: libtessera was built without nlohmann_json, which writes it; build it with "
              "-DTESSERA_JSON=ON, or use to_text()");
}
#endif

} // namespace tessera
