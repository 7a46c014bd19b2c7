#include "trying.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>

#include <fmt/format.h>

#include <tessera/status.hpp>

#include "gemm_judge/processes/shared_memory.hpp"
#include "gemm_judge/trial.hpp"

namespace tessera::lessons {
namespace {

using judge::Problem;
using judge::Region;

/// A signalling NaN, which no arithmetic returns: it stands where nothing was written.
template <class T>
T nothing() {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(std::uint32_t{0x7fa5dead});
  else
    return std::bit_cast<T>(std::uint64_t{0x7ff5a5a57ff5dead});
}

/// The operands of a case in the judge's memory.
template <class T>
class Operands {
 public:
  Operands(const Case& tried, const Problem& problem, std::byte* memory)
      : tried_(tried), problem_(problem), memory_(memory) {}

  void place(Data data, const std::vector<double>* first_rows_of_a) {
    std::mt19937 random(20);
    std::uniform_int_distribution<int> whole(-4, 3); // without 0, which would hide that an element is missing
    std::uniform_real_distribution<double> positive(0.5, 1.0);
    const auto draw = [&] {
      if (data == Data::Positive) return static_cast<T>(positive(random));
      const int number = whole(random);
      return static_cast<T>(number < 0 ? number : number + 1);
    };
    for (const Region& region : {problem_.a, problem_.b, problem_.c, problem_.result}) {
      const T empty = nothing<T>();
      for (std::size_t at = 0; at < region.bytes; at += sizeof(T))
        std::memcpy(memory_ + region.offset + at, &empty, sizeof(T));
    }
    std::size_t next = 0;
    fill(problem_.a, rows_a(), cols_a(), problem_.lda, [&] {
      const bool is_given = first_rows_of_a != nullptr && next < first_rows_of_a->size();
      return is_given ? static_cast<T>((*first_rows_of_a)[next++]) : draw();
    });
    fill(problem_.b, rows_b(), cols_b(), problem_.ldb, draw);
    if (tried_.beta != 0) fill(problem_.c, tried_.shape.m, tried_.shape.n, problem_.ldc, draw);
  }

  Observation observe() const {
    Observation seen{.tried = tried_, .a = {}, .b = {}, .c_before = {}, .c = {}, .written = {}};
    seen.a = stored(problem_.a, problem_.lda);
    seen.b = stored(problem_.b, problem_.ldb);
    seen.c_before = stored(problem_.c, problem_.ldc);
    for (Index i = 0; i < tried_.shape.m; ++i)
      for (Index j = 0; j < tried_.shape.n; ++j) {
        const std::size_t place = static_cast<std::size_t>(i * problem_.ldc + j) * sizeof(T);
        T now{}, before{};
        std::memcpy(&now, memory_ + problem_.result.offset + place, sizeof now);
        std::memcpy(&before, memory_ + problem_.c.offset + place, sizeof before);
        const bool kept = std::memcmp(&now, &before, sizeof now) == 0;
        Written state = std::isnan(now) ? Written::NotANumber : Written::Number;
        if (kept && tried_.beta == 0) state = Written::No;
        seen.c.push_back(static_cast<double>(now));
        seen.written.push_back(state);
      }
    return seen;
  }

  /// Returns the first row whose padding is no longer what it was; −1: none.
  Index changed_padding() const {
    for (Index i = 0; i < tried_.shape.m; ++i)
      for (Index j = tried_.shape.n; j < problem_.ldc; ++j) {
        const std::size_t place = static_cast<std::size_t>(i * problem_.ldc + j) * sizeof(T);
        if (place + sizeof(T) > problem_.result.bytes) continue;
        const T empty = nothing<T>();
        if (std::memcmp(memory_ + problem_.result.offset + place, &empty, sizeof empty) != 0) return i;
      }
    return -1;
  }

 private:
  Index rows_a() const { return tried_.op_a == Op::None ? tried_.shape.m : tried_.shape.k; }
  Index cols_a() const { return tried_.op_a == Op::None ? tried_.shape.k : tried_.shape.m; }
  Index rows_b() const { return tried_.op_b == Op::None ? tried_.shape.k : tried_.shape.n; }
  Index cols_b() const { return tried_.op_b == Op::None ? tried_.shape.n : tried_.shape.k; }

