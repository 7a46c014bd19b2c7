#include <algorithm>
#include <memory>

#include <tessera/beyond_memory/row_blocks.hpp>
#include <tessera/detail/stopwatch.hpp>

#include "core/measure/repeat.hpp"
#include "operands.hpp"
#include "race.hpp"

namespace tessera::bench {
namespace {

/// Times copies of a strip of B from the second executor's memory to the first one's, by themselves. Returns 0 where
/// they cannot go directly, or there is no memory for one.
template <class T>
double copy_rate(const RowBlocks<T>& b) {
  if (b.executors().size() < 2) return 0;
  Executor &to = *b.executors()[0], &from = *b.executors()[1];
  const detail::Operand block = b.block(1).view().operand();
  detail::DeviceHold holds_block(block, from);
  const detail::Placed source = holds_block.read();
  const auto width = static_cast<std::size_t>(std::min(b.cols(), std::max<Index>(1024, b.cols() / 8))) * sizeof(T);
  const auto rows = static_cast<std::size_t>(b.block(1).rows());
  void* memory = nullptr;
  if (!to.allocate(std::max<std::size_t>(width * rows, 1), memory).ok()) return 0;
  std::unique_ptr<Event> begin, end;
  Status status = to.create_event(begin);
  if (status.ok()) status = to.create_event(end);
  double least = 0;
  for (int run = 0; status.ok() && run < 4; ++run) {
    double seconds = 0;
    status = begin->record(to.default_queue());
    if (status.ok())
      status =
          to.enqueue_copy(to.default_queue(), {CopyDirection::Within, memory, width, source.data,
                                               static_cast<std::size_t>(source.ld) * sizeof(T), width, rows, &from});
    if (status.ok()) status = end->record(to.default_queue());
    if (status.ok()) status = end->seconds_since(*begin, seconds);
    if (status.ok() && (least == 0 || seconds < least)) least = seconds;
  }
  to.free(memory);
  return status.ok() && least > 0 ? static_cast<double>(width * rows) / least : 0;
}

/// Multiplies on one list of executors, as often as `repeats` says, and brings the last result to the host.
template <class T>
void multiply_resident(const HostOperands<T>& operands, const Repeats& repeats, const ExecutorList& list,
                       HostStanding& standing) {
  std::vector<double>& seconds = standing.seconds;
  const MatrixView<T> a = operands.a(), b = operands.b(), c = operands.c();
  RowBlocks<T> on_a(list.executors, a.rows(), a.cols()), on_b(list.executors, b.rows(), b.cols()),
      on_c(list.executors, c.rows(), c.cols());
  on_a.assign(a);
  on_b.assign(b);
  on_c.assign(c); // NaN
  const auto once = [&] { return measure::host_seconds([&] { gemm(Scalar<T>{1}, on_a, on_b, Scalar<T>{0}, on_c); }); };
  const double first = once();
  if (first >= repeats.seconds) seconds.push_back(first);
  if (first < repeats.seconds)
    for (int round = measure::runs_within(repeats.seconds, first, repeats.rounds); round > 0; --round)
      seconds.push_back(once());
  standing.copy_bytes_per_second = copy_rate(on_b);
  on_c.copy_to(c);
}

} // namespace

std::vector<HostStanding> run_resident_race(const GemmShape& shape, DType type, const std::vector<ExecutorList>& lists,
                                            const Repeats& repeats, RaceMemory& memory) {
  return visit(type, [&]<class T>(std::type_identity<T>) {
    HostOperands<T> operands(shape, memory.host);
    std::vector<HostStanding> standings;
    for (const ExecutorList& list : lists) {
      HostStanding& standing = standings.emplace_back(HostStanding{"tessera-resident", list.text, {}, {}, {}, 0});
      try {
        operands.spoil_c();
        multiply_resident(operands, repeats, list, standing);
        operands.judge(standing, true);
      } catch (const Error& error) {
        standing.problem = error.what();
      }
    }
    return standings;
  });
}

} // namespace tessera::bench
