#include "list.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <tessera/backend/kernel_resources.hpp>
#include <tessera/detail/printable.hpp>
#include <tessera/performance/recording.hpp>

#include "common/ladders.hpp"
#include "common/terminal.hpp"
#include "common/words.hpp"
#include "operations/listing.hpp"
#include "race/operands.hpp"
#include "report/columns/columns.hpp"
#include "reporters/reporter.hpp"

namespace tessera::compare_app {
namespace {

bool wanted(const Options& options, Backend backend) {
  const auto& requests = options.backends;
  return requests.empty() || std::any_of(requests.begin(), requests.end(),
                                         [&](const BackendRequest& request) { return request.backend == backend; });
}

/// Returns whether --list shows the kernel: every kernel, or with --preset the kernels that the preset would run.
bool wanted(const Options& options, const nlohmann::ordered_json& kernel) {
  if (options.preset == nullptr) return true;
  const auto is = [&](const char* key, std::string_view word) { return kernel.value(key, "") == word; };
  const bool typed =
      std::any_of(options.types.begin(), options.types.end(), [&](DType type) { return is("dtype", to_string(type)); });
  const bool reduces = options.operation == Operation::SumOfSquares;
  const std::string name = kernel.value("kernel", "");
  const bool named = options.kernels.empty() ||
                     std::any_of(options.kernels.begin(), options.kernels.end(),
                                 [&](const std::string& pattern) { return apps::matches_glob(pattern, name); });
  return typed && named && is("op", reduces ? "sum_of_squares" : "gemm");
}

/// Prints a line, which goes on in the next one where the terminal is narrower.
void print_line(const std::string& line) {
  constexpr std::size_t indent = 2;
  fmt::print("{}\n", apps::wrapped(line, apps::terminal_width(stdout), indent));
}

void print_preset(const Options& options) {
  const Preset& preset = *options.preset;
  print_line(fmt::format("preset {}: {}", preset.name, preset.summary));
  print_line(preset.source);
  for (const Published& figure : preset.published)
    print_line(fmt::format("  published: {} {}: {}", figure.backend, figure.kernels, text_of(figure)));
  std::string shapes;
  for (const GemmShape& shape : options.shapes)
    shapes += options.operation == Operation::Gemm ? fmt::format(" {}×{}×{}", shape.m, shape.n, shape.k)
                                                   : fmt::format(" {}", shape.n);
  print_line("products:" + shapes);
  print_line("kernels: " + (options.kernels.empty() ? "all" : apps::joined(options.kernels, ", ")));
}

/// Asks a device what its kernels take of a multiprocessor, for a product of `side` rows, columns and steps of k.
class Probe {
 public:
  explicit Probe(Executor& device)
      : device_(device), a_(device, bytes), b_(device, bytes), c_(device, bytes), kernels_(device.gemm_kernels()) {}

  /// Adds the resources of the kernel number `index` of the ladder to its JSON, if the device tells them.
  void add(std::size_t index, nlohmann::ordered_json& entry) {
    if (index >= kernels_.size()) return; // reductions follow the products
    const GemmKernel& kernel = kernels_[index];
    const GemmCall call{{.type = kernel.type,
                         .math = kernel.math,
                         .m = side,
                         .n = side,
                         .k = side,
                         .a = a_.data(),
                         .lda = side,
                         .b = b_.data(),
                         .ldb = side,
                         .c = c_.data(),
                         .ldc = side}};
    KernelResources resources;
    if (!read_kernel_resources(device_, call, kernel.name, resources).ok()) return;
    report::Entry taken;
    set_resources(resources, taken);
    entry["resources"] = report::columns_json(taken)["resources"];
  }

 private:
  static constexpr Index side = 1024;
  static constexpr std::size_t bytes = side * side * sizeof(double);
  Executor& device_;
  Buffer a_, b_, c_;
  std::span<const GemmKernel> kernels_;
};

/// Returns a probe of the backend's device, or nothing if it has none or no memory to spare.
std::optional<Probe> probe_of(const BackendInfo& info) {
  if (!info.available || info.memory != Memory::Device) return {};
  try {
    Executor& device = executor(info.backend);
    if (records(device.default_queue())) return std::optional<Probe>(std::in_place, device);
  } catch (const Error&) { // the list needs no device
  }
  return {};
}

std::string resources_text(const nlohmann::ordered_json& kernel) {
  if (!kernel.contains("resources")) return {};
  const auto& resources = kernel["resources"];
  return fmt::format(" {} registers, {} + {} bytes shared, {} local, {} blocks, occupancy {:.0f} %",
                     resources["registers"].get<int>(), resources["static_shared"].get<int>(),
                     resources["dynamic_shared"].get<int>(), resources["local_memory"].get<int>(),
                     resources["blocks"].get<int>(), resources["occupancy_percent"].get<double>());
}

/// Lists the chosen operations of --op, or else all.
nlohmann::ordered_json list_operations(const Options& options, bool print) {
  std::vector<NamedOperation> listed;
  for (const ChosenOperation& chosen : options.operations) listed.push_back(chosen.named);
  if (listed.empty()) listed = all_operations(options.op_plugins);
  nlohmann::ordered_json operations = nlohmann::ordered_json::array();
  if (print) print_line("operations that run functors on every backend, for --op: name, type, sizes");
  for (const NamedOperation& operation : listed) {
    operations.push_back(to_json(operation));
    if (print) fmt::print("{}\n", operation_record(operations.back(), apps::terminal_width(stdout)));
  }
  if (!print || options.operation == Operation::User) return operations;
  print_line("linear algebra, for --op, f32, f64, complex64 and complex128:");
  for (const SystemOperation& system : system_operations())
    print_line(fmt::format("  {:<24} {}", system.name, system.summary));
  return operations;
}

/// Lists the backends and their kernels, which are added to the two lists.
void list_backends(const Options& options, bool print, nlohmann::ordered_json& backends,
                   nlohmann::ordered_json& kernels) {
  if (print && options.preset != nullptr) print_preset(options);
  for (const BackendInfo& info : available_backends()) {
    if (!wanted(options, info.backend)) continue;
    backends.push_back(apps::to_json(info));
    if (print)
      print_line(std::string(to_string(info.backend)) +
                 (info.available ? "" : ": not available: " + detail::printable(info.reason)));
    std::optional<Probe> probe = probe_of(info);
    std::size_t index = 0;
    for (auto& kernel : apps::kernels_json(info.backend)) {
      const std::size_t number = index++;
      if (!wanted(options, kernel)) continue;
      if (probe) probe->add(number, kernel);
      kernels.push_back(kernel);
      if (print) fmt::print("{}\n", apps::kernel_record(kernel, apps::terminal_width(stdout), resources_text(kernel)));
    }
  }
}

} // namespace

void list_kernels(const Options& options) {
  const bool print = options.json != "-";
  nlohmann::ordered_json report{{"schema", "tessera.kernels/1"},
                                {"backends", nlohmann::ordered_json::array()},
                                {"kernels", nlohmann::ordered_json::array()}};
  const bool operations_alone = options.list_operations || options.operation == Operation::User;
  if (!operations_alone) list_backends(options, print, report["backends"], report["kernels"]);
  if (options.preset == nullptr) report["operations"] = list_operations(options, print);
  if (options.json.empty()) return;
  write_report(options.json, report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

} // namespace tessera::compare_app
