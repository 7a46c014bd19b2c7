#include "lens.hpp"

#include <fmt/format.h>

#include <tessera/detail/printable.hpp>
#include <tessera/files.hpp>

#include "common/notes.hpp"
#include "gemm_lens/program.hpp"
#include "gemm_lens/show/show.hpp"
#include "reporters/reporter.hpp"

namespace tessera::compare_app {

int look_through_lens(const Options& options) {
  for (const std::string& target : {options.json, options.html})
    if (!target.empty() && target != "-") check_writable(target);
  lens::Report report;
  try {
    report = lens::look(*options.lens);
  } catch (const lens::CompileError& error) {
    apps::note("{}\ngemm_compare: --lens: {} does not compile\n", detail::printable(error.what(), true),
               detail::printable(options.lens->kernel));
    return 2;
  }
  if (options.json != "-" && options.html != "-") fmt::print("{}", detail::printable(lens::table(report), true));
  if (!options.json.empty()) write_report(options.json, lens::json(report));
  if (!options.html.empty()) write_report(options.html, lens::html(report));
  return report.well() ? 0 : 1;
}

} // namespace tessera::compare_app
