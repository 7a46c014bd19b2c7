#include "lens_words.hpp"

#include <cmath>

#include <fmt/format.h>

#include <tessera/status.hpp>

#include "common/words.hpp"
#include "race_words.hpp"

namespace tessera::compare_app {
namespace {

double factor_of(const char* option, const std::string& word, double by_default) {
  if (word.empty()) return by_default;
  const double value = apps::parse_real(option, word);
  if (!std::isfinite(value)) throw InvalidArgument(fmt::format("{}: {} is not finite", option, word));
  return value;
}

} // namespace

void read_lens(const CommandLine& words, Options& options) {
  if (words.lens.empty()) return;
  refuse_words_of_races(words, {"--lens", "--shape", "--ld-pad", "--time-limit", "--html"},
                        "--lens, which runs nothing on a GPU");
  lens::Question asked;
  asked.kernel = words.lens;
  if (words.shapes.size() > 1)
    throw InvalidArgument(fmt::format("--shape: {} shapes with --lens, which takes one", words.shapes.size()));
  const auto [m, n, k] = apps::parse_sizes("--shape", words.shapes.empty() ? "128x128x64" : words.shapes.front(), 1);
  constexpr Index most = 1 << 20;
  for (const Index size : {m, n, k})
    if (size > most)
      throw InvalidArgument(fmt::format("--shape: {} is more than {}, the most with --lens", size, most));
  asked.shape = {m, n, k};
  if (!words.dtypes.empty()) {
    if (words.dtypes != "f32" && words.dtypes != "f64")
      throw InvalidArgument(fmt::format("--dtype: {} with --lens, which takes f32 or f64", words.dtypes));
    asked.type = words.dtypes == "f64" ? DType::F64 : DType::F32;
  }
  asked.op_a = words.trans_a ? Op::Transpose : Op::None;
  asked.op_b = words.trans_b ? Op::Transpose : Op::None;
  asked.alpha = factor_of("--alpha", words.alpha, 1);
  asked.beta = factor_of("--beta", words.beta, 0);
  if (!words.ld_pad.empty()) {
    asked.ld_pad = apps::parse_index("--ld-pad", words.ld_pad, 0);
    if (*asked.ld_pad > most)
      throw InvalidArgument(fmt::format("--ld-pad: {} is more than {}, the most with --lens", *asked.ld_pad, most));
  }
  if (!words.time_limit.empty()) asked.seconds = apps::parse_real("--time-limit", words.time_limit);
  if (!(asked.seconds >= 1 && asked.seconds <= 86400))
    throw InvalidArgument(fmt::format("--time-limit: {} s with --lens; give 1 to 86400", words.time_limit));
  if (words.json == "-" && words.html == "-") throw InvalidArgument("--html: --json writes to stdout already");
  options.json = words.json;
  options.html = words.html;
  options.lens = std::move(asked);
}

} // namespace tessera::compare_app
