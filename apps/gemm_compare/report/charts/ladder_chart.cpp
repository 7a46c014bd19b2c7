/// Each bar is HTML with an SVG whose widths are percentages, so that bars fit any screen and their text does not
/// shrink.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "charts.hpp"
#include "report/format.hpp"
#include "report/grouping.hpp"
#include "report/html.hpp"
#include "roofs.hpp"

namespace tessera::report {
namespace {

/// The speed of the fastest and of the slowest sample, in the unit of speed().
double fastest(const Row& row) { return row.speed() * row.median / row.min; }
double slowest(const Row& row) { return row.speed() * row.median / row.max; }

/// The speed at full width: the highest ceiling, if the best entry reaches an eighth of it, else a little more than the
/// best entry.
double full_scale(const std::vector<const Row*>& rows) {
  double best = 0, ceiling = 0;
  for (const Row* row : rows) {
    if (row->speed() > 0) best = std::max(best, std::isfinite(fastest(*row)) ? fastest(*row) : row->speed());
    if (row->ceiling_percent > 0 && row->speed() > 0) ceiling = std::max(ceiling, ceiling_of(*row));
  }
  return ceiling > 0 && ceiling < 8 * best ? std::max(ceiling, best) : 1.05 * best;
}

std::string bar(const Row& row, const Run& run, double scale) {
  const auto share = [&](double speed) { return std::clamp(100 * speed / scale, 0.0, 100.0); };
  std::string svg = "<svg aria-hidden=\"true\">";
  if (row.ceiling_percent > 0) svg += fmt::format("<rect class=\"track\" width=\"{:.4f}%\"/>", share(ceiling_of(row)));
  svg += fmt::format("<rect class=\"mark bar\" data-v=\"{:.6g}\" width=\"{:.4f}%\"><title>{}</title></rect>",
                     row.speed(), share(row.speed()), escaped(mark_title(row, run)));
  if (row.samples > 1 && std::isfinite(fastest(row)) && std::isfinite(slowest(row)))
    svg += fmt::format("<line class=\"whisker\" x1=\"{:.4f}%\" x2=\"{:.4f}%\" y1=\"50%\" y2=\"50%\"/>",
                       share(slowest(row)), share(fastest(row)));
  return svg + "</svg>";
}

std::string item(const Row& row, const Run& run, double scale, bool best) {
  std::string html = fmt::format(
      "<li class=\"{}{}{}\"><span class=\"name\">{}{}</span>{}<span class=\"speed\">{}</span>",
      backend_class(row.backend), best ? " best" : "", row.failing() ? " failed" : "", escaped(run.label(row)),
      row.canonical ? fmt::format("<i title=\"keeps the contract of its mode: the same bits on every backend\">{}</i>",
                                  contract_mark(row))
                    : "",
      bar(row, run, scale), speed_text(row));
  html +=
      fmt::format("<span class=\"share\">{}</span>", row.ceiling_percent > 0 ? percent_text(row.ceiling_percent) : "");
  html += fmt::format("<span class=\"gain\">{}</span>", row.failing()     ? escaped(row.verdict)
                                                        : row.speedup > 0 ? factor_text(row.speedup)
                                                                          : "");
  return html + "</li>\n";
}

/// The speed of a full width in words.
std::string width_text(const std::vector<const Row*>& rows, double scale) {
  return rows.front()->bandwidth > 0 ? bandwidth_text(scale) : speed_text(scale);
}

/// A list of bars on the product's scale. CSS stretches them by --stretch where the reader asks for a scale of its own.
std::string list_of_bars(const RowGroup& group, const Run& run, double scale) {
  const double own = full_scale(group.rows);
  const Row* best = nullptr;
  for (const Row* row : group.rows)
    if (!row->failing() && (best == nullptr || row->speed() > best->speed())) best = row;
  std::string html = fmt::format(
      "<h4>{} <small class=\"own-scale\">full width {}</small></h4>\n<ol class=\"ladder\" "
      "style=\"--stretch:{:.6g}\">\n",
      escaped(group.name), width_text(group.rows, own), scale / own);
  for (const Row* row : group.rows) html += item(*row, run, scale, row == best && group.rows.size() > 1);
  return html + "</ol>\n";
}

/// What the entries of one list have in common.
std::string list_name(const Row& row) { return row.backend + ", " + row.math; }

std::string lists_of_bars(const std::vector<const Row*>& rows, const Run& run, double scale) {
  std::string html;
  for (const RowGroup& group : group_rows(rows, list_name)) html += list_of_bars(group, run, scale);
  return html;
}

/// What stands for the folded entries: "Other modes: tf32, bf16 (the fastest 41.0 GFLOP/s)".
std::string other_modes(const std::vector<const Row*>& rows) {
  std::string modes;
  const Row* fastest = rows.front();
  for (const RowGroup& mode : group_rows(rows, [](const Row& row) { return row.math; })) {
    modes += (modes.empty() ? "" : ", ") + mode.name;
    for (const Row* row : mode.rows)
      if (row->speed() > fastest->speed()) fastest = row;
  }
  return fmt::format("Other modes: {} (the fastest {})", modes, speed_text(*fastest));
}

/// All bars of a product, which share one scale. Strict entries come first; entries of other modes are folded unless
/// the product has no strict ones.
std::string product_panel(const std::vector<const Row*>& rows, const Run& run, const std::string& name) {
  const double scale = full_scale(rows);
  std::vector<const Row*> strict, others;
  for (const Row* row : rows) (is_strict(*row) ? strict : others).push_back(row);
  std::string html = fmt::format("<h3>{} <small class=\"one-scale\">full width {}</small></h3>\n", escaped(name),
                                 width_text(rows, scale));
  html += lists_of_bars(strict, run, scale);
  if (others.empty()) return html;
  const std::string lists = lists_of_bars(others, run, scale);
  return html + (strict.empty() ? lists : folded(other_modes(others), lists));
}

/// Says whether the strict bars of a product would be too short to be read on the scale that it shares with other
/// modes.
bool hides_strict_rows(const std::vector<const Row*>& rows) {
  constexpr double least_share = 1.0 / 8;
  double best = 0;
  for (const Row* row : rows)
    if (is_strict(*row)) best = std::max(best, row->speed());
  return best > 0 && best < least_share * full_scale(rows);
}

std::string untimed(const std::vector<const Row*>& rows, const Run& run) {
  std::string html;
  for (const Row* row : rows)
    html += fmt::format("<li><b>{} {}</b> {}{}</li>", escaped(row->backend), escaped(run.label(*row)),
                        escaped(row->verdict), row->reason.empty() ? "" : ": " + escaped(row->reason));
  return html.empty() ? "" : "<ul class=\"untimed\">" + html + "</ul>\n";
}

} // namespace

std::string ladder_section(const Run& run) {
  auto products = group_rows(
      run, [](const Row& row) { return !row.transfer; }, product_name);
  std::erase_if(products, [](const RowGroup& group) {
    return std::none_of(group.rows.begin(), group.rows.end(), [](const Row* row) { return row->speed() > 0; });
  });
  if (products.empty()) return {};
  const RowGroup& shown = main_product(products);
  std::string options, panels;
  for (auto product = products.cbegin(); product != products.cend(); ++product) {
    const auto id = product - products.cbegin();
    options += fmt::format("<option value=\"{}\"{}>{}</option>", id, &*product == &shown ? " selected" : "",
                           escaped(product->name));
    std::vector<const Row*> timed, others;
    for (const Row* row : product->rows) (row->speed() > 0 ? timed : others).push_back(row);
    panels += fmt::format("<div class=\"product\" data-product=\"{}\"{}>\n", id, &*product == &shown ? "" : " hidden");
    panels += product_panel(timed, run, product->name) + untimed(others, run) + "</div>\n";
  }
  std::string choices;
  if (products.size() > 1)
    choices += "<label class=\"choice\">Product <select id=\"product\">" + options + "</select></label>\n";
  if (group_rows(shown.rows, list_name).size() > 1)
    choices += fmt::format(
        "<label class=\"choice\"><input type=\"checkbox\" id=\"own-scales\"{}> each list at a scale of its "
        "own</label>\n",
        hides_strict_rows(shown.rows) ? " checked" : "");
  return "<section id=\"ladder\">\n<h2>The ladder</h2>\n<p class=\"lead\">Each kernel from the first rung to the best: "
         "speed, share of the measured ceiling (the pale bar), gain over the first rung. The thin line spans the "
         "slowest to the fastest run. All bars of a product have one scale, unless each list "
         "has its own. ≡ marks kernels that keep the contract of "
         "their mode: the same bits on every "
         "backend.</p>\n" +
         choices + panels + "</section>\n";
}

} // namespace tessera::report
