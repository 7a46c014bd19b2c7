#include <tessera/detail/stopwatch.hpp>
#include <tessera/row_blocks.hpp>

#include "measure/repeat.hpp"
#include "operands.hpp"
#include "race.hpp"

namespace tessera::bench {
namespace {

/// Multiplies on one list of executors, as often as `repeats` says, and brings the last result to the host.
template <class T>
void multiply_resident(const HostOperands<T>& operands, const Repeats& repeats, const ExecutorList& list,
                       std::vector<double>& seconds) {
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
  on_c.copy_to(c);
}

} // namespace

std::vector<HostStanding> run_resident_race(const Shape& shape, DType type, const std::vector<ExecutorList>& lists,
                                            const Repeats& repeats, RaceMemory& memory) {
  return visit(type, [&]<class T>(std::type_identity<T>) {
    HostOperands<T> operands(shape, memory.pinned);
    std::vector<HostStanding> standings;
    for (const ExecutorList& list : lists) {
      HostStanding& standing = standings.emplace_back(HostStanding{"tessera-resident", list.text, {}, {}, {}});
      try {
        operands.spoil_c();
        multiply_resident(operands, repeats, list, standing.seconds);
        operands.judge(standing, true);
      } catch (const Error& error) {
        standing.problem = error.what();
      }
    }
    return standings;
  });
}

} // namespace tessera::bench
