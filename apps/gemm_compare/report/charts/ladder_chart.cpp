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
double fastest(const Entry& entry) { return entry.speed() * entry.median / entry.min; }
double slowest(const Entry& entry) { return entry.speed() * entry.median / entry.max; }

/// The speed at full width: the highest ceiling, if the best entry reaches an eighth of it, else a little more than the
/// best entry.
double full_scale(const std::vector<const Entry*>& entries) {
  double best = 0, ceiling = 0;
  for (const Entry* entry : entries) {
    if (entry->speed() > 0) best = std::max(best, std::isfinite(fastest(*entry)) ? fastest(*entry) : entry->speed());
    if (entry->ceiling_percent > 0 && entry->speed() > 0) ceiling = std::max(ceiling, ceiling_of(*entry));
  }
  return ceiling > 0 && ceiling < 8 * best ? std::max(ceiling, best) : 1.05 * best;
}

std::string bar(const Entry& entry, const Run& run, double scale) {
  const auto share = [&](double speed) { return std::clamp(100 * speed / scale, 0.0, 100.0); };
  std::string svg = "<svg aria-hidden=\"true\">";
  if (entry.ceiling_percent > 0)
    svg += fmt::format("<rect class=\"track\" width=\"{:.4f}%\"/>", share(ceiling_of(entry)));
  svg += fmt::format("<rect class=\"mark bar\" data-v=\"{:.6g}\" width=\"{:.4f}%\"><title>{}</title></rect>",
                     entry.speed(), share(entry.speed()), escaped(mark_title(entry, run)));
  if (entry.samples > 1 && std::isfinite(fastest(entry)) && std::isfinite(slowest(entry)))
    svg += fmt::format("<line class=\"whisker\" x1=\"{:.4f}%\" x2=\"{:.4f}%\" y1=\"50%\" y2=\"50%\"/>",
                       share(slowest(entry)), share(fastest(entry)));
  return svg + "</svg>";
}

std::string item(const Entry& entry, const Run& run, double scale, bool best) {
  std::string html = fmt::format(
      "<li class=\"{}{}{}\"><span class=\"name\">{}{}</span>{}<span class=\"speed\">{}</span>",
      backend_class(entry.backend), best ? " best" : "", entry.failing() ? " failed" : "", escaped(run.label(entry)),
      entry.canonical
          ? fmt::format("<i title=\"keeps the contract of its mode: the same bits on every backend\">{}</i>",
                        contract_mark(entry))
          : "",
      bar(entry, run, scale), speed_text(entry));
  html += fmt::format("<span class=\"share\">{}</span>",
                      entry.ceiling_percent > 0 ? percent_text(entry.ceiling_percent) : "");
  html += fmt::format("<span class=\"gain\">{}</span>", entry.failing()     ? escaped(entry.verdict)
                                                        : entry.speedup > 0 ? factor_text(entry.speedup)
                                                                            : "");
  return html + "</li>\n";
}

/// The speed of a full width in words.
std::string width_text(const std::vector<const Entry*>& entries, double scale) {
  return entries.front()->bandwidth > 0 ? bandwidth_text(scale) : speed_text(scale);
}

/// A list of bars on the product's scale. CSS stretches them by --stretch where the reader asks for a scale of its own.
std::string list_of_bars(const EntryGroup& group, const Run& run, double scale) {
  const double own = full_scale(group.entries);
  const Entry* best = nullptr;
  for (const Entry* entry : group.entries)
    if (!entry->failing() && (best == nullptr || entry->speed() > best->speed())) best = entry;
  std::string html = fmt::format(
      "<h4>{} <small class=\"own-scale\">full width {}</small></h4>\n<ol class=\"ladder\" "
      "style=\"--stretch:{:.6g}\">\n",
      escaped(group.name), width_text(group.entries, own), scale / own);
  for (const Entry* entry : group.entries) html += item(*entry, run, scale, entry == best && group.entries.size() > 1);
  return html + "</ol>\n";
}

/// What the entries of one list have in common.
std::string list_name(const Entry& entry) { return entry.backend + ", " + entry.math; }

std::string lists_of_bars(const std::vector<const Entry*>& entries, const Run& run, double scale) {
  std::string html;
  for (const EntryGroup& group : group_entries(entries, list_name)) html += list_of_bars(group, run, scale);
  return html;
}

