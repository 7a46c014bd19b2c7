#include "options_parse.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <tessera/backend.hpp>
#include <tessera/detail/type_words.hpp>
#include <tessera/status.hpp>

#include "check_words.hpp"
#include "common/words.hpp"
#include "file_words.hpp"
#include "filling_words.hpp"
#include "lens_words.hpp"
#include "operation_words.hpp"
#include "race/data_files.hpp"
#include "table_words.hpp"
#include "tune/tuning.hpp"
#include "type_words.hpp"

namespace tessera::compare_app {
namespace {

using apps::parse_index;
using apps::parse_real;
using apps::split_list;

void set_default(std::string& word, const char* value) {
  if (word.empty() && value != nullptr) word = value;
}

/// Sets what the preset says and the command line does not. A preset of the course's reductions sets their lengths.
void apply_preset(CommandLine& words, Options& options) {
  if (words.preset.empty()) return;
  const Preset& preset = find_preset(words.preset);
  for (const auto& [option, given] :
       {std::pair{"--a", !words.file_a.empty()}, std::pair{"tune", words.tunes},
        std::pair{"--report", !words.report.empty()}, std::pair{"--diff", !words.diff.empty()}})
    if (given) throw InvalidArgument(fmt::format("--preset: makes no sense with {}", option));
  const bool reduces = words.operation == "sum_of_squares";
  if (!reduces && ((!words.operation.empty() && words.operation != "gemm") || !words.op_plugins.empty()))
    throw InvalidArgument(fmt::format("--preset: {} is of the library's kernels; leave out --op{}", preset.name,
                                      words.operation.empty() ? "-plugin" : " " + words.operation));
  if (reduces && preset.lengths == nullptr)
    throw InvalidArgument(fmt::format("--preset: {} is of products; leave out --op sum_of_squares", preset.name));
  options.preset = &preset;
  const bool placed = words.cpu || words.gpu || !words.backends.empty();
  if (!placed && preset.place != Place::Any) (preset.place == Place::Gpu ? words.gpu : words.cpu) = true;
  options.kernels_of_preset = words.kernels.empty() && preset.kernels != nullptr && !reduces;
  if (options.kernels_of_preset) words.kernels = preset.kernels;
  if (words.shapes.empty()) set_default(words.sizes, reduces ? preset.lengths : preset.sizes);
  const bool gpu_alone = words.gpu && !words.cpu && words.backends.empty();
  if (reduces) set_default(words.dtypes, preset.length_dtypes);
  set_default(words.dtypes, gpu_alone ? "f32" : preset.dtypes);
  set_default(words.distribution, preset.distribution);
  set_default(words.repeat, preset.repeat);
  set_default(words.time_limit, preset.time_limit);
  set_default(words.ld_pad, preset.ld_pad);
}

/// Reads the options of `tune` and sets its defaults: short runs and sampled checks, because only the speed is asked
/// for.
void apply_tuning(CommandLine& words, Options& options) {
  if (!words.tunes) return;
  if (words.trans_a || words.trans_b || !words.file_a.empty() || !words.operation.empty() ||
      !words.op_plugins.empty() || words.list_operations || !words.judged.empty())
    throw InvalidArgument("tune: races products without transposes of random matrices, nothing else");
  for (const std::string* output : {&words.json, &words.csv, &words.html, &words.markdown})
    if (!output->empty()) throw InvalidArgument("tune: writes its table and no report; see --table");
  options.tuning_table = words.table;
  if (!words.budget.empty()) options.tuning_seconds = parse_real("--budget", words.budget);
  if (!(options.tuning_seconds > 0)) throw InvalidArgument("--budget: must be more than 0 seconds");
  if (!words.cpu && words.backends.empty()) words.gpu = true;
  set_default(words.repeat, "5");
  set_default(words.timing, "events"); // one run after another, as a program calls kernels
  set_default(words.time_limit, "0.25");
  set_default(words.check_rows, "16");
  set_default(words.cblas, "none");
}

/// The backends whose device here is a GPU, best first; where there is none, the missing backends with devices, which
/// say why. What shares a product out, or is of one backend, gets the first: two backends may have the same GPU.
std::vector<Backend> backends_of_gpus(bool one_alone) {
  std::vector<Backend> usable, missing;
  for (const BackendInfo& info : available_backends())
    if (info.memory == Memory::Device && info.serves_auto) (info.available ? usable : missing).push_back(info.backend);
  if (one_alone && usable.size() > 1) usable.resize(1);
  return usable.empty() ? missing : usable;
}

std::vector<BackendRequest> requested_backends(const CommandLine& words) {
  std::vector<BackendRequest> requests;
  const auto add = [&](Backend backend, bool demanded) {
    for (BackendRequest& request : requests)
      if (request.backend == backend) {
        request.demanded |= demanded;
        return;
      }
    requests.push_back({backend, demanded});
  };
  if (words.cpu)
    for (const Backend backend : known_backends())
      if (memory_of(backend) == Memory::Host) add(backend, false);
  const bool one_alone = words.tunes || words.distributed || !words.devices.empty() || !words.file_a.empty();
  if (words.gpu)
    for (const Backend backend : backends_of_gpus(one_alone)) add(backend, true);
  for (const std::string& word : words.backends)
    for (const std::string& name : split_list("--backend", word)) {
      const Backend backend = parse_backend(name);
      if (backend == Backend::Auto)
        throw InvalidArgument("--backend: auto names no backend; leave the option out to compare all that exist");
      add(backend, true);
    }
  return requests;
}

GemmShape parse_shape(const std::string& text) {
  const auto [m, n, k] = apps::parse_sizes("--shape", text, 1); // an empty product leaves nothing to race
  return {m, n, k};
}

std::vector<GemmShape> parse_shapes(const CommandLine& words, Operation operation) {
  std::vector<GemmShape> shapes;
  if (operation == Operation::User) return shapes; // each operation has its own; see read_operations()
  if (operation == Operation::System) {
    for (const Index n : apps::parse_index_list("--sizes", words.sizes, 1)) shapes.push_back({n, n, 1});
    return shapes;
  }
  if (operation == Operation::SumOfSquares) {
    if (!words.shapes.empty()) throw InvalidArgument("--shape: a sum of squares has a length; use --sizes");
    for (const Index length : apps::parse_index_list("--sizes", words.sizes, 1)) shapes.push_back({1, length, 1});
    return shapes;
  }
  if (!words.sizes.empty())
    for (const Index n : apps::parse_index_list("--sizes", words.sizes, 1)) shapes.push_back({n, n, n});
  for (const std::string& text : words.shapes) shapes.push_back(parse_shape(text));
  return shapes;
}

/// Reads alpha or beta, which must be exact in every requested type. With one type alone the value is rounded to it.
double parse_factor(std::string_view option, const std::string& text, const std::vector<DType>& types) {
  double value = parse_real(option, text);
  for (const DType type : types)
    if (scalar_of(type) == DType::F32 && std::isfinite(value)) {
      const double rounded = static_cast<float>(value);
      if (!std::isfinite(rounded)) throw InvalidArgument(fmt::format("{}: {} is too large for f32", option, value));
      if (types.size() == 1) value = rounded;
      if (rounded != value)
        throw InvalidArgument(fmt::format("{}: {} is not exact in f32; compare f32 and f64 in separate runs, or use {}",
                                          option, value, rounded));
    }
  return value;
}

/// Reads --result. The operation, the operands' types and `tunes` must be known.
std::optional<DType> parse_result(const CommandLine& words, const Options& options) {
  if (words.result.empty()) return {};
  const DType result = parse_dtype(words.result);
  if (options.operation != Operation::Gemm) throw InvalidArgument("--result: is for --op gemm");
  if (!words.judged.empty())
    throw InvalidArgument("--result: a kernel from outside has a result of its operands' type");
  if (options.tunes) throw InvalidArgument("--result: a tuning table is of results of the operands' type");
  for (const DType type : options.types)
    if (!is_result_of(result, type))
      throw InvalidArgument(fmt::format("--result: {} of operands of {}; the result has the operands' type, or is {}",
                                        to_string(result), to_string(type), detail::other_results()));
  return result;
}

void check_files(const CommandLine& words) {
  if (words.file_a.empty() != words.file_b.empty())
    throw InvalidArgument(words.file_a.empty() ? "--b: needs --a as well" : "--a: needs --b as well");
  if (words.file_a.empty()) {
    if (!words.file_c.empty()) throw InvalidArgument("--c: needs --a and --b as well");
    if (!words.file_out.empty()) throw InvalidArgument("--out: needs --a and --b as well");
    return;
  }
  for (const auto& [option, word] :
       {std::pair{"--sizes", words.sizes}, std::pair{"--dist", words.distribution}, std::pair{"--seed", words.seed}})
    if (!word.empty()) throw InvalidArgument(fmt::format("{}: makes no sense with --a and --b", option));
  if (!words.shapes.empty()) throw InvalidArgument("--shape: makes no sense with --a and --b, which have their own");
  if ((!words.operation.empty() && words.operation != "gemm") || !words.op_plugins.empty())
    throw InvalidArgument("--a: files are for --op gemm");
}

/// Reads where the reports go (at most one of them goes to stdout) and which reports of earlier runs are read.
void read_outputs(const CommandLine& words, Options& options) {
  const char* on_stdout = nullptr;
  for (const auto& [option, target] : {std::pair{"--json", words.json}, std::pair{"--csv", words.csv},
                                       std::pair{"--html", words.html}, std::pair{"--markdown", words.markdown}}) {
    if (target != "-") continue;
    if (on_stdout != nullptr) throw InvalidArgument(fmt::format("{}: {} writes to stdout already", option, on_stdout));
    on_stdout = option;
  }
  if (options.shows_report()) {
    if (options.html.empty() && options.markdown.empty())
      throw InvalidArgument("--report: needs --html or --markdown, which are made from it");
    for (const auto& [option, given] :
         {std::pair{"--json", !words.json.empty()}, std::pair{"--csv", !words.csv.empty()},
          std::pair{"--diff", !words.diff.empty()}, std::pair{"--list", words.list}})
      if (given) throw InvalidArgument(fmt::format("{}: makes no sense with --report, which runs nothing", option));
  }
  if (!words.diff.empty()) {
    options.diff_old = words.diff.at(0);
    options.diff_new = words.diff.at(1);
  }
  if (options.verify && (options.operation != Operation::Gemm || options.tunes || options.list))
    throw InvalidArgument("--verify: is for races of products (--op gemm)");
  if (options.fail_on_slower && words.diff.empty())
    throw InvalidArgument("--fail-on-slower: needs --diff OLD NEW as well");
}

/// Reads "2x3" or "2x3x4".
GridWord parse_grid(const std::string& word) {
  std::vector<int> numbers;
  for (std::size_t begin = 0; begin <= word.size();) {
    const std::size_t end = std::min(word.find('x', begin), word.size());
    numbers.push_back(static_cast<int>(parse_index("--grid", word.substr(begin, end - begin), 1)));
    begin = end + 1;
  }
  if (numbers.size() < 2 || numbers.size() > 3)
    throw InvalidArgument(
        fmt::format("--grid: '{}' is no grid; write rows x columns, e.g. 2x2, or 1x2x2 with layers", word));
  return {numbers[0], numbers[1], numbers.size() == 3 ? numbers[2] : 1};
}

void read_grids(const CommandLine& words, Options& options) {
  for (const auto& [option, word] : {std::pair{"--grid", &words.grids}, std::pair{"--block", &words.block}})
    if (!word->empty() && !words.distributed)
      throw InvalidArgument(fmt::format("{}: needs --distributed as well", option));
  for (const auto& [option, given] :
       {std::pair{"--device-messages", words.device_messages}, std::pair{"--resident", words.resident}})
    if (given && !words.distributed) throw InvalidArgument(fmt::format("{}: needs --distributed as well", option));
  if (!words.distributed) return;
  if (!words.grids.empty())
    for (const std::string& word : split_list("--grid", words.grids)) options.grids.push_back(parse_grid(word));
  if (!words.block.empty()) options.block = parse_index("--block", words.block, 1);
  if (words.resident && options.backends.size() != 1)
    throw InvalidArgument("--resident: name the one --backend in whose memory matrices stay");
  if (!words.devices.empty() && options.backends.size() != 1)
    throw InvalidArgument("--devices: with --distributed it needs one --backend as well");
  for (const auto& [option, given] :
       {std::pair{"--kernels", !words.kernels.empty()}, std::pair{"--kernel", !words.judged.empty()},
        std::pair{"--csv", !words.csv.empty()}, std::pair{"--html", !words.html.empty()},
        std::pair{"--markdown", !words.markdown.empty()}, std::pair{"--a", !words.file_a.empty()},
        std::pair{"--op", words.operation == "sum_of_squares"}, std::pair{"--math", !words.maths.empty()},
        std::pair{"tune", words.tunes}, std::pair{"--verify", words.verify}})
    if (given) throw InvalidArgument(fmt::format("{}: makes no sense with --distributed", option));
}

Judging parse_judging(const CommandLine& words, Operation operation) {
  Judging judging;
  judging.files = words.judged;
  if (judging.files.empty()) {
    for (const auto& [option, word] :
         {std::pair{"--abi", &words.abi}, std::pair{"--device", &words.device},
          std::pair{"--kernel-math", &words.judged_math}, std::pair{"--kernel-flags", &words.judged_flags},
          std::pair{"--kernel-time-limit", &words.judged_time_limit},
          std::pair{"--kernel-memory-limit", &words.judged_memory_limit}})
      if (!word->empty()) throw InvalidArgument(fmt::format("{}: needs --kernel as well", option));
    return judging;
  }
  if (operation != Operation::Gemm) throw InvalidArgument("--kernel: is for --op gemm");
  if (!words.abi.empty()) judging.abi = judge::parse_abi(words.abi);
  if (!words.device.empty()) judging.device = judge::parse_device(words.device);
  if (!words.judged_math.empty()) judging.math = parse_math(words.judged_math);
  judging.flags = words.judged_flags;
  if (!words.judged_time_limit.empty()) judging.time_limit = parse_real("--kernel-time-limit", words.judged_time_limit);
  if (!(judging.time_limit > 0 && judging.time_limit <= 1e6))
    throw InvalidArgument(fmt::format("--kernel-time-limit: {} is not above 0 and up to 1000000", judging.time_limit));
  if (!words.judged_memory_limit.empty())
    judging.memory_limit = static_cast<std::size_t>(std::min<Index>(
                               parse_index("--kernel-memory-limit", words.judged_memory_limit, 0), Index{1} << 30))
                           << 20;
  return judging;
}

/// Reads which backends, kernels, types, modes and numbers of threads are raced.
void read_rows(const CommandLine& words, bool types_given, Options& options) {
  options.backends = requested_backends(words);
  if (!words.kernels.empty()) options.kernels = split_list("--kernels", words.kernels);
  if (types_given || !words.dtypes.empty()) options.types.clear();
  if (!words.dtypes.empty() && options.operation != Operation::System) // read_operations() has its own types
    for (const std::string& word : split_list("--dtype", words.dtypes))
      options.types.push_back(parse_type(word, options.operation == Operation::Gemm, !words.judged.empty()));
  options.types_given = types_given;
  options.all_modes = words.all_modes || words.maths == "all";
  if (!words.maths.empty() && words.maths != "all")
    for (const std::string& word : split_list("--math", words.maths)) options.maths.push_back(parse_math(word));
  if (!words.threads.empty())
    for (const Index count : apps::parse_index_list("--threads", words.threads, 1)) {
      if (count > 4096) throw InvalidArgument(fmt::format("--threads: {} is more than 4096", count));
      options.threads.push_back(static_cast<int>(count));
    }
}

/// Reads which products are computed, and of which data.
void read_products(const CommandLine& words, bool shapes_given, Options& options) {
  options.op_a = words.trans_a ? Op::Transpose : Op::None;
  options.op_b = words.trans_b ? Op::Transpose : Op::None;
  if (options.reads_files()) {
    const FileOperands product = inspect_files(options);
    options.types = {product.type};
    options.shapes = {product.shape};
    options.result = parse_result(words, options);
    check_file_c(options, product);
  } else {
    options.result = parse_result(words, options);
    options.shapes = options.tunes && !shapes_given ? tuning_shapes() : parse_shapes(words, options.operation);
  }
  if (!words.alpha.empty()) options.alpha = parse_factor("--alpha", words.alpha, options.types);
  if (!words.beta.empty()) options.beta = parse_factor("--beta", words.beta, options.types);
  if (options.reads_files() && (options.beta != 0) == words.file_c.empty())
    throw InvalidArgument(options.beta != 0 ? "--beta: with --a and --b it needs --c, the C to add to"
                                            : "--c: is read only if --beta is not 0");
  if (!words.distribution.empty())
    options.filling = parse_filling(words.distribution, options.operation, filled_types(options));
  if (!words.ld_pad.empty()) options.ld_pad = parse_index("--ld-pad", words.ld_pad, 0);
  if (!words.seed.empty()) options.seed = static_cast<std::uint64_t>(parse_index("--seed", words.seed, 0));
}

/// Reads how often, how long and how each entry is timed, and how many rows of C are checked.
void read_measuring(CommandLine& words, Options& options) {
  if (!words.repeat.empty()) {
    const Index repeat = parse_index("--repeat", words.repeat, 1);
    if (repeat > 1000000) throw InvalidArgument(fmt::format("--repeat: {} is more than 1000000", repeat));
    options.repeat = static_cast<int>(repeat);
  }
  set_default(words.timing, "auto");
  constexpr std::array timings{Timing::Auto, Timing::Events, Timing::Graph};
  options.timing = timings[apps::choose("--timing", words.timing, {"auto", "events", "graph"})];
  if (!words.time_limit.empty()) options.time_limit = parse_real("--time-limit", words.time_limit);
  if (!(options.time_limit >= 0)) throw InvalidArgument("--time-limit: must be at least 0, which is no limit");
  if (words.check_rows == "all")
    options.check_rows = std::numeric_limits<Index>::max();
  else if (!words.check_rows.empty() && words.check_rows != "auto")
    options.check_rows = parse_index("--check-rows", words.check_rows, 1);
  if (!words.cblas.empty()) options.cblas = words.cblas;
}

} // namespace

std::string_view to_string(Timing timing) {
  return timing == Timing::Events ? "events" : timing == Timing::Graph ? "graph" : "auto";
}

bool Options::demands(Backend backend) const {
  return std::any_of(backends.begin(), backends.end(),
                     [&](const BackendRequest& request) { return request.backend == backend && request.demanded; });
}

Options interpret(CommandLine words) {
  Options options;
  read_check(words, options);
  if (options.check) return options;
  read_lens(words, options);
  if (options.lens) return options;
  check_files(words);
  const bool types_given = !words.dtypes.empty();
  apply_preset(words, options);
  apply_tuning(words, options);
  options.plain() = words.plain();
  const bool shapes_given = !words.sizes.empty() || !words.shapes.empty();
  options.operation = parse_operation(words);
  if (words.shapes.empty() && options.operation != Operation::User)
    set_default(words.sizes, options.operation == Operation::SumOfSquares ? "65536,1048576,16777216" : "256,512,1024");
  read_rows(words, types_given, options);
  read_operations(words, options);
  read_products(words, shapes_given, options);
  read_file_product(words, options);
  read_devices(words, options);
  read_measuring(words, options);
  options.judging = parse_judging(words, options.operation);
  options.list |= words.list_operations;
  options.mean = options.preset != nullptr && options.preset->mean;
  options.progress = !words.no_progress;
  read_grids(words, options);
  read_outputs(words, options);
  read_table(words, options);
  return options;
}

} // namespace tessera::compare_app
