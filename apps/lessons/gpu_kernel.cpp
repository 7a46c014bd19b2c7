#include "gpu_kernel.hpp"

#include <cmath>
#include <cstring>
#include <fstream>
#include <regex>

#include <fmt/format.h>

#include <tessera/status.hpp>

#include "build.hpp"
#include "gemm_judge/compilers.hpp"
#include "gemm_lens/program.hpp"

namespace tessera::lessons {
namespace {

namespace fs = std::filesystem;

/// A path between quotes for #include or as a string.
std::string quoted(const fs::path& path) { return fmt::format("\"{}\"", path.string()); }

template <class T>
std::vector<double> take(const std::string& bytes, std::size_t& at, Index count) {
  std::vector<double> values;
  for (Index e = 0; e < count && at + sizeof(T) <= bytes.size(); ++e, at += sizeof(T)) {
    T value{};
    std::memcpy(&value, bytes.data() + at, sizeof value);
    values.push_back(static_cast<double>(value));
  }
  return values;
}

template <class T>
std::optional<Observation> observed(const Case& tried, const std::string& bytes) {
  const Index size_a = tried.shape.m * tried.shape.k, size_b = tried.shape.k * tried.shape.n,
              size_c = tried.shape.m * tried.shape.n;
  if (bytes.size() != static_cast<std::size_t>(size_a + size_b + 2 * size_c) * sizeof(T)) return std::nullopt;
  std::size_t at = 0;
  Observation seen{.tried = tried, .a = {}, .b = {}, .c_before = {}, .c = {}, .written = {}};
  seen.a = {take<T>(bytes, at, size_a), tried.op_a == Op::None ? tried.shape.k : tried.shape.m};
  seen.b = {take<T>(bytes, at, size_b), tried.op_b == Op::None ? tried.shape.n : tried.shape.k};
  const char* const before = bytes.data() + at;
  seen.c_before = {take<T>(bytes, at, size_c), tried.shape.n};
  const char* const after = bytes.data() + at;
  seen.c = take<T>(bytes, at, size_c);
  for (std::size_t e = 0; e < seen.c.size(); ++e) {
    const bool kept = std::memcmp(before + e * sizeof(T), after + e * sizeof(T), sizeof(T)) == 0;
    seen.written.push_back(kept && tried.beta == 0 ? Written::No
                           : std::isnan(seen.c[e]) ? Written::NotANumber
                                                   : Written::Number);
  }
  return seen;
}

/// Which of several findings a learner should hear first: what others follow from. A thread that runs ahead of a
/// missing barrier reads what is not written yet, which is a race as well.
int rank(const std::string& kind) {
  const std::array<const char*, 6> order{"launch_failed",      "out_of_bounds", "misaligned",
                                         "barrier_divergence", "race",          "uninitialised"};
  const auto* const at = std::find(order.begin(), order.end(), kind);
  return static_cast<int>(at - order.begin());
}

Mistake mistake_of(const lens::FindingReport& finding) {
  if (finding.kind == "race") return Mistake::Race;
  if (finding.kind == "uninitialised") return Mistake::Uninitialised;
  if (finding.kind == "barrier_divergence") return Mistake::BarrierInBranch;
  if (finding.kind == "out_of_bounds")
    return finding.message.find(" writes ") != std::string::npos ? Mistake::WritesOutside : Mistake::ReadsOutside;
  if (finding.kind == "launch_failed") return Mistake::LaunchRefused;
  return Mistake::Ended;
}

const char* look_of(Mistake mistake, const lens::FindingReport& finding) {
  switch (mistake) {
    case Mistake::LaunchRefused:
      return "Look at launch(): the sizes of the block and of the grid, and the dynamic shared memory.";
    case Mistake::Race:
      if (finding.message.find(" writes C(") != std::string::npos)
        return "Two threads compute the same element of C: do the row and the column in the kernel fit the shape of "
               "the block and the number of blocks in launch()?";
      return "Between a write of shared memory and another thread's access all threads of the block need a "
             "__syncthreads().";
    case Mistake::Uninitialised:
      return "Each element of a tile has to be written, also where the tile reaches over an edge: with a padding "
             "value.";
    case Mistake::BarrierInBranch:
      return "Threads without work take part in every __syncthreads(): put the work under the condition, not the "
             "barrier.";
    case Mistake::ReadsOutside:
    case Mistake::WritesOutside:
      return "Look at that index: row < m, column < n and step < k need a guard, and row and column have to stand in "
             "their places.";
    default:
      return finding.kind == "misaligned"
                 ? "A load of 16 bytes needs an address that is a multiple of 16: alignas(16), rows of whole vectors, "
                   "and a first element that is a multiple of 4 (of 2 in f64)."
                 : "";
  }
}

/// A lesson's shapes are given: the lens' advice to take a smaller one is no help here.
Finding ended(std::string why) {
  const std::size_t advice = why.find(" A smaller --shape");
  if (advice == std::string::npos) return {Mistake::Ended, std::move(why), {}, {}};
  why.erase(advice);
  return {Mistake::Ended, std::move(why), "Look at each loop: does its counter grow, and is its end reached?", {}};
}

Finding seen_by_lens(const lens::Report& report) {
  const lens::FindingReport* first = nullptr;
  for (const lens::FindingReport& finding : report.findings)
    if (first == nullptr || rank(finding.kind) < rank(first->kind)) first = &finding;
  if (first != nullptr) {
    const Mistake mistake = mistake_of(*first);
    const int line = first->place.kernel_line > 0 ? first->place.kernel_line : first->place.line;
    return {mistake, fmt::format("line {}: {}", line, first->message), look_of(mistake, *first), {}};
  }
  if (!report.ended.empty()) return ended(report.ended);
  return {};
}

} // namespace

std::string gpu_adapter(const fs::path& file, const fs::path& dump) {
  // A rung may have its tile, or the blocks of a multiprocessor, as an argument of its template.
  static const std::regex with_number(R"(template\s*<class T, int (\w+)>\s*\n?\s*void launch\()");
  const std::string text = judge::contents(file);
  std::smatch found;
  const char* number = "";
  if (std::regex_search(text, found, with_number)) number = found[1] == "tile" ? ", 32" : ", 2";
  return fmt::format("#include {}\n#define TESSERA_LESSON_LAUNCH(T) tessera::cuda::launch<T{}>\n{}#include {}\n",
                     quoted(file), number,
                     dump.empty() ? "" : fmt::format("#define TESSERA_LESSON_DUMP {}\n", quoted(dump)),
                     quoted(source_root() / "apps" / "lessons" / "cuda" / "entry.cuh"));
}

struct GpuKernel::Compiled {
  lens::Source source;
  lens::Program program;
};

GpuKernel::GpuKernel(const fs::path& file) {
  const fs::path adapter = folder_.path() / "lesson.cu";
  std::ofstream(adapter) << gpu_adapter(fs::absolute(file), folder_.path() / "dump");
  lens::Source source{adapter, "", ""};
  try {
    program_ = std::unique_ptr<Compiled>(new Compiled{source, {source, lens::find_folders()}});
  } catch (const lens::CompileError& error) {
    output_ = error.what();
  } catch (const InvalidArgument& error) { // a launch or a variable that the lens cannot read
    output_ = error.what();
  }
}

GpuKernel::~GpuKernel() = default;

Calls GpuKernel::call(const Case& tried, double seconds, lens::Report* report) const {
  lens::Question question;
  question.kernel = program_->source.file.string();
  question.shape = tried.shape;
  question.type = tried.type;
  question.op_a = tried.op_a;
  question.op_b = tried.op_b;
  question.alpha = tried.alpha;
  question.beta = tried.beta;
  question.seconds = seconds;
  const fs::path dump = folder_.path() / "dump";
  fs::remove(dump);
  const lens::Report seen = lens::look(program_->program, program_->source, question);
  Calls calls;
  const std::string bytes = judge::contents(dump);
  if (auto one = tried.type == DType::F64 ? observed<double>(tried, bytes) : observed<float>(tried, bytes))
    calls.seen.push_back(std::move(*one));
  calls.finding = seen_by_lens(seen);
  if (calls.finding.none() && calls.seen.empty())
    calls.finding = {
        Mistake::Ended, "the kernel ended without a result", "Look for exit() and for an endless loop.", {}};
  calls.output = seen.output;
  if (report != nullptr) *report = seen;
  return calls;
}

double counted_in(const lens::Report& report, Counter counter, const Case& tried) {
  double requests = 0, sectors = 0, bytes = 0, shared_loads = 0, shared = 0, wavefronts = 0, barriers = 0, blocks = 0;
  for (const lens::LaunchReport& launch : report.launches) {
    barriers += static_cast<double>(launch.barriers);
    blocks += static_cast<double>(launch.times) * launch.grid[0] * launch.grid[1] * launch.grid[2];
    for (const lens::LineAccess& line : launch.lines) {
      if (line.is_shared()) {
        shared += static_cast<double>(line.requests);
        wavefronts += static_cast<double>(line.wavefronts);
        if (line.access == "shared load") shared_loads += static_cast<double>(line.requests);
      } else if (line.access == "global load") {
        requests += static_cast<double>(line.requests);
        sectors += static_cast<double>(line.sectors);
        bytes += static_cast<double>(line.bytes_asked);
      }
    }
  }
  const double products = static_cast<double>(tried.shape.m * tried.shape.n * tried.shape.k);
  switch (counter) {
    case Counter::GlobalSectors:
      return requests > 0 ? sectors / requests : 0;
    case Counter::GlobalBytes:
      return bytes / products;
    case Counter::SharedLoads:
      return 32 * shared_loads / products; // a warp's request is for 32 threads
    case Counter::SharedWavefronts:
      return shared > 0 ? wavefronts / shared : 0;
    case Counter::Barriers:
      return blocks > 0 ? barriers / blocks : 0;
    default:
      return 0;
  }
}

} // namespace tessera::lessons
