/// Records when the warps of one block load, wait, multiply and store, and writes it as documents tessera.timeline/1.
///
///     tessera_timeline_record FOLDER OUT [KERNEL...]     FOLDER has the instrumented plug-in; record.sh calls it so
///
/// A kernel's product is compared with the reference, bit by bit: an instrumented kernel that is wrong is no
/// measurement. Operands in 16 bits are small whole numbers, of which every order of additions has the same sum.

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <tessera/detail/stopwatch.hpp>
#include <tessera/tessera.hpp>

#include "timeline/record.hpp"

namespace {

using namespace tessera;
using namespace tessera::timeline;

/// What is recorded of a kernel. A product has about a block for each place on the device, so that the block's
/// neighbours are at work as well, and a k that the block's events suffice for.
struct Case {
  const char* kernel;
  DType type;
  Math math;
  Index m, n, k;
};

constexpr Case cases[]{{"double_buffer", DType::F32, Math::Strict, 2048, 2048, 64},
                       {"async_copy", DType::F32, Math::Strict, 2048, 2048, 80},
                       {"stream_k", DType::F32, Math::Strict, 4096, 4096, 256},
                       {"wgmma_bf16", DType::BF16, Math::Bf16, 4096, 4096, 512}};

/// The instrumented plug-in, which libtessera has loaded.
class Plugin {
 public:
  explicit Plugin(const std::string& folder)
      : handle_(dlopen((folder + "/libtessera_cuda.so").c_str(), RTLD_NOW | RTLD_NOLOAD), dlclose) {
    if (!handle_)
      throw std::runtime_error(folder +
                               "/libtessera_cuda.so is not the plug-in in use; set TESSERA_PLUGIN_PATH=" + folder);
  }

  BlockRecord take(const std::string& kernel) const {
    BlockRecord record{};
    call<int(BlockRecord*)>("tessera_timeline_take_" + kernel, &record);
    return record;
  }
  ClockRate clock() const {
    ClockRate rate{};
    call<int(ClockRate*)>("tessera_timeline_clock", &rate);
    return rate;
  }

 private:
  template <class Function, class Argument>
  void call(const std::string& name, Argument argument) const {
    auto* const function = reinterpret_cast<Function*>(dlsym(handle_.get(), name.c_str()));
    if (function == nullptr)
      throw std::runtime_error("the plug-in has no " + name + "; build the target tessera_timeline");
    if (const int status = function(argument); status != 0)
      throw std::runtime_error(name + ": status " + std::to_string(status) + " of the CUDA runtime");
  }

  std::unique_ptr<void, int (*)(void*)> handle_;
};

/// Whole numbers from −2 to 2 without a pattern, which bf16 holds; sums of their products are exact up to k = 2²².
Matrix<bf16> whole_numbers(Index rows, Index cols, unsigned seed) {
  constexpr unsigned multiplier = 1'664'525, increment = 1'013'904'223, values = 5, high_bits = 16;
  Matrix<bf16> made(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      seed = seed * multiplier + increment;
      made(i, j) = bf16(static_cast<float>((seed >> high_bits) % values) - 2.0f);
    }
  return made;
}

template <class T>
Matrix<T> operand(Index rows, Index cols, unsigned seed) {
  if constexpr (std::is_same_v<T, bf16>)
    return whole_numbers(rows, cols, seed);
  else
    return Matrix<T>::random(rows, cols, Seed{seed});
}

/// Runs the product until the device is warm, and returns what was recorded of the last one.
template <class T>
BlockRecord record(const Case& of, const std::string& folder) {
  constexpr double warm_seconds = 0.5; // a device that was idle takes a while to raise its clock
  const Matrix<T> a = operand<T>(of.m, of.k, 1), b = operand<T>(of.k, of.n, 2);
  const GemmOptions options{.backend = Backend::Cuda, .math = of.math, .kernel = of.kernel};
  Matrix<T> c = gemm(a, b, options);
  const Plugin plugin(folder);
  for (const measure::HostStopwatch watch; watch.seconds() < warm_seconds;) c = gemm(a, b, options);
  static_cast<void>(plugin.take(of.kernel)); // of the warm runs
  c = gemm(a, b, options);
  const BlockRecord record = plugin.take(of.kernel);
  if (c != gemm(a, b, {.backend = Backend::Reference}))
    throw std::runtime_error("the product has not the reference's bits: nothing is recorded");
  return record;
}

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::string text(sizeof "2000-01-01T00:00:00Z", '\0');
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now)));
  return text;
}

/// The document of a record. Times are nanoseconds since the block's first warp began.
class Document {
 public:
  Document(const Case& of, const BlockRecord& record, const ClockRate& rate) : case_(of), rate_(rate) {
    for (unsigned warp = 0; warp < most_warps; ++warp)
      if (record.warps[warp].end_cycles != 0 && record.warps[warp].count > 0) add(warp, record.warps[warp]);
    if (warps_.empty()) throw std::runtime_error("no mark was reached: the product ran in another kernel");
    // Under the product's load the clock may be lower than where its rate was measured, so that a block that takes long
    // beside the timer's steps says what a cycle took. The two clocks are read one after the other.
    const double by_timer = static_cast<double>(last_ns_ - first_ns_), by_cycles = time_of(last_);
    constexpr double reading = 200, drift = 0.05, most_drift = 0.25, long_block = 100;
    const double allowed = by_timer > long_block * rate_.tick_ns ? most_drift : drift;
    if (std::abs(by_timer - by_cycles) > 2 * rate_.tick_ns + reading + allowed * by_cycles)
      throw std::runtime_error("the block took " + std::to_string(by_timer) + " ns by the device's timer and " +
                               std::to_string(by_cycles) + " ns by its cycles: the clock changed; record again");
    if (by_timer > long_block * rate_.tick_ns) rate_.ns_per_cycle *= by_timer / by_cycles;
  }

