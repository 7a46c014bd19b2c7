#include "html_report.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "assets.hpp"
#include "html.hpp"
#include "page.hpp"
#include "report/charts/charts.hpp"

namespace tessera::report {
namespace {

/// The processor and each device that were measured, and the date.
std::string subtitle(const Run& run) {
  std::string line = text_at(run.machine(), "cpu");
  if (const auto devices = run.machine().find("devices"); devices != run.machine().end() && devices->is_array())
    for (const Json& device : *devices)
      if (device.is_object() && !run.on_host(text_at(device, "backend")))
        line += (line.empty() ? "" : " and ") + text_at(device, "device");
  if (const std::string date = text_at(run.machine(), "date"); !date.empty())
    line += (line.empty() ? "" : " · ") + date;
  return line;
}

/// What was raced, for the title.
const char* subject(const Run& run) {
  const bool operations = !run.entries.empty() && std::all_of(run.entries.begin(), run.entries.end(),
                                                              [](const Entry& entry) { return entry.sizes > 0; });
  return operations ? "Operations" : "Matrix products";
}

std::string legend(const Run& run) {
  std::string items;
  std::vector<std::string> seen;
  for (const Entry& entry : run.entries) {
    if (std::find(seen.begin(), seen.end(), entry.backend) != seen.end()) continue;
    seen.push_back(entry.backend);
    items += fmt::format("<li class=\"{}\">{}</li>", backend_class(entry.backend), escaped(entry.backend));
  }
  return "<ul class=\"legend\" aria-label=\"Backends\">" + items + "</ul>\n";
}

} // namespace

std::string html_report(const Json& document) {
  const Run run = read_run(document);
  const std::string made_on = escaped(subtitle(run));
  std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n" // the policy below forbids the page to fetch anything
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n";
  page += fmt::format("<title>{} on {}</title>\n<style>\n{}</style>\n</head>\n<body>\n", subject(run), made_on,
                      assets::report_css());
  page += fmt::format("<header>\n<h1>{}: how fast, how wrong</h1>\n<p>{}</p>\n{}</header>\n<main>\n", subject(run),
                      made_on, legend(run));
  page += summary_section(run) + failures_section(run);
  for (const auto& chart :
       {ladder_section, size_section, offload_section, roofline_section, error_section, grades_section})
    page += chart(run);
  page += table_section(run) + machine_section(run);
  page += fmt::format("</main>\n<script>\n{}</script>\n</body>\n</html>\n", assets::report_js());
  return page;
}

} // namespace tessera::report
