/// Declares the options of the command line. options_parse.cpp reads their words.

#include "options.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

#include <tessera/status.hpp>
#include <tessera/version.hpp>

#include "common/command_line.hpp"
#include "common/terminal.hpp"
#include "options_parse.hpp"
#include "report/columns/columns.hpp"
#include "type_words.hpp"

namespace tessera::compare_app {
namespace {

constexpr const char* description =
    "Runs every kernel of every backend on the same product and says how fast each one is and how wrong.";

constexpr const char* examples = R"(
Examples:
  gemm_compare                                        every kernel of every backend that exists
  gemm_compare --cpu --kernels 'simd,cblas*' --sizes 512,1024,2048 --threads 1,2
  gemm_compare --backend cuda --shape 4096x16x4096 --dtype f64 --json out.json
  gemm_compare --a A.npy --b B.npy --out C.npy        real data in, product out, all backends compared
  gemm_compare --a A.npy --b B.npy --out C.npy --memory-limit 4GiB     matrices that do not fit into memory
  gemm_compare --check --a A.npy --b B.npy --c C.npy  is C their product? The errors beside proven bounds
  gemm_compare --kernel mine.cu --abi leetgpu --gpu   judge a kernel of your own beside the ladder
  gemm_compare --op copy,triad --sizes 10000000       loops of functors on every backend: GB/s, differing bits
  gemm_compare --op-plugin ./libmine.so               the same of functors of your own
  gemm_compare tune --gpu --budget 300                which kernel for which product: a table that gemm() reads
  gemm_compare --cpu --columns kernel,gflops,bar      a table of these columns
  gemm_compare --preset report                        the classic experiment: random integers, ten repetitions
  gemm_compare --html report.html --json new.json     a page to look at, and a report for the next line
  gemm_compare --report old.json --html old.html      the page of an earlier run
  gemm_compare --diff old.json new.json               what became faster and what slower
)";

/// Each paragraph is one line, which --help wraps.
constexpr const char* rules =
    "\nBackends: without --cpu, --gpu or --backend, those that exist are run and nothing is missing. What is named "
    "there "
    "is demanded: the others still run, the reason is printed on stderr, and the exit status is 2.\n"
    "\nVerdicts: pass (every element within the proven bound; the very bits, of a canonical kernel), cannot "
    "say (a kernel of --kernel is right, but other programs had the processors that it was given), wrong, rejected "
    "(the kernel does not take this product), skipped (one run would pass --time-limit), failed (the device or the "
    "library "
    "reported an error).\n"
    "\nExit status: 0 all within bounds; 1 some kernel is wrong or failed; 2 bad usage, bad input, a demanded backend "
    "missing, nothing ran (1 wins over 2), or a result cannot be written; 130 interrupted, after printing what was "
    "measured. With --diff: 0; 1 something is slower and --fail-on-slower was given; 2 a report cannot be read. With "
    "--check: 0 C is right; 1 it "
    "is "
    "wrong, or nothing of it could be judged; 2 bad usage or a bad file.\n";

/// Returns the columns for --help: first the columns that tables show, then the others that --columns can name.
std::string column_help() {
  const std::vector<const report::Column*> shown = report::shown_in(&report::Column::table);
  const std::span<const report::Column> all = report::columns();
  std::size_t names = 0, headings = 0;
  for (const report::Column& column : all) names = std::max(names, apps::display_width(column.name));
  for (const report::Column* column : shown) headings = std::max(headings, apps::display_width(column->table.heading));
  const auto line = [&](const report::Column& column) {
    const bool shows = column.table.heading != nullptr;
    const std::string name = column.name + std::string(shows && column.table.priority == 0 ? " *" : "");
    return "  " + apps::pad_right(name, names + 2) + "  " +
           apps::pad_right(shows ? column.table.heading : "", headings) + "  " + column.explains + "\n";
  };
  std::string text =
      "\nColumns: name, heading and meaning. A column that says nothing is left out. A terminal shows those marked * "
      "and as many of the others as fit; a file shows all but the bar.\n";
  for (const report::Column* column : shown) text += line(*column);
  text += "Columns that --columns adds:\n";
  for (const report::Column& column : all)
    if (column.table.heading == nullptr) text += line(column);
  return text;
}

std::string preset_help() {
  std::string text = "\nPresets:\n";
  for (const Preset& preset : presets()) text += "  " + apps::pad_right(preset.name, 11) + "  " + preset.summary + "\n";
  return text;
}

/// Declares a text option; its word is kept as it was typed.
CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& target, const std::string& help,
                      const std::string& type) {
  return app.add_option(name, target, help)->type_name(type);
}

