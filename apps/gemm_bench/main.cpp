/// gemm_bench peers: Tessera and other libraries multiply the same matrices, turn by turn, over a table of shapes or
/// over shapes drawn at random, on the processor or on a device.
/// gemm_bench batch: they compute batches, on the processor or on a device.
/// gemm_bench executors: one product of host matrices on one executor and on several.

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <tessera/backend.hpp>
#include <tessera/detail/printable.hpp>
#include <tessera/files.hpp>
#include <tessera/status.hpp>

#include "batch/command.hpp"
#include "common/command_line.hpp"
#include "common/machine.hpp"
#include "common/notes.hpp"
#include "common/terminal.hpp"
#include "common/words.hpp"
#include "device/command.hpp"
#include "executors/command.hpp"
#include "probe.hpp"
#include "race.hpp"
#include "report.hpp"

namespace {

using namespace tessera;
using namespace tessera::bench;

/// Small, square, odd, long and thin products, as programs have them.
constexpr const char* usual_shapes =
    "64x64x64,128x128x128,256x256x256,17x19x23,127x129x131,1000x1000x1000,1024x1024x1024,2047x2047x2047,"
    "2048x2048x2048,2049x2049x2049,4096x4096x4096,4096x4096x64,64x64x4096,4096x16x4096,16x4096x4096,1x4096x4096";

struct Words {
  std::string shapes = usual_shapes;
  std::string types; ///< empty: all that race
  bool gpu = false;
  int random = 0; ///< products drawn from each seed; 0: the shapes above
  std::string seeds = "1";
  std::optional<double> alpha, beta; ///< empty: 1 and 0, or what is drawn
  std::string kernels;
  std::string threads = "1,2";
  std::string libraries;
  std::string json;
  int rounds = 9;
  double sample_ms = 5;
  double rest_ms = 250;
};

/// Sizes of random products. The processor's are smaller, so that sixty of them take minutes.
constexpr SizeLimits on_device{};
constexpr SizeLimits on_processor{.side_least = 4, .side_most = 4096, .depth_least = 4, .depth_most = 4096};

/// The products that the user named, or those drawn from each seed.
std::vector<PlannedProduct> products(const Words& words) {
  std::vector<PlannedProduct> all;
  if (words.random > 0) {
    for (const Index seed : apps::parse_index_list("--seed", words.seeds, 1))
      for (const RacedProduct& product :
           random_products(words.random, static_cast<std::uint64_t>(seed), words.gpu ? on_device : on_processor))
        all.push_back({product, static_cast<std::uint64_t>(seed)});
  } else {
    for (const std::string& text : apps::split_list("--shapes", words.shapes)) all.push_back({parse_product(text), 0});
  }
  for (PlannedProduct& planned : all) {
    planned.product.alpha = words.alpha.value_or(planned.product.alpha);
    planned.product.beta = words.beta.value_or(planned.product.beta);
  }
  return all;
}

std::vector<Race> races(const Words& words) {
  std::vector<Race> all;
  for (const std::string& type : apps::split_list("--dtype", words.types.empty() ? "f32,f64" : words.types))
    for (const Index threads : apps::parse_index_list("--threads", words.threads, 1))
      for (const PlannedProduct& planned : products(words))
        all.push_back({planned.product, parse_dtype(type), static_cast<int>(threads)});
  return all;
}

int device_command(const Words& words) {
  return run_device_plan(
      {.modes = apps::split_list(
           "--dtype", words.types.empty() ? "f32,f64,tf32,bf16,fp16,fp16x3,scaled_fp16,int8_units" : words.types),
       .kernels = words.kernels.empty() ? std::vector<std::string>{} : apps::split_list("--kernel", words.kernels),
       .products = products(words),
       .rounds = words.rounds,
       .sample_seconds = words.sample_ms * 1e-3,
       .json = words.json});
}

int peers_command(const Words& words) {
  if (!words.json.empty()) check_writable(words.json);
  const std::vector<Race> plan = races(words);
  const auto peers =
      make_peers(words.libraries.empty() ? std::vector<std::string>{} : apps::split_list("--library", words.libraries));
  std::vector<std::string> names;
  names.reserve(peers.size() + 1);
  for (const auto& peer : peers) names.push_back(peer->name());
  names.push_back(probe_name);
  fmt::print("{}, {} rounds, GFLOP/s (medians)\n{}\n", apps::cpu_name(), words.rounds, table_head(names));
  std::vector<nlohmann::ordered_json> results;
  bool wrong = false;
  for (const Race& race : plan) {
    const std::vector<Standing> standings =
        run_race(race, peers, words.rounds, words.sample_ms * 1e-3, words.rest_ms * 1e-3);
    fmt::print("{}\n", table_line(race, standings));
    apps::flush_stdout();
    for (const Standing& one : standings) wrong |= !one.seconds.empty() && !one.problem.empty();
    for (auto& entry : entries(race, standings)) results.push_back(std::move(entry));
  }
  fmt::print("\n{}", summary(results));
  if (!words.json.empty()) {
    const nlohmann::ordered_json document{{"schema", "tessera.peers/1"},
                                          {"machine", apps::machine_json(apps::processor_backends())},
                                          {"results", results}};
    write_text_file(words.json, document.dump(1) + "\n");
  }
  return wrong ? 1 : 0;
}

} // namespace

