/// A certificate as text and as JSON.

#include <algorithm>
#include <cmath>

#include <tessera/checking/check.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/number_text.hpp>

#if defined(TESSERA_HAVE_JSON)
#include "core/base/json_number.hpp"
#endif

namespace tessera {
namespace {

std::string text(double number) { return detail::general_text(number, 9); }
std::string text(Index number) { return std::to_string(number); }

std::string types_of(const Certificate& x) {
  const auto name = [](CheckedType type) { return std::string(checked_type(type).name); };
  const std::string operands = x.type_a == x.type_b ? name(x.type_a) : name(x.type_a) + "·" + name(x.type_b);
  return x.type_a == x.type_c ? operands : operands + " → " + name(x.type_c);
}

/// What takes the weight from "right", if something does.
std::string blindness_of(const Certificate& x) {
  if (!x.zero_would_pass()) return {};
  const std::string whose = x.products == 1 ? "the product" : text(x.blind_products) + " of the products";
  return "; but a zero C would pass, too: the bounds are larger than " + whose + "; use f64 or a smaller k";
}

std::string head_of(const Certificate& x) {
  const std::string shape = text(x.m) + "×" + text(x.n) + "×" + text(x.k);
  const std::string what = (x.products == 1 ? "C" : text(x.products) + " results") + " (" +
                           (x.products > 1 ? "the first " : "") + shape + ", " + types_of(x) + ", math " +
                           std::string(to_string(x.math)) + ")";
  switch (x.verdict) {
    case Verdict::Right:
      return "right: " + what + " is within the bounds, as far as the check looked" + blindness_of(x);
    case Verdict::Unknown:
      return "unknown: NaN, Inf or overflow may reach every element that was looked at of " + what;
    case Verdict::Wrong:
      break;
  }
  return "wrong: " + what + " is no product that this mode may give";
}

std::string place_of(const Certificate& x, Index product, Index row, Index col) {
  return (x.products > 1 ? "product " + text(product) + " " : "") + "c(" + text(row) + ", " + text(col) + ")";
}

/// Lists the first rows that Freivalds' check found.
std::string rows_found(const Certificate& x) {
  constexpr std::size_t most = 8;
  std::string says = "rows beyond:";
  for (std::size_t r = 0; r < std::min(most, x.rows_beyond.size()); ++r)
    says += (r > 0 ? ", " : " ") + (x.products > 1 ? text(x.rows_beyond[r].product) + ":" : "") +
            text(x.rows_beyond[r].row) + " (" + text(x.rows_beyond[r].over_bound) + " bounds)";
  return says + (x.rows_beyond.size() > most ? ", …" : "");
}

std::string looked_at(const Certificate& x) {
  std::string says = "looked at: " + text(x.rows_compared) + " of " + text(x.rows) + " rows element by element";
  if (x.vectors > 0)
    says += "; " + text(x.rows_judged) + " rows by Freivalds' check with " + std::to_string(x.vectors) + " vectors";
  else if (x.rows_compared < x.rows)
    says += "; Freivalds' check covers none of the others";
  return says;
}

#if defined(TESSERA_HAVE_JSON)
using nlohmann::ordered_json;

ordered_json json_of(const CheckedElement& x) {
  const WorstElement& e = x.element;
  return {{"product", x.product},
          {"row", e.row},
          {"col", e.col},
          {"computed", json_number(e.computed)},
          {"exact", json_number(e.exact)},
          {"bound", json_number(e.bound)},
          {"over_bound", json_number(e.over_bound)}};
}

ordered_json json_of(const UlpHistogram& ulps) {
  ordered_json bins = ordered_json::array();
  for (std::size_t bin = 0; bin < UlpHistogram::bins; ++bin)
    if (ulps.count(bin) > 0) bins.push_back({{"up_to", UlpHistogram::up_to(bin)}, {"elements", ulps.count(bin)}});
  return bins;
}
#endif

} // namespace

std::string to_text(const Certificate& x) {
  const detail::ContractArithmetic contract;
  std::string all = head_of(x) + "\n";
  const auto line = [&](const std::string& says) { all += "  " + says + "\n"; };
  for (const CheckedElement& worst : x.worst) {
    const WorstElement& e = worst.element;
    if (!x.right() && !(e.over_bound > 1)) break;
    line(place_of(x, worst.product, e.row, e.col) + " = " + text(e.computed) + ", exact " + text(e.exact) + ", bound " +
         text(e.bound) + ", |Δ| / bound " + text(e.over_bound));
    if (x.right()) break;
  }
  if (x.verdict == Verdict::Wrong) {
    line(text(x.error.beyond) + " compared elements are beyond their bounds" +
         (x.vectors > 0
              ? ", and " + text(static_cast<Index>(x.rows_beyond.size())) + " rows beyond theirs by Freivalds' check"
              : ""));
    if (!x.rows_beyond.empty()) line(rows_found(x));
    for (const Finding& finding : x.findings) line(std::string(to_string(finding.diagnosis)) + ": " + finding.text);
  }
  line("errors of the compared rows: ‖Δ‖ = " + text(x.error.norm_error) + ", ‖Δ‖ / ‖C‖ = " + text(x.error.normwise) +
       ", largest |Δ| = " + text(x.error.max_abs) + ", largest |Δ| / bound = " + text(x.error.max_over_bound));
  line(looked_at(x));
  return all;
}

#if defined(TESSERA_HAVE_JSON)
std::string to_json(const Certificate& x, int indent) {
  const detail::ContractArithmetic contract;
  ordered_json json{
      {"schema", "tessera.certificate/1"},
      {"verdict", to_string(x.verdict)},
      {"math", to_string(x.math)},
      {"types",
       {{"a", checked_type(x.type_a).name}, {"b", checked_type(x.type_b).name}, {"c", checked_type(x.type_c).name}}},
      {"products", x.products},
      {"m", x.m},
      {"n", x.n},
      {"k", x.k},
      {"rows", x.rows},
      {"rows_compared", x.rows_compared},
      {"rows_sampled", x.rows_sampled},
      {"rows_judged", x.rows_judged},
      {"vectors", x.vectors},
      {"row_over_bound", json_number(x.row_over_bound)},
      {"rows_beyond_count", x.rows_beyond.size()},
      {"blind_products", x.blind_products},
      {"probability_missed", x.probability_missed},
      {"elements_beyond", x.error.beyond},
      {"elements_unjudged", x.error.unjudged}};
  ordered_json& rows = json["rows_beyond"] = ordered_json::array();
  for (const RowBeyond& row : x.rows_beyond)
    rows.push_back({{"product", row.product}, {"row", row.row}, {"over_bound", json_number(row.over_bound)}});
  ordered_json& worst = json["worst"] = ordered_json::array();
  for (const CheckedElement& element : x.worst) worst.push_back(json_of(element));
  ordered_json& error = json["error"] = ordered_json::object();
  for (const ErrorNumber& number : error_numbers) error[number.name] = json_number(number.value(x.error));
  for (const char* name : {"differing_bits", "row_column", "norm_product"}) // of Tessera's own order, and for grades
    error.erase(name);
  error["norm_error"] = json_number(x.error.norm_error);
  error["norm_exact"] = json_number(x.error.norm_exact);
  json["ulps"] = json_of(x.error.ulps);
  ordered_json& findings = json["findings"] = ordered_json::array();
  for (const Finding& finding : x.findings)
    findings.push_back(
        {{"diagnosis", to_string(finding.diagnosis)}, {"text", finding.text}, {"value", json_number(finding.value)}});
  return json.dump(indent);
}
#else
std::string to_json(const Certificate&, int) {
  throw Error(StatusCode::Unavailable,
              "a certificate as JSON: libtessera was built without nlohmann_json, which writes it; build it with "
              "-DTESSERA_JSON=ON, or use to_text()");
}
#endif

} // namespace tessera
