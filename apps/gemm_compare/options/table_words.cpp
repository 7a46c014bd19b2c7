#include "table_words.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <tessera/status.hpp>

#include "common/words.hpp"
#include "report/columns/columns.hpp"

namespace tessera::compare_app {

void read_table(const CommandLine& words, Options& options) {
  for (const auto& [option, word] : {std::pair{"--columns", &words.columns}, std::pair{"--width", &words.width}})
    if (!word->empty() && (!options.table_on_stdout() || options.tunes || options.list || options.shows_report() ||
                           options.compares_reports()))
      throw InvalidArgument(fmt::format("{}: is for the table of results, which this command does not print", option));
  if (!words.width.empty()) {
    const Index width = apps::parse_index("--width", words.width, 0);
    if (width > 100000) throw InvalidArgument(fmt::format("--width: {} is more than 100000; 0 is no limit", width));
    options.width = static_cast<std::size_t>(width);
  }
  if (words.columns.empty()) return;
  std::vector<std::string> names;
  for (const report::Column& column : report::columns()) names.emplace_back(column.name);
  options.columns = apps::split_list("--columns", words.columns);
  for (const std::string& name : options.columns) {
    apps::choose("--columns", name, names);
    if (std::count(options.columns.begin(), options.columns.end(), name) > 1)
      throw InvalidArgument(fmt::format("--columns: {} is named twice", name));
  }
}

} // namespace tessera::compare_app
