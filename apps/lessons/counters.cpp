#include "counters.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "cpu/counts.hpp"

namespace tessera::lessons {
namespace {

constexpr Index long_k = 20000;

Counts counts_in(const Observation& seen) {
  Counts counts;
  std::memcpy(static_cast<void*>(&counts), seen.c.data(), sizeof counts);
  return counts;
}

Finding stray(const Counts& counts, const Case& tried, const std::string& library) {
  if (counts.strays == 0) return {};
  const bool a = counts.stray_operand == 0, b = counts.stray_operand == 1, store = counts.stray_store != 0;
  const Index rows = a || !b ? tried.shape.m : tried.shape.k, cols = a ? tried.shape.k : tried.shape.n,
              ld = cols + tried.pad;
  const auto place = static_cast<Index>(counts.stray_offset);
  const std::string line = line_of(library, counts.stray_place);
  std::string where =
      place < 0 ? "before its first element" : fmt::format("at row {}, column {}", place / ld, place % ld);
  return {store ? Mistake::WritesOutside : Mistake::ReadsOutside,
          fmt::format("{} {} outside of its elements {}{}: it has {} rows and {} columns",
                      a   ? "A"
                      : b ? "B"
                          : "C",
                      store ? "is written" : "is read", where, line.empty() ? "" : ", in " + line, rows, cols),
          "Look at the guard of that access: an index must be less than m, n or k.",
          {}};
}

/// Returns the largest error of sums of positive products, in roundings of the sum.
Counted error_of(const std::filesystem::path& file, const Lesson& lesson, const Limits& limits) {
  const Built built(lesson, file, Purpose::Run);
  if (!built.is_good()) return {};
  const judge::KernelFile kernel(built.library(), judge::Device::Cpu, {});
  const Case tried{.subject = "long sums", .shape = {4, 33, long_k}};
  const Calls calls = call_kernel(kernel, tried, limits, 1, Data::Positive);
  if (calls.seen.empty() || !calls.finding.none()) return {};
  const Observation& seen = calls.seen.front();
  Counted counted{.known = true, .value = 0, .finding = {}};
  const double rounding = std::ldexp(1.0, -24); // of f32
  for (Index i = 0; i < tried.shape.m; ++i)
    for (Index j = 0; j < tried.shape.n; ++j) {
      const double exact = seen.wanted(i, j);
      counted.value = std::max(counted.value, std::abs(seen.got(i, j) - exact) / (rounding * exact));
    }
  return counted;
}

} // namespace

Counted count(const Lesson& lesson, const std::filesystem::path& file, const Limits& limits) {
  if (lesson.counter == Counter::Error) return error_of(file, lesson, limits);
  const Built built(lesson, file, Purpose::Count);
  if (!built.is_good()) return {};
  const judge::KernelFile kernel(built.library(), judge::Device::Cpu, {});
  Limits one = limits;
  one.threads = 1;
  one.seconds *= 4;
  const Case edges{.subject = "", .shape = {17, 19, 23}, .pad = 5, .type = DType::F64};
  const Calls at_edges = call_kernel(kernel, edges, one, 1);
  if (at_edges.seen.empty()) return {};
  Counted counted;
  counted.finding = stray(counts_in(at_edges.seen.front()), edges, built.library());
  const Case large{.subject = "", .shape = lesson.counted, .type = DType::F64};
  const Calls calls = call_kernel(kernel, large, one, 1);
  if (calls.seen.empty()) return counted;
  const Counts counts = counts_in(calls.seen.front());
  const double products = static_cast<double>(lesson.counted.m * lesson.counted.n * lesson.counted.k);
  counted.known = true;
  counted.value = lesson.counter == Counter::Copies   ? counts.copies
                  : lesson.counter == Counter::Misses ? 1000 * counts.misses / products
                                                      : counts.loads / products;
  return counted;
}

} // namespace tessera::lessons
