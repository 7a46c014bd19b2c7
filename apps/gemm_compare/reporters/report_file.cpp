#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include <tessera/io.hpp>
#include <tessera/status.hpp>

#include "reporter.hpp"

namespace tessera::compare_app {

void write_report(const std::string& target, const std::string& text) {
  if (target != "-") {
    write_text_file(target, text);
    return;
  }
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written) throw IoError(fmt::format("cannot write to stdout: {}", std::strerror(errno)));
}

} // namespace tessera::compare_app
