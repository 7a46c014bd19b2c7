#include <fmt/format.h>

#include "format.hpp"
#include "html.hpp"
#include "page.hpp"

namespace tessera::report {
namespace {

std::string bytes_text(double bytes) {
  for (const auto& [size, unit] : {std::pair{0x1p30, "GiB"}, std::pair{0x1p20, "MiB"}, std::pair{0x1p10, "KiB"}})
    if (bytes >= size) return fmt::format("{:.4g} {}", bytes / size, unit);
  return fmt::format("{:.0f} bytes", bytes);
}

std::string as_words(std::string key) {
  if (key.ends_with("_bytes")) key.resize(key.size() - 6);
  for (char& c : key)
    if (c == '_') c = ' ';
  return key;
}

/// Lists every member of the object, including members that later versions add. Objects become lists inside the list.
std::string definitions(const Json& object) {
  std::string html = "<dl>";
  for (const auto& [key, value] : object.items()) {
    if (value.is_null() || (value.is_string() && value.get_ref<const std::string&>().empty())) continue;
    std::string text;
    if (value.is_object()) {
      text = definitions(value);
    } else if (value.is_array()) {
      for (const Json& one : value) text += one.is_object() ? definitions(one) : escaped(one.dump()) + " ";
    } else if (value.is_string()) {
      text = escaped(value.get<std::string>());
    } else if (value.is_boolean()) {
      text = value.get<bool>() ? "yes" : "no";
    } else if (value.is_number() && key.ends_with("_bytes")) {
      text = bytes_text(value.get<double>());
    } else {
      text = escaped(value.dump());
    }
    html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escaped(as_words(key)), text);
  }
  return html + "</dl>";
}

double number_or_zero(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number() ? at->get<double>() : 0.0;
}

/// Peaks and bandwidths, with an entry for each device, type, mode and number of threads.
std::string ceilings(const Json& machine) {
  const auto list = machine.find("ceilings");
  if (list == machine.end() || !list->is_array() || list->empty()) return {};
  std::string rows;
  for (const Json& one : *list) {
    if (!one.is_object()) continue;
    std::string levels, peaks;
    if (const auto caches = one.find("caches"); caches != one.end() && caches->is_array())
      for (const Json& cache : *caches)
        if (cache.is_object())
          levels += fmt::format("L{:.0f} {}, ", number_or_zero(cache, "level"),
                                number_text(number_or_zero(cache, "bytes_per_second") * 1e-9));
    if (const auto sets = one.find("peaks"); sets != one.end() && sets->is_object())
      for (const auto& [name, flops] : sets->items())
        if (flops.is_number())
          peaks +=
              fmt::format("{}{} {}", peaks.empty() ? "" : ", ", escaped(name), speed_text(flops.get<double>() * 1e-9));
    if (peaks.empty()) peaks = speed_text(number_or_zero(one, "flops") * 1e-9);
    rows +=
        fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}memory {}</td></tr>\n",
                    escaped(text_at(one, "device")),
                    number_or_zero(one, "threads") > 0 ? fmt::format("{:.0f}", number_or_zero(one, "threads")) : "–",
                    escaped(text_at(one, "dtype")), escaped(text_at(one, "math")), peaks, levels,
                    number_text(number_or_zero(one, "bytes_per_second") * 1e-9));
  }
  return "<h3>Measured ceilings</h3>\n<div class=\"scroll\"><table class=\"plain\"><thead><tr><th>device</th>"
         "<th>threads</th><th>type</th><th>math</th><th>multiply-adds in registers</th><th>bandwidth, GB/s</th></tr>"
         "</thead><tbody>\n" +
         rows + "</tbody></table></div>\n";
}

std::string missing_backends(const Json& document) {
  const auto missing = document.find("missing_backends");
  std::string items;
  if (missing != document.end() && missing->is_array())
    for (const Json& one : *missing)
      if (one.is_object() && one.contains("backend") && one["backend"].is_string())
        items += fmt::format(
            "<li><b>{}</b>: {}</li>", escaped(one["backend"].get<std::string>()),
            escaped(one.contains("reason") && one["reason"].is_string() ? one["reason"].get<std::string>() : ""));
  return items.empty() ? "" : "<h3>Backends that were not there</h3><ul>" + items + "</ul>\n";
}

} // namespace

std::string machine_section(const Run& run) {
  Json shown = run.machine();
  shown.erase("ceilings");
  std::string html = "<section id=\"machine\">\n<h2>Machine and versions</h2>\n" + definitions(shown) +
                     ceilings(run.machine()) + missing_backends(run.document);
  if (const std::string command = run.command(); !command.empty())
    html += "<h3>The command that made this</h3>\n<pre><code>" + escaped(command) + "</code></pre>\n";
  return html + "</section>\n";
}

} // namespace tessera::report
