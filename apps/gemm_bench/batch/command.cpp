#include "command.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include <tessera/backend.hpp>
#include <tessera/files.hpp>

#include "common/machine.hpp"
#include "common/notes.hpp"
#include "common/terminal.hpp"
#include "common/words.hpp"
#include "race.hpp"

namespace tessera::bench {
namespace {

/// Returns how many products a batch has: as many as the user asks for, but no more than fit into `megabytes`.
Index products_within(Index count, double megabytes, const GemmShape& s, DType type) {
  const double bytes = static_cast<double>(s.m * s.k + s.k * s.n + s.m * s.n) * static_cast<double>(size_of(type));
  return std::clamp<Index>(static_cast<Index>(megabytes * 1e6 / bytes), 1, count);
}

} // namespace

CLI::App* BatchCommand::add_to(CLI::App& app) {
  CLI::App* batch = app.add_subcommand("batch", "batches: Tessera beside MKL's and OpenBLAS', or beside cuBLAS'");
  batch->add_option("--shapes", shapes, "MxNxK, separated by commas")->capture_default_str();
  batch->add_option("--count", count, "products of a batch")->capture_default_str()->check(CLI::PositiveNumber);
  batch->add_option("--megabytes", megabytes, "fewer products where they would take more")->capture_default_str();
  batch->add_option("--dtype", types, "f32, f64 or both")->capture_default_str();
  batch->add_option("--threads", threads, "numbers of threads")->capture_default_str();
  batch->add_option("--beta", beta, "factor of C")->capture_default_str();
  batch->add_flag("--transpose-a", transpose_a, "A is stored transposed");
  batch->add_flag("--transpose-b", transpose_b, "B is stored transposed");
  batch->add_flag("--gpu", gpu, "CUDA and cuBLAS, with operands on the device");
  batch->add_option("--library", libraries, "files of libraries with cblas_?gemm_batch; default: OpenBLAS and MKL");
  batch->add_option("--rounds", rounds, "samples of each peer")->capture_default_str()->check(CLI::PositiveNumber);
  batch->add_option("--sample-ms", sample_ms, "least length of a sample")->capture_default_str();
  batch->add_option("--rest-ms", rest_ms, "pause before each sample with several threads")->capture_default_str();
  batch->add_option("--json", json, "file for the results");
  return batch;
}

int BatchCommand::run() const {
  std::vector<GemmShape> wanted_shapes; // read before anything runs, as what follows
  for (const std::string& word : apps::split_list("--shapes", shapes)) {
    const auto [m, n, k] = apps::parse_sizes("--shapes", word, 1);
    wanted_shapes.push_back({m, n, k});
  }
  if (!json.empty()) check_writable(json);
  std::vector<DType> wanted_types;
  for (const std::string& word : apps::split_list("--dtype", types)) wanted_types.push_back(parse_dtype(word));
  const std::vector<Index> wanted_threads =
      gpu ? std::vector<Index>{0} : apps::parse_index_list("--threads", threads, 1);
  const BatchPeers peers =
      gpu ? make_device_batch_peers()
          : make_batch_peers(libraries.empty() ? std::vector<std::string>{} : apps::split_list("--library", libraries));
  Executor& where = executor(gpu ? Backend::Cuda : Backend::Reference);
  fmt::print("{}, {} rounds, medians a batch\n{}\n", gpu ? where.capabilities().device : apps::cpu_name(), rounds,
             batch_table_head(peers));
  std::vector<nlohmann::ordered_json> results;
  bool wrong = false;
  for (const DType type : wanted_types)
    for (const Index thread : wanted_threads)
      for (const GemmShape& shape : wanted_shapes) {
        BatchRace race{shape, type, 1, static_cast<int>(thread)};
        race.count = products_within(count, megabytes, race.shape, race.type);
        race.op_a = transpose_a ? Op::Transpose : Op::None;
        race.op_b = transpose_b ? Op::Transpose : Op::None;
        race.beta = beta;
        const std::vector<Standing> standings =
            run_batch_race(race, where, peers, rounds, sample_ms * 1e-3, rest_ms * 1e-3);
        fmt::print("{}\n", batch_table_line(race, standings));
        apps::flush_stdout();
        for (const Standing& one : standings) {
          wrong |= !one.problem.empty();
          if (!one.problem.empty()) apps::note("{}: {}\n", one.peer, one.problem);
        }
        for (auto& entry : batch_entries(race, standings)) results.push_back(std::move(entry));
      }
  if (!json.empty()) {
    const std::vector<Backend> backends = gpu ? std::vector<Backend>{Backend::Cuda} : apps::processor_backends();
    const nlohmann::ordered_json document{
        {"schema", "tessera.batch/1"}, {"machine", apps::machine_json(backends)}, {"results", results}};
    write_text_file(json, document.dump(1) + "\n");
  }
  return wrong ? 1 : 0;
}

} // namespace tessera::bench