/// What stands for the folded entries: "Other modes: tf32, bf16 (the fastest 41.0 GFLOP/s)".
std::string other_modes(const std::vector<const Entry*>& entries) {
  std::string modes;
  const Entry* fastest = entries.front();
  for (const EntryGroup& mode : group_entries(entries, [](const Entry& entry) { return entry.math; })) {
    modes += (modes.empty() ? "" : ", ") + mode.name;
    for (const Entry* entry : mode.entries)
      if (entry->speed() > fastest->speed()) fastest = entry;
  }
  return fmt::format("Other modes: {} (the fastest {})", modes, speed_text(*fastest));
}

/// All bars of a product, which share one scale. Strict entries come first; entries of other modes are folded unless
/// the product has no strict ones.
std::string product_panel(const std::vector<const Entry*>& entries, const Run& run, const std::string& name) {
  const double scale = full_scale(entries);
  std::vector<const Entry*> strict, others;
  for (const Entry* entry : entries) (is_strict(*entry) ? strict : others).push_back(entry);
  std::string html = fmt::format("<h3>{} <small class=\"one-scale\">full width {}</small></h3>\n", escaped(name),
                                 width_text(entries, scale));
  html += lists_of_bars(strict, run, scale);
  if (others.empty()) return html;
  const std::string lists = lists_of_bars(others, run, scale);
  return html + (strict.empty() ? lists : folded(other_modes(others), lists));
}

/// Says whether the strict bars of a product would be too short to be read on the scale that it shares with other
/// modes.
bool hides_strict_entries(const std::vector<const Entry*>& entries) {
  constexpr double least_share = 1.0 / 8;
  double best = 0;
  for (const Entry* entry : entries)
    if (is_strict(*entry)) best = std::max(best, entry->speed());
  return best > 0 && best < least_share * full_scale(entries);
}

std::string untimed(const std::vector<const Entry*>& entries, const Run& run) {
  std::string html;
  for (const Entry* entry : entries)
    html += fmt::format("<li><b>{} {}</b> {}{}</li>", escaped(entry->backend), escaped(run.label(*entry)),
                        escaped(entry->verdict), entry->reason.empty() ? "" : ": " + escaped(entry->reason));
  return html.empty() ? "" : "<ul class=\"untimed\">" + html + "</ul>\n";
}

} // namespace

std::string ladder_section(const Run& run) {
  auto products = group_entries(
      run, [](const Entry& entry) { return !entry.transfer; }, product_name);
  std::erase_if(products, [](const EntryGroup& group) {
    return std::none_of(group.entries.begin(), group.entries.end(),
                        [](const Entry* entry) { return entry->speed() > 0; });
  });
  if (products.empty()) return {};
  const EntryGroup& shown = main_product(products);
  std::string options, panels;
  for (auto product = products.cbegin(); product != products.cend(); ++product) {
    const auto id = product - products.cbegin();
    options += fmt::format("<option value=\"{}\"{}>{}</option>", id, &*product == &shown ? " selected" : "",
                           escaped(product->name));
    std::vector<const Entry*> timed, others;
    for (const Entry* entry : product->entries) (entry->speed() > 0 ? timed : others).push_back(entry);
    panels += fmt::format("<div class=\"product\" data-product=\"{}\"{}>\n", id, &*product == &shown ? "" : " hidden");
    panels += product_panel(timed, run, product->name) + untimed(others, run) + "</div>\n";
  }
  std::string choices;
  if (products.size() > 1)
    choices += "<label class=\"choice\">Product <select id=\"product\">" + options + "</select></label>\n";
  if (group_entries(shown.entries, list_name).size() > 1)
    choices += fmt::format(
        "<label class=\"choice\"><input type=\"checkbox\" id=\"own-scales\"{}> each list at a scale of its "
        "own</label>\n",
        hides_strict_entries(shown.entries) ? " checked" : "");
  return "<section id=\"ladder\">\n<h2>The ladder</h2>\n<p class=\"lead\">Each kernel from the first rung to the best: "
         "speed, share of the measured ceiling (the pale bar), gain over the first rung. The thin line spans the "
         "slowest to the fastest run. All bars of a product have one scale, unless each list "
         "has its own. ≡ marks kernels that keep the contract of "
         "their mode: the same bits on every "
         "backend.</p>\n" +
         choices + panels + "</section>\n";
}

} // namespace tessera::report
