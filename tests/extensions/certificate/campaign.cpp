/// The campaign behind docs/certificate.md, for people to run: errors of the size that the page promises to find are
/// planted at random places of honest products, and honest products of every kernel of this machine are checked.
///
///     tessera_certificate_campaign --planted 10000 --honest 10000 --largest 8192
///     tessera_certificate_campaign --planted 10000 --honest 10000 --largest 8192 --backend cuda
///
/// With --backend all products are that backend's, and errors are planted in products of all its modes and types. The
/// exit status is 0 if no planted error was missed and no honest product was refused, and 77 if the backend is not
/// there and TESSERA_REQUIRE does not name it.

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <tessera/backend.hpp>
#include <tessera/executor.hpp>
#include <tessera/types.hpp>

#include "support/subject.hpp"

#include "honest.hpp"
#include "planting.hpp"

namespace {

/// Returns the executor of a backend, or null where it is not there and need not be.
tessera::Executor* executor_if_there(tessera::Backend backend) try {
  return &tessera::executor(backend);
} catch (const tessera::BackendUnavailable& error) {
  if (tessera::conformance::required(backend)) throw;
  fmt::print("skipped: {}\n", error.what());
  return nullptr;
}

} // namespace

int main(int argc, char** argv) try {
  using namespace tessera;
  CLI::App app("Plants errors in products and checks honest ones", "tessera_certificate_campaign");
  Index planted = 10000, honest = 10000, least = 512, largest = 8192, honest_largest = 400;
  std::uint64_t seed = 1;
  std::string named;
  app.add_option("--planted", planted, "Errors to plant, over all sizes, types and modes");
  app.add_option("--honest", honest, "Honest products to check");
  app.add_option("--least", least, "The least size of products that errors are planted in")->check(CLI::PositiveNumber);
  app.add_option("--largest", largest, "The largest such size; sizes double");
  app.add_option("--honest-largest", honest_largest, "The largest m and n of honest products")
      ->check(CLI::PositiveNumber);
  app.add_option("--backend", named, "Take products of this backend alone, and plant errors in all its modes");
  app.add_option("--seed", seed, "Seed of all random numbers");
  CLI11_PARSE(app, argc, argv);

  const auto begin = std::chrono::steady_clock::now();
  std::optional<Backend> backend;
  if (!named.empty()) {
    backend = parse_backend(named);
    const Executor* found = executor_if_there(*backend);
    if (found == nullptr) return 77;
    const Capabilities& machine = found->capabilities();
    fmt::print("{}: {}, {}\n", named, machine.device,
               machine.host_memory ? "in host memory" : "with copies of operands and results");
  }
  test::Counts all;
  std::vector<Index> sizes;
  for (Index size = least; size <= largest; size *= 2) sizes.push_back(size);
  const std::vector<test::PlantedKind> kinds = test::planted_kinds(backend);
  const auto parts = static_cast<Index>(sizes.size() * kinds.size());
  if (planted > 0)
    for (const Index size : sizes)
      for (const test::PlantedKind& kind : kinds)
        all.add(test::plant(backend, kind, size, (planted + parts - 1) / parts));
  if (honest > 0) all.add(test::check_honest(backend, honest, honest_largest, seed));
  fmt::print(
      "all: {} planted elements, {} missed; {} pairs, {} missed; {} honest products, {} refused; {} honest rows "
      "found beside planted ones, {} rows not judged; {:.0f} s\n",
      all.planted, all.missed, all.pairs, all.pairs_missed, all.honest, all.refused, all.honest_rows_found,
      all.unjudged, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return all.missed == 0 && all.refused == 0 && all.honest_rows_found == 0 && all.unjudged == 0 ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "tessera_certificate_campaign: {}\n", error.what());
  return 2;
}
