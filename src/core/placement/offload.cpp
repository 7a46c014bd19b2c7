#include <tessera/performance/offload.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#if defined(TESSERA_HAVE_JSON)
#include <nlohmann/json.hpp>
#endif

#include <tessera/backend/host_executor.hpp>
#include <tessera/backend/log.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/json_nesting.hpp>
#include <tessera/files.hpp>
#include <tessera/status.hpp>

#include "core/executor/executor_memory.hpp"
#include "core/measure/repeat.hpp"

namespace tessera {
namespace {

template <class Action>
double seconds_of(Action action) {
  constexpr int runs = 3;
  return std::max(measure::fastest_host_seconds(runs, action), 1e-9);
}

double operations(Index size) { return 2.0 * std::pow(static_cast<double>(size), 3); }

/// The operands of a cubic product, size×size each, in an executor's memory.
class Cube {
 public:
  Cube(Executor& executor, DType type, Index size)
      : executor_(executor),
        type_(type),
        size_(size),
        bytes_(static_cast<std::size_t>(size * size) * size_of(type)),
        a_(executor),
        b_(executor),
        c_(executor) {
    for (detail::ExecutorMemory* x : {&a_, &b_, &c_}) throw_if_failed(x->allocate(bytes_));
    for (void* x : {a_.data(), b_.data()})
      throw_if_failed(executor.random(queue(), {.type = type, .rows = size, .cols = size, .z = x, .ldz = size}));
  }

  std::size_t bytes() const { return bytes_; }
  void copy_in(const void* host) {
    throw_if_failed(executor_.copy_in(queue(), a_.data(), bytes_, host, bytes_, bytes_, 1));
  }
  void copy_out(void* host) {
    throw_if_failed(executor_.copy_out(queue(), host, bytes_, c_.data(), bytes_, bytes_, 1));
  }
  void multiply() {
    throw_if_failed(executor_.gemm(queue(), {{.type = type_,
                                              .m = size_,
                                              .n = size_,
                                              .k = size_,
                                              .a = a_.data(),
                                              .lda = size_,
                                              .b = b_.data(),
                                              .ldb = size_,
                                              .c = c_.data(),
                                              .ldc = size_}}));
    throw_if_failed(queue().synchronize());
  }

 private:
  Queue& queue() { return executor_.default_queue(); }

