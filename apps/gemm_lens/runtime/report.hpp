#pragma once

/// The report of a run: a JSON document in the file that the command line names, for the program that started it.

#include <string>

namespace tessera::lens {

struct Outcome {
  std::string ended;    ///< empty: the host's function returned; otherwise why it did not
  std::uint32_t pc = 0; ///< where, if that is known
  std::string detail;
  std::string wrong; ///< what is wrong with C; empty: nothing, or it was not looked at
  bool checked = false;
};

void write_report(const std::string& path, const Outcome& outcome);

} // namespace tessera::lens