int main(int argc, char** argv) try {
  apps::open_standard_streams();
  CLI::App app("Benchmarks of matrix products beside other libraries.", "gemm_bench");
  app.require_subcommand(1);
  Words words;
  BatchCommand batch_words;
  const CLI::App* batch = batch_words.add_to(app);
  ExecutorsCommand executors_words;
  const CLI::App* executors = executors_words.add_to(app);
  CLI::App* peers = app.add_subcommand("peers", "Tessera's processor backends and every CBLAS library, interleaved");
  peers->add_option("--shapes", words.shapes, "MxNxK, or MxNxK:TN if A is stored transposed; separated by commas")
      ->capture_default_str();
  peers->add_option("--dtype", words.types,
                    "f32,f64; with --gpu also tf32,bf16,fp16,fp16x3,scaled_fp16,int8_units. Default: all of them");
  CLI::Option* gpu = peers->add_flag("--gpu", words.gpu, "CUDA, cuBLAS and cuBLASLt, with operands on the device");
  peers->add_option("--random", words.random, "products of random shapes, drawn from each seed, instead of --shapes")
      ->check(CLI::PositiveNumber);
  peers->add_option("--alpha", words.alpha, "factor of the product. Default: 1, or what --random draws");
  peers->add_option("--beta", words.beta, "factor of C. Default: 0, or what --random draws");
  peers->add_option("--seed", words.seeds, "seeds of --random, separated by commas")->capture_default_str();
  peers->add_option("--kernel", words.kernels, "kernels of the device's ladder, timed beside the choice that it makes")
      ->needs(gpu);
  peers->add_option("--threads", words.threads, "numbers of threads")->capture_default_str();
  peers->add_option(
      "--library", words.libraries,
      "files of CBLAS libraries or oneDNN; default: OpenBLAS, MKL, BLIS, oneDNN where the linker finds them");
  peers->add_option("--rounds", words.rounds, "samples of each peer")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  peers->add_option("--sample-ms", words.sample_ms, "least length of a sample")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  peers
      ->add_option("--rest-ms", words.rest_ms,
                   "pause before each sample with several threads, until idle ones of other libraries sleep")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  peers->add_option("--json", words.json, "file for the results");
  if (!apps::parse(app, argc, argv)) return 0;
  const int status = batch->parsed()       ? batch_words.run()
                     : executors->parsed() ? executors_words.run()
                     : words.gpu           ? device_command(words)
                                           : peers_command(words);
  apps::flush_stdout();
  return status;
} catch (const std::exception& error) {
  apps::note_error("gemm_bench", error);
  return 2;
}