/// Declares the options that --help lists under one heading.
struct Heading {
  void flag(const std::string& option, bool& target, const std::string& help) const {
    app.add_flag(option, target, help)->group(name);
  }
  CLI::Option* text(const std::string& option, std::string& target, const std::string& help,
                    const std::string& type) const {
    return add_text(app, option, target, help, type)->group(name);
  }
  void repeatable(const std::string& option, std::vector<std::string>& target, const std::string& help,
                  const std::string& type) const {
    app.add_option(option, target, help)->type_name(type)->allow_extra_args(false)->take_all()->group(name);
  }

  CLI::App& app;
  const char* name;
};

void declare_backends(CLI::App& app, CommandLine& words) {
  const Heading heading{app, "Backends and kernels"};
  heading.flag("--cpu", words.cpu, "Backends in host memory: reference, openmp, tbb, …");
  heading.flag("--gpu", words.gpu, "Backends of GPUs that are here: cuda, opencl, …");
  heading.repeatable("--backend", words.backends,
                     "A backend: reference, openmp, tbb, cuda, opencl, or the name of another plug-in (repeatable)",
                     "NAME");
  heading.text("--kernels", words.kernels, "Shell patterns of kernel names, e.g. 'simd,cblas*'", "GLOBS");
  heading.text("--cblas", words.cblas, "CBLAS libraries to compare with: a list of files, auto (those found), none",
               "LIST");
  heading.flag("--all-modes", words.all_modes,
               "Race the slow models of a GPU's matrix units on the processor (hopper_units), too");
  heading.flag("--list", words.list, "List the kernels of every built backend, with or without its device");
}

void declare_judging(CLI::App& app, CommandLine& words) {
  const Heading heading{app, "Judging a kernel from outside"};
  heading.repeatable("--kernel", words.judged, "A kernel of your own: .so, .cu, .cpp, .c or .py (repeatable)", "FILE");
  heading.text("--abi", words.abi, "Its interface: leetgpu (default), tessera, cblas", "NAME");
  heading.text("--device", words.device, "Where it runs: cpu or cuda; by default as the file looks", "NAME");
  heading.text("--kernel-math", words.judged_math, "Math mode that decides its error bound; strict by default", "NAME");
  heading.text("--kernel-flags", words.judged_flags, "Compiler flags in place of -O3 (.cu) or -O3 -march=native",
               "FLAGS");
  heading.text("--kernel-time-limit", words.judged_time_limit, "Seconds for each call of it; 30 by default", "S");
  heading.text("--kernel-memory-limit", words.judged_memory_limit,
               "MiB that it may take on the processor; 4096 by default, 0: no limit", "N");
}

void declare_lens(CLI::App& app, CommandLine& words) {
  const Heading heading{app, "Looking at a CUDA kernel without a GPU"};
  heading.text("--lens", words.lens,
               "Count the accesses of a kernel's file (.cu), or of a rung of the textbook, on the processor: sectors, "
               "bank conflicts, races; race nothing. With --shape (128x128x64 by default), --dtype f32 or f64, "
               "--transA, --transB, --alpha, --beta, --time-limit, --json and --html",
               "FILE|RUNG");
}

