#include <tessera/files.hpp>

#include "common/terminal.hpp"
#include "reporter.hpp"

namespace tessera::compare_app {

void write_report(const std::string& target, const std::string& text) {
  if (target == "-")
    apps::print_to_stdout(text);
  else
    write_text_file(target, text);
}

} // namespace tessera::compare_app