  template <class Draw>
  void fill(const Region& region, Index rows, Index cols, Index ld, Draw draw) {
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j) {
        const T x = draw();
        std::memcpy(memory_ + region.offset + static_cast<std::size_t>(i * ld + j) * sizeof(T), &x, sizeof x);
      }
  }

  Stored stored(const Region& region, Index ld) const {
    Stored matrix{.data = {}, .ld = ld};
    for (std::size_t at = 0; at < region.bytes; at += sizeof(T)) {
      T x{};
      std::memcpy(&x, memory_ + region.offset + at, sizeof x);
      matrix.data.push_back(static_cast<double>(x));
    }
    return matrix;
  }

  const Case& tried_;
  const Problem& problem_;
  std::byte* memory_;
};

Problem problem_of(const Case& tried, int threads) {
  Problem problem;
  problem.type = tried.type;
  problem.op_a = tried.op_a;
  problem.op_b = tried.op_b;
  problem.threads = threads;
  problem.shape = tried.shape;
  problem.lda = (tried.op_a == Op::None ? tried.shape.k : tried.shape.m) + tried.pad;
  problem.ldb = (tried.op_b == Op::None ? tried.shape.n : tried.shape.k) + tried.pad;
  problem.ldc = tried.shape.n + tried.pad;
  problem.alpha = tried.alpha;
  problem.beta = tried.beta;
  return problem;
}

Finding around_operands(const judge::Reply& reply, const Problem& problem, std::size_t element) {
  const bool a = reply.operand == judge::Operand::A, b = reply.operand == judge::Operand::B;
  const char* name = a ? "A" : b ? "B" : "C";
  const Index ld = a ? problem.lda : b ? problem.ldb : problem.ldc;
  const auto bytes = static_cast<std::int64_t>((a ? problem.a : b ? problem.b : problem.c).bytes);
  const auto size = static_cast<std::int64_t>(element);
  switch (reply.finding) {
    case judge::Finding::OutOfBounds:
      return {Mistake::WritesOutside,
              reply.offset < 0 ? fmt::format("memory in front of {} was written: element {} before its first one", name,
                                             (-reply.offset + size - 1) / size)
                               : fmt::format("memory after the end of {} was written: element {} after its last one",
                                             name, (reply.offset - bytes) / size + 1),
              "Look where C is stored: rows from m on do not exist; the last tile of rows needs a guard.",
              {}};
    case judge::Finding::InputChanged:
      return {Mistake::ChangesInputs,
              fmt::format("{}({}, {}) was changed, and operands are only read", name, reply.offset / size / ld,
                          reply.offset / size % ld),
              "Look for a store to an operand.",
              {}};
    case judge::Finding::Late:
      return {Mistake::Ended,
              fmt::format("{} changed after run() had returned", name),
              "Wait for all threads before run() returns.",
              {}};
    case judge::Finding::Heap:
      return {Mistake::WritesOutside,
              "memory outside of a buffer of the kernel was written",
              "Look at the size of each vector, and at the largest index into it: a last tile needs whole room.",
              {}};
    case judge::Finding::FloatingState:
      return {Mistake::Ended, "the kernel changed how numbers are rounded, and left it so", {}, {}};
    default:
      return {};
  }
}

std::size_t bytes_for(Index rows, Index ld, std::size_t element) {
  return static_cast<std::size_t>(rows * ld) * element;
}

template <class T>
Calls call_typed(const judge::KernelFile& kernel, const Case& tried, const Limits& limits, int count, Data data,
                 const std::vector<double>* first_rows_of_a) {
  Problem problem = problem_of(tried, limits.threads);
  judge::JudgeRequest request;
  request.kernel = &kernel;
  request.abi = judge::Abi::Tessera;
  request.time_limit = limits.seconds;
  request.memory_limit = limits.memory;
  request.program = limits.judge_program;
  request.settle_seconds = 0.01;
  problem.memory_limit = limits.memory;
  const std::size_t bytes =
      judge::lay_out(problem, bytes_for(tried.op_a == Op::None ? tried.shape.m : tried.shape.k, problem.lda, sizeof(T)),
                     bytes_for(tried.op_b == Op::None ? tried.shape.k : tried.shape.n, problem.ldb, sizeof(T)),
                     bytes_for(tried.shape.m, problem.ldc, sizeof(T)));
  problem.arena_bytes = judge::Trial::arena_bytes(problem);
  judge::PrivateMemory memory(bytes);
  Operands<T> operands(tried, problem, memory.data());
  operands.place(data, first_rows_of_a);
  Calls calls;
  judge::Trial trial(request, problem, memory.data());
  for (int call = 0; call < count && !trial.ending(); ++call) {
    const std::optional<judge::Reply> reply = trial.call(call);
    if (!reply) break;
    calls.seconds = calls.seconds > 0 ? std::min(calls.seconds, reply->seconds) : reply->seconds;
    calls.finding = around_operands(*reply, problem, sizeof(T));
    if (calls.finding.none())
      if (const Index row = operands.changed_padding(); row >= 0)
        calls.finding = {
            Mistake::WritesOutside,
            fmt::format("row {} of C was written past its last column, which is n − 1", row),
            tried.shape.n % 64 == 0
                ? "Look where C is stored: row i begins at i·ldc, which may be more than i·n; and columns from n on do "
                  "not exist."
                : "Look where C is stored: columns from n on do not exist; the last tile of columns needs a guard.",
            {}};
    calls.seen.push_back(operands.observe());
    if (!calls.finding.none()) break;
  }
  if (const auto& ending = trial.ending()) {
    if (ending->outcome == judge::Outcome::Unavailable) throw IoError("the kernel could not be tried: " + ending->why);
    if (calls.finding.none()) calls.finding = ending_in_words(ending->offence, ending->why);
  }
  calls.output = trial.output();
  return calls;
}

} // namespace

