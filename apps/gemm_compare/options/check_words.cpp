#include "check_words.hpp"

#include <limits>

#include <fmt/format.h>

#include <tessera/checking/check.hpp>
#include <tessera/status.hpp>

#include "common/words.hpp"
#include "race_words.hpp"

namespace tessera::compare_app {
namespace {

using apps::parse_index;
using apps::parse_real;

/// Reads what files of bytes without a type hold: one word for A and B, or one for each.
void read_types(const CommandLine& words, CheckRequest& request) {
  if (words.dtypes.empty()) return;
  const std::vector<std::string> types = apps::split_list("--dtype", words.dtypes);
  if (types.size() > 2)
    throw InvalidArgument(
        fmt::format("--dtype: {} types with --check; give one for A and B, or one for each", types.size()));
  request.type_a = parse_checked_type(types.front());
  request.type_b = parse_checked_type(types.back());
}

Activation parse_activation(const std::string& word) {
  if (word.empty()) return Activation::None;
  return apps::choose("--activation", word, {"relu", "gelu"}) == 0 ? Activation::Relu : Activation::Gelu;
}

Index parse_threads(const std::string& word) {
  if (word.empty()) return 0;
  const Index threads = parse_index("--threads", word, 1);
  if (threads > 4096) throw InvalidArgument(fmt::format("--threads: {} is more than 4096", threads));
  return threads;
}

} // namespace

void read_check(const CommandLine& words, Options& options) {
  if (!words.check) {
    for (const auto& [option, word] :
         {std::pair{"--c-before", &words.file_c_before}, std::pair{"--bias", &words.file_bias},
          std::pair{"--residual", &words.file_residual}, std::pair{"--activation", &words.activation},
          std::pair{"--vectors", &words.vectors}})
      if (!word->empty()) throw InvalidArgument(fmt::format("{}: needs --check as well", option));
    return;
  }
  refuse_words_of_races(words, {"--check", "--math", "--seed", "--a", "--b", "--c", "--threads"},
                        "--check, which races nothing");
  for (const auto& [option, word] :
       {std::pair{"--a", &words.file_a}, std::pair{"--b", &words.file_b}, std::pair{"--c", &words.file_c}})
    if (word->empty()) throw InvalidArgument(fmt::format("--check: needs {}, a .npy file", option));
  CheckRequest request;
  request.a = words.file_a;
  request.b = words.file_b;
  request.c = words.file_c;
  request.c_before = words.file_c_before;
  request.bias = words.file_bias;
  request.residual = words.file_residual;
  read_types(words, request);
  if (!words.maths.empty()) request.options.math = parse_math(words.maths);
  if (!words.alpha.empty()) request.options.alpha = parse_real("--alpha", words.alpha);
  if (!words.beta.empty()) request.options.beta = parse_real("--beta", words.beta);
  if (request.options.beta != 0 && request.c_before.empty())
    throw InvalidArgument(fmt::format("--beta: {} needs --c-before, C as it was before the product", words.beta));
  request.options.activation = parse_activation(words.activation);
  if (!words.seed.empty()) request.options.seed = static_cast<std::uint64_t>(parse_index("--seed", words.seed, 0));
  if (words.check_rows == "all")
    request.options.rows = std::numeric_limits<Index>::max();
  else if (!words.check_rows.empty() && words.check_rows != "auto")
    request.options.rows = parse_index("--check-rows", words.check_rows, 1);
  if (!words.vectors.empty()) {
    const Index vectors = parse_index("--vectors", words.vectors, 0);
    if (vectors > 4096) throw InvalidArgument(fmt::format("--vectors: {} is more than 4096", vectors));
    request.options.vectors = vectors == 0 ? -1 : static_cast<int>(vectors);
  }
  request.options.threads = static_cast<int>(parse_threads(words.threads));
  options.op_a = words.trans_a ? Op::Transpose : Op::None;
  options.op_b = words.trans_b ? Op::Transpose : Op::None;
  options.json = words.json;
  options.check = std::move(request);
}

} // namespace tessera::compare_app