void declare_products(CLI::App& app, CommandLine& words) {
  const Heading heading{app, "Products"};
  heading
      .text("--op", words.operation,
            "gemm, sum_of_squares (sizes are then lengths of vectors), or a list of operations that run functors on "
            "every backend, or patterns of them: copy, triad, dot, … Or a list of linear algebra: syrk, trsm, potrf, "
            "getrf, geqrf, posv, gesv. Without a name, --op lists them",
            "NAMES")
      ->expected(0, 1);
  heading.repeatable("--op-plugin", words.op_plugins,
                     "A library with operations of your own, which --op can name; alone, it races all of them "
                     "(repeatable)",
                     "FILE");
  heading.text("--sizes", words.sizes, "Square sizes, e.g. 256,512,1024", "LIST");
  heading.repeatable("--shape", words.shapes, "One shape (repeatable); of an operation of two sizes MxN", "MxNxK");
  heading.text("--dtype", words.dtypes, help_of_types(), "LIST");
  heading.text("--result", words.result, help_of_results(), "NAME");
  heading.text("--math", words.maths,
               "Math modes, e.g. strict,tf32; all by default, each kernel in its own, without hopper_units", "LIST");
  heading.flag("--transA", words.trans_a, "A is stored transposed");
  heading.flag("--transB", words.trans_b, "B is stored transposed");
  heading.text("--alpha", words.alpha, "C := alpha·op(A)·op(B) + beta·C", "X");
  heading.text("--beta", words.beta, "0: C is not read", "X");
  heading.text("--ld-pad", words.ld_pad,
               "Leading dimension = columns + N for A, B and C; by default rows end at whole cache lines", "N");
  heading.text(
      "--dist", words.distribution,
      "Random data: uniform[:low:high], normal[:mean:deviation], integers[:low:high], cancel (sums that almost "
      "vanish), wide[:E] (magnitudes 2^-E … 2^E), scaled[:E] (rows of A and columns of B by 2^-E … 2^E), special (some "
      "NaN, Inf, zeros, subnormal and huge numbers)",
      "NAME");
  heading.text("--seed", words.seed, "Seed of the random data", "N");
  heading.text("--a", words.file_a, "A from a .npy file; needs --b", "FILE");
  heading.text("--b", words.file_b, "B from a .npy file", "FILE");
  heading.text("--c", words.file_c, "C from a .npy file, for beta other than 0; under --check the product", "FILE");
  heading.text("--out", words.file_out, "Write the product of the first kernel that passes to a .npy file", "FILE");
}

void declare_large_files(CLI::App& app, CommandLine& words) {
  const Heading heading{app, "Files larger than memory"};
  heading.text("--memory-limit", words.memory_limit,
               "Multiply --a by --b into --out block by block with at most this much memory, e.g. 4GiB, and race "
               "nothing; every --backend computes blocks of it",
               "SIZE");
  heading.text(
      "--resume", words.resume,
      "What to do with an unfinished product of the same name: auto (go on with it if it is this product, else "
      "refuse; the default), never (start over)",
      "WORD");
  heading.text("--devices", words.devices,
               "Devices that compute blocks, or that ranks take in turn with --distributed, e.g. 0,1; by default the "
               "backend's own choice",
               "LIST");
}

void declare_check(CLI::App& app, CommandLine& words) {
  const Heading heading{app, "Checking a product in files"};
  heading.flag(
      "--check", words.check,
      "Say whether the C of --c is the product of --a and --b as --math (strict by default) may round it; "
      "race nothing. With --alpha, --beta, --transA, --transB, --dtype (of 8-bit files: e4m3, e5m2, or one for "
      "each of A and B), --seed, --threads, --check-rows and --json. Arrays of three dimensions are batches");
  heading.text("--c-before", words.file_c_before, "C as it was before the product, from a .npy file, for --beta",
               "FILE");
  heading.text("--bias", words.file_bias, "A bias of C's type from a .npy file: 1×n or m×1", "FILE");
  heading.text("--activation", words.activation, "Is applied after the bias: relu or gelu (its tanh form)", "NAME");
  heading.text("--residual", words.file_residual, "Is added at the end, from a .npy file", "FILE");
  heading.text("--vectors", words.vectors, "Random vectors of Freivalds' check over all rows; 16 by default, 0: none",
               "N");
}

void declare_distributed(CLI::App& app, CommandLine& words) {
  const Heading heading{app, "Many ranks"};
  heading.flag("--distributed", words.distributed,
               "Race the engines of distributed products; started by mpirun -n RANKS gemm_compare --distributed");
  heading.text("--grid", words.grids, "Grids of ranks: rows x columns, or with layers, e.g. 2x2,1x4,1x2x2", "LIST");
  heading.text("--block", words.block,
               "Side of the blocks in which matrices are dealt to the ranks; by default 1024 or less", "N");
  heading.flag("--resident", words.resident,
               "Keep the matrices of the ranks in the memory of the named backend from product to product");
  heading.flag(
      "--device-messages", words.device_messages,
      "Let MPI send panels from and into the memory of the ranks' backends; it must take pointers to a device");
}

