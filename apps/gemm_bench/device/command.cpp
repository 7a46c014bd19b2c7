#include "command.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include <tessera/backend.hpp>
#include <tessera/files.hpp>

#include "common/machine.hpp"
#include "common/notes.hpp"
#include "common/words.hpp"
#include "report.hpp"

namespace tessera::bench {
namespace {

std::vector<const DeviceMode*> chosen_modes(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const DeviceMode& mode : device_modes()) known.emplace_back(mode.name);
  std::vector<const DeviceMode*> modes;
  for (const std::string& name : names) modes.push_back(&device_modes()[apps::choose("--dtype", name, known)]);
  return modes;
}

void check_kernels(const Executor& device, const std::vector<std::string>& kernels) {
  std::vector<std::string> known;
  for (const GemmKernel& kernel : device.gemm_kernels())
    if (std::find(known.begin(), known.end(), kernel.name) == known.end()) known.emplace_back(kernel.name);
  for (const std::string& name : kernels) static_cast<void>(apps::choose("--kernel", name, known));
}

} // namespace

int run_device_plan(const DevicePlan& plan) {
  if (!plan.json.empty()) check_writable(plan.json);
  const std::vector<const DeviceMode*> modes = chosen_modes(plan.modes);
  Executor& device = executor(Backend::Cuda);
  check_kernels(device, plan.kernels);
  const auto cublas = std::make_shared<Cublas>();
  if (!cublas->exists()) apps::note("gemm_bench: no cuBLAS was found, so that nothing races against Tessera\n");
  fmt::print("{}, {} rounds, medians\n{}\n", device.capabilities().device, plan.rounds, device_table_head());
  std::vector<DeviceResult> results;
  bool wrong = false;
  for (const DeviceMode* mode : modes) {
    const DevicePeers peers = make_device_peers(device, *mode, cublas, plan.kernels);
    for (const auto& [product, seed] : plan.products) {
      DeviceResult result{std::string(mode->name), seed, product,
                          run_device_race(device, *mode, product, peers, plan.rounds, plan.sample_seconds)};
      fmt::print("{}\n", device_table_line(result));
      std::fflush(stdout);
      for (const DeviceStanding& one : result.standings) wrong |= !one.plain.empty() && !one.problem.empty();
      results.push_back(std::move(result));
    }
  }
  fmt::print("\n{}", device_summary(results));
  if (!plan.json.empty()) {
    nlohmann::ordered_json document{{"schema", "tessera.device_peers/1"},
                                    {"machine", apps::machine_json({Backend::Cuda})},
                                    {"results", nlohmann::ordered_json::array()}};
    for (const DeviceResult& result : results)
      for (auto& entry : device_entries(result)) document["results"].push_back(std::move(entry));
    write_text_file(plan.json, document.dump(1) + "\n");
  }
  return wrong ? 1 : 0;
}

} // namespace tessera::bench