  void write(std::ostream& to) const {
    to << "{\"schema\": \"tessera.timeline/1\", \"kernel\": \"" << case_.kernel << "\", \"machine\": {\"device\": \""
       << device() << "\", \"date\": \"" << date_now() << "\"},\n \"product\": {\"m\": " << case_.m
       << ", \"n\": " << case_.n << ", \"k\": " << case_.k << ", \"dtype\": \"" << to_string(case_.type)
       << "\", \"math\": \"" << to_string(case_.math) << "\"},\n \"clock\": {\"ns_per_cycle\": " << rate_.ns_per_cycle
       << ", \"timer_step_ns\": " << rate_.tick_ns << ", \"block_ns_by_timer\": " << last_ns_ - first_ns_
       << "},\n \"phases\": [\"load\", \"wait\", \"multiply\", \"store\"],\n \"warps\": [";
    const char* between = "\n";
    for (const Warp& warp : warps_) {
      to << between << "  {\"warp\": " << warp.number << ", \"end_ns\": " << rounded(warp.end)
         << ", \"lost\": " << warp.lost << ", \"events\": [";
      const char* comma = "";
      for (const std::uint64_t event : warp.events) {
        to << comma << '[' << static_cast<unsigned>(phase_of(event)) << ',' << rounded(cycles_of(event)) << ']';
        comma = ",";
      }
      to << "]}";
      between = ",\n";
    }
    to << "\n]}\n";
  }
  void summarize(std::ostream& to) const {
    std::size_t events = 0;
    for (const Warp& warp : warps_) events += warp.events.size();
    to << case_.kernel << ": " << case_.m << "x" << case_.n << "x" << case_.k << ": " << warps_.size() << " warps, "
       << events << " events, " << lost_ << " not kept, " << rounded(last_) << " ns (" << last_ns_ - first_ns_
       << " ns by the timer, which steps by " << rate_.tick_ns << "); the product has the reference's bits\n";
  }
  /// A name for files: "h200" for "NVIDIA H200".
  static std::string machine() {
    std::string name = device();
    if (name.starts_with("NVIDIA ")) name.erase(0, sizeof "NVIDIA " - 1);
    name = name.substr(0, name.find(' '));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name;
  }

 private:
  struct Warp {
    unsigned number;
    std::uint64_t end, lost; ///< lost: events that were not kept
    std::vector<std::uint64_t> events;
  };

  void add(unsigned number, const WarpRecord& record) {
    const auto kept = std::min<std::uint64_t>(record.count, most_events);
    lost_ += record.count - kept;
    if (warps_.empty() || record.begin_cycles < first_) first_ = record.begin_cycles, first_ns_ = record.begin_ns;
    if (warps_.empty() || record.end_cycles > last_) last_ = record.end_cycles, last_ns_ = record.end_ns;
    warps_.push_back({number, record.end_cycles, record.count - kept, {record.events, record.events + kept}});
  }
  double time_of(std::uint64_t cycles) const { return static_cast<double>(cycles - first_) * rate_.ns_per_cycle; }
  long rounded(std::uint64_t cycles) const { return std::lround(time_of(cycles)); }
  static std::string device() { return std::string(executor(Backend::Cuda).capabilities().device); }

  const Case& case_;
  ClockRate rate_;
  std::vector<Warp> warps_;
  std::uint64_t first_ = 0, last_ = 0, first_ns_ = 0, last_ns_ = 0, lost_ = 0;
};

void record_and_write(const Case& of, const std::string& folder, const std::string& out) {
  const BlockRecord record = of.type == DType::BF16 ? ::record<bf16>(of, folder) : ::record<float>(of, folder);
  const Document document(of, record, Plugin(folder).clock());
  const std::string name = out + "/" + Document::machine() + "-timeline-" + of.kernel + ".json";
  std::ofstream file(name);
  document.write(file);
  file.close();
  if (!file) throw std::runtime_error("cannot write " + name);
  document.summarize(std::cout);
}

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 2) {
    std::cerr << "usage: tessera_timeline_record FOLDER OUT [KERNEL...]\n";
    return 2;
  }
  const std::vector<std::string> wanted(arguments.begin() + 2, arguments.end());
  for (const std::string& name : wanted)
    if (std::none_of(std::begin(cases), std::end(cases), [&](const Case& of) { return of.kernel == name; })) {
      std::cerr << "no kernel '" << name << "' has marks; known are double_buffer, async_copy, stream_k, wgmma_bf16\n";
      return 2;
    }
  int status = EXIT_SUCCESS;
  for (const Case& of : cases) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), of.kernel) == wanted.end()) continue;
    constexpr int tries = 5; // the clock may change meanwhile
    for (int left = tries; left > 0; --left) try {
        record_and_write(of, arguments[0], arguments[1]);
        break;
      } catch (const std::exception& error) {
        std::cerr << of.kernel << ": " << error.what() << '\n';
        if (left == 1) status = EXIT_FAILURE;
      }
  }
  return status;
}