Calls call_kernel(const judge::KernelFile& kernel, const Case& tried, const Limits& limits, int count, Data data,
                  const std::vector<double>* first_rows_of_a) {
  return tried.type == DType::F64 ? call_typed<double>(kernel, tried, limits, count, data, first_rows_of_a)
                                  : call_typed<float>(kernel, tried, limits, count, data, first_rows_of_a);
}

Finding ending_in_words(judge::Offence offence, const std::string& why) {
  using judge::Offence;
  const auto ended = [&](const char* what, const char* look) {
    return Finding{Mistake::Ended, why.empty() ? what : fmt::format("{} ({})", what, why), look, {}};
  };
  switch (offence) {
    case Offence::Hangs:
      return ended("the kernel does not end", "Look at each loop: does its counter grow, and is its end reached?");
    case Offence::Crashed:
      return ended("the kernel crashes", "Look for an index past the end of an operand or of a vector.");
    case Offence::Exits:
      return ended("the kernel ends the whole program", "Return from run() in place of exit().");
    case Offence::Throws:
      return ended("an exception leaves run()", "Catch it, or avoid what throws it.");
    case Offence::ExceedsMemory:
      return ended("the kernel takes too much memory",
                   "Look at the size of each vector, and at vectors made in a loop.");
    case Offence::FloodsOutput:
      return ended("the kernel prints without end", "Take the output out of the loops.");
    case Offence::TooManyProcesses:
      return ended("the kernel starts too many threads",
                   "for_row_groups() shares the work out; no more threads are needed.");
    case Offence::UsesMoreThreads:
      return ended("the kernel uses more threads than it was given",
                   "for_row_groups() shares the work out; no more threads are needed.");
    case Offence::ReportsFailure:
      return ended("run() returned an error", "Look at the Status that it returns.");
    case Offence::CannotLoad:
      return {Mistake::DoesNotLoad,
              fmt::format("the compiled file cannot be loaded ({})", why),
              "A function is declared and used, but defined nowhere.",
              {}};
    case Offence::SmashesHeap:
      return {Mistake::WritesOutside,
              "memory outside of a buffer of the kernel was written",
              "Look at the size of each vector, and at the largest index into it: a last tile needs whole room.",
              {}};
    default:
      return {Mistake::Ended,
              fmt::format("the kernel was stopped: {}{}{}", to_string(offence), why.empty() ? "" : ": ", why),
              {},
              {}};
  }
}

} // namespace tessera::lessons