  Executor& executor_;
  DType type_;
  Index size_;
  std::size_t bytes_;
  detail::ExecutorMemory a_, b_, c_;
};

#if defined(TESSERA_HAVE_JSON)
using Json = nlohmann::json;
constexpr const char* offload_schema = "tessera.offload/1";
/// Many machines may share a home folder; the file keeps the rates of the ones that were measured last.
constexpr std::size_t most_machines = 32;

Json key_of(Executor& device, Executor& host, DType type) {
  return {{"device", device.capabilities().device},
          {"driver", device.capabilities().driver},
          {"host", host.capabilities().device},
          {"threads", host.capabilities().threads},
          {"dtype", to_string(type)}};
}

/// Returns the machines in the file. The list is empty if there is no file or its text makes no sense; it is then
/// written anew. Returns nothing if the file must stay as it is: it is no file, cannot be read, or belongs to another
/// version.
std::optional<Json> read_machines(const std::filesystem::path& file) try {
  std::error_code error;
  if (!std::filesystem::exists(file, error) && !error) return Json::array();
  const std::string text = read_text_file(file);
  if (detail::json_nesting(text) > detail::most_json_nesting) return Json::array();
  const Json whole = Json::parse(text);
  const Json found = whole.is_object() ? whole.value("schema", Json()) : Json();
  if (found.is_null()) return Json::array();
  if (found != offload_schema)
    throw IoError(file.string() + ": its schema is " + found.dump() + ", not " + offload_schema);
  Json machines = whole.value("machines", Json::array());
  return machines.is_array() ? machines : Json::array();
} catch (const Json::exception&) {
  return Json::array();
} catch (const IoError& why) {
  if (log_dispatch()) log_line(std::string("auto: what is measured is not kept: ") + why.what());
  return std::nullopt;
}

bool read_rates(const Json& machine, OffloadRates& rates) {
  const auto number = [&](const char* name) {
    const auto found = machine.find(name);
    return found != machine.end() && found->is_number() ? found->get<double>() : 0.0;
  };
  rates = {number("latency_s"), number("bytes_per_second"), number("device_flops"), number("host_flops")};
  return rates.latency > 0 && rates.bytes_per_second > 0 && rates.device_flops > 0 && rates.host_flops > 0;
}

void keep(const std::filesystem::path& file, Json machines, Json machine) {
  while (machines.size() >= most_machines) machines.erase(machines.begin());
  machines.push_back(std::move(machine));
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  try {
    write_text_file(file, Json{{"schema", offload_schema}, {"machines", machines}}.dump(
                              1, ' ', false, Json::error_handler_t::replace) +
                              "\n");
  } catch (const IoError& why) { // the next process measures again
    if (log_dispatch()) log_line(std::string("auto: what was measured cannot be kept: ") + why.what());
  }
}
#endif

} // namespace

bool OffloadRates::pays(Index m, Index n, Index k, std::size_t element) const noexcept {
  const detail::ContractArithmetic contract;
  const auto x = static_cast<double>(m), y = static_cast<double>(n), z = static_cast<double>(k);
  const double flops = 2 * x * y * z;
  const double bytes = (x * z + z * y + x * y) * static_cast<double>(element);
  return latency + bytes / bytes_per_second + flops / device_flops < flops / host_flops;
}

OffloadRates measure_offload(Executor& device, Executor& host, DType type, const OffloadProbe& probe) {
  const detail::ContractArithmetic contract;
  OffloadRates rates;
  Cube large(device, type, probe.device_size);
  std::vector<char> memory(large.bytes());
  const double copies =
      seconds_of([&] { large.copy_in(memory.data()); }) + seconds_of([&] { large.copy_out(memory.data()); });
  rates.bytes_per_second = 2 * static_cast<double>(large.bytes()) / copies;
  rates.device_flops = operations(probe.device_size) / seconds_of([&] { large.multiply(); });
  Cube small(device, type, 16);
  rates.latency = seconds_of([&] {
    small.copy_in(memory.data());
    small.copy_in(memory.data());
    small.multiply();
    small.copy_out(memory.data());
  });
  Cube at_home(host, type, probe.host_size);
  rates.host_flops = operations(probe.host_size) / seconds_of([&] { at_home.multiply(); });
  return rates;
}

#if defined(TESSERA_HAVE_JSON)
std::optional<OffloadRates> offload_rates(Executor& device, Executor& host, DType type,
                                          const std::filesystem::path& file, const OffloadProbe& probe) {
  const Json key = key_of(device, host, type);
  std::optional<Json> machines;
  if (!file.empty()) machines = read_machines(file);
  OffloadRates rates;
  for (const Json& machine : machines.value_or(Json::array()))
    if (machine.is_object() && machine.value("key", Json()) == key && read_rates(machine, rates)) return rates;
  if (lacks_threads_here(host)) return {};
  rates = measure_offload(device, host, type, probe);
  if (machines)
    keep(file, std::move(*machines),
         {{"key", key},
          {"latency_s", rates.latency},
          {"bytes_per_second", rates.bytes_per_second},
          {"device_flops", rates.device_flops},
          {"host_flops", rates.host_flops}});
  return rates;
}
#else
std::optional<OffloadRates> offload_rates(Executor& device, Executor& host, DType type, const std::filesystem::path&,
                                          const OffloadProbe& probe) {
  if (lacks_threads_here(host)) return {};
  if (log_dispatch()) log_line("auto: what is measured is not kept: libtessera was built without nlohmann_json");
  return measure_offload(device, host, type, probe);
}
#endif

} // namespace tessera
