#include "file_words.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <tessera/status.hpp>

#include "common/words.hpp"

namespace tessera::compare_app {
namespace {

/// Reads "512MiB", "4GiB", "4G", "1.5e9" or a number of bytes. K, M, G and T are powers of 1024, as in KiB; KB, MB, GB
/// and TB are powers of 1000.
std::size_t parse_size(std::string_view option, const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  double factor = unit.empty() || unit == "B" ? 1 : 0;
  double binary = 1, decimal = 1;
  for (const std::string prefix : {"K", "M", "G", "T"}) {
    binary *= 1024;
    decimal *= 1000;
    if (unit == prefix || unit == prefix + "iB") factor = binary;
    if (unit == prefix + "B") factor = decimal;
  }
  const double bytes = number * factor;
  if (error != std::errc{} || factor == 0 || !(bytes >= 1) || bytes > 9e18)
    throw InvalidArgument(
        fmt::format("{}: '{}' is no size; write bytes, or a unit as in 512MiB, 4GiB or 4GB", option, text));
  return static_cast<std::size_t>(bytes);
}

} // namespace

void read_devices(const CommandLine& words, Options& options) {
  if (words.devices.empty()) return;
  for (const Index device : apps::parse_index_list("--devices", words.devices, 0)) {
    if (device > std::numeric_limits<int>::max())
      throw InvalidArgument(fmt::format("--devices: there is no device {}", device));
    options.devices.push_back(static_cast<int>(device));
  }
}

void read_file_product(const CommandLine& words, Options& options) {
  if (words.memory_limit.empty()) {
    if (!words.resume.empty()) throw InvalidArgument("--resume: needs --memory-limit as well");
    if (!words.devices.empty() && !words.distributed)
      throw InvalidArgument("--devices: needs --memory-limit or --distributed as well");
    return;
  }
  options.memory_limit = parse_size("--memory-limit", words.memory_limit);
  if (words.file_a.empty() || words.file_out.empty())
    throw InvalidArgument("--memory-limit: needs --a, --b and --out as well");
  for (const auto& [option, given] :
       {std::pair{"--kernel", !words.judged.empty()}, std::pair{"--json", !words.json.empty()},
        std::pair{"--csv", !words.csv.empty()}, std::pair{"--html", !words.html.empty()},
        std::pair{"--markdown", !words.markdown.empty()}, std::pair{"--repeat", !words.repeat.empty()},
        std::pair{"--time-limit", !words.time_limit.empty()}, std::pair{"--timing", !words.timing.empty()},
        std::pair{"--check-rows", !words.check_rows.empty()}, std::pair{"--cblas", !words.cblas.empty()},
        std::pair{"--ld-pad", !words.ld_pad.empty()}, std::pair{"--columns", !words.columns.empty()},
        std::pair{"--width", !words.width.empty()}, std::pair{"--errors", words.errors},
        std::pair{"--list", words.list}, std::pair{"--measure-ceilings", words.measure_ceilings},
        std::pair{"--verify", words.verify}, std::pair{"--distributed", words.distributed},
        std::pair{"tune", words.tunes}})
    if (given)
      throw InvalidArgument(fmt::format("{}: makes no sense with --memory-limit, which races nothing", option));
  const auto one = [](const char* option, std::size_t count) {
    if (count > 1) throw InvalidArgument(fmt::format("{}: with --memory-limit one is enough", option));
  };
  one("--math", options.maths.size());
  one("--threads", options.threads.size());
  one("--kernels", options.kernels.size());
  for (const std::string& kernel : options.kernels)
    if (kernel.find_first_of("*?[") != std::string::npos)
      throw InvalidArgument(
          fmt::format("--kernels: with --memory-limit it names one kernel, and '{}' is a pattern", kernel));
  constexpr std::array words_of_resume{"auto", "never"};
  options.start_over = !words.resume.empty() &&
                       apps::choose("--resume", words.resume, {words_of_resume.begin(), words_of_resume.end()}) == 1;
}

} // namespace tessera::compare_app