void declare_measuring(CLI::App& app, CommandLine& words) {
  const Heading heading{app, "Measuring"};
  heading.text("--threads", words.threads, "Numbers of threads, each its own entry, e.g. 1,2", "LIST");
  heading.text("--repeat", words.repeat, "Timed runs of each kernel", "N");
  heading.text("--time-limit", words.time_limit,
               "Seconds for one kernel and shape: fewer runs, or none if one takes longer; 0: no limit", "S");
  heading.text("--timing", words.timing,
               "Of kernels on a device: events (around each run), graph (around a replay of many), auto (graph where a "
               "shape's fastest run takes less than 250 µs)",
               "NAME");
  heading.text("--check-rows", words.check_rows,
               "Rows of C that are checked: all, a number of sampled ones, or auto (all up to a few seconds' work)",
               "N");
  heading.flag("--measure-ceilings", words.measure_ceilings,
               "Measure the machine's peaks and bandwidths, also those that an earlier run kept");
  heading.flag("--verify", words.verify,
               "Show what it costs that a product verifies itself (docs/health.md), on backends of the processor");
  heading.text("--preset", words.preset,
               "An experiment that the ladders come from, beside what was published; the names are below. Options that "
               "are given beside it count. With --list: what it would run",
               "NAME");
}

void declare_outputs(CLI::App& app, CommandLine& words) {
  const Heading heading{app, "Output"};
  heading.text("--json", words.json, "Write the results as JSON; - is stdout, without the table", "FILE");
  heading.text("--csv", words.csv, "Write the results as CSV; - is stdout, without the table", "FILE");
  heading.text("--html", words.html, "Write a page with charts and every entry; it needs no network", "FILE");
  heading.text("--markdown", words.markdown, "Write tables for a README; - is stdout, without the table", "FILE");
  heading.text("--report", words.report, "Make --html and --markdown from an earlier run's JSON instead of running",
               "JSON");
  app.add_option("--diff", words.diff, "Compare two JSON reports instead of running: faster, slower, same, can't tell")
      ->type_name("OLD NEW")
      ->expected(2)
      ->group(heading.name);
  heading.flag("--fail-on-slower", words.fail_on_slower,
               "With --diff: exit 1 if an entry is slower or no longer passes");
  heading.text("--columns", words.columns, "Columns of the table, from left to right, by the names below", "LIST");
  heading.text("--width", words.width, "Width of the table; by default the terminal's, 0: no limit, as in a file", "N");
  heading.flag("--errors", words.errors,
               "Below each table: of every entry the distances from the exact result in ULPs, and the worst elements");
  heading.flag("--no-progress", words.no_progress,
               "No progress: no bar on a terminal, no line every ten seconds elsewhere");
}

void declare_tune(CLI::App& app, CommandLine& words) {
  CLI::App* tune = app.add_subcommand(
      "tune", "Measure which kernel is fastest for which product, and keep it for gemm() to choose by");
  tune->fallthrough();
  add_text(*tune, "--table", words.table, "The file to keep it in, or to go on with; by default the one gemm() reads",
           "FILE");
  add_text(*tune, "--budget", words.budget, "Seconds for all of it, 600 by default; the same command goes on later",
           "S");
  tune->callback([&words] { words.tunes = true; });
}

void declare(CLI::App& app, CommandLine& words) {
  declare_backends(app, words);
  declare_judging(app, words);
  declare_lens(app, words);
  declare_products(app, words);
  declare_large_files(app, words);
  declare_check(app, words);
  declare_distributed(app, words);
  declare_measuring(app, words);
  declare_outputs(app, words);
  declare_tune(app, words);
}

} // namespace

std::optional<Options> parse_options(int argc, char** argv) {
  CLI::App app(description, "gemm_compare");
  app.footer(examples + (rules + preset_help()) + column_help());
  app.set_version_flag("--version", std::string("gemm_compare " TESSERA_VERSION));
  CommandLine words;
  declare(app, words);
  if (!apps::parse(app, argc, argv)) return std::nullopt;
  words.list_operations = app.count("--op") > 0 && words.operation.empty();
  Options options = interpret(words);
  options.command.assign(argv, argv + argc);
  options.command.front() = "gemm_compare";
  return options;
}

} // namespace tessera::compare_app
