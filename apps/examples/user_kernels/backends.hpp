#pragma once

/// The command line of the examples, PROGRAM [SIZE] [BACKEND]..., and a run on each backend with results compared bit
/// by bit. If the command line names no backend, the program tries all of them. It prints the reason for each backend
/// that is not available.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <tessera/tessera.hpp>

namespace examples {

struct Arguments {
  tessera::Index size;
  std::vector<tessera::Backend> backends;
  bool named; ///< the backends are the command line's, so each of them has to be there
};

inline Arguments parse(int argc, char** argv, tessera::Index size) {
  Arguments arguments{size, {}, false};
  for (int i = 1; i < argc; ++i) {
    char* end = nullptr;
    const long long number = std::strtoll(argv[i], &end, 10);
    if (*end == '\0' && number > 0)
      arguments.size = number;
    else
      arguments.backends.push_back(tessera::parse_backend(argv[i]));
  }
  arguments.named = !arguments.backends.empty();
  if (!arguments.named)
    for (const tessera::BackendInfo& info : tessera::available_backends()) arguments.backends.push_back(info.backend);
  return arguments;
}

/// Calls run(executor), which returns a number that depends on every result, for each backend, and prints it. Returns
/// the exit status: 1 where the bits differ, or a backend of the command line is missing.
template <class Run>
int run_on_each(const Arguments& arguments, Run run) {
  std::optional<double> expected;
  int status = 0;
  for (const tessera::Backend backend : arguments.backends) try {
      const double result = run(tessera::executor(backend));
      const bool same = !expected || std::memcmp(&*expected, &result, sizeof result) == 0;
      std::cout.precision(17);
      std::cout << to_string(backend) << ": " << result << (same ? "" : ", which are other bits") << '\n';
      if (!same) status = 1;
      expected = result;
    } catch (const tessera::BackendUnavailable& absent) {
      std::cout << absent.what() << '\n';
      if (arguments.named) status = 1;
    }
  return status;
}

} // namespace examples
