#include "partial_sums.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <vector>

#include <tessera/executor.hpp>

#include "cuda/device/status.hpp"
#include "cuda/queue/stream.hpp"
#include "reference/reduce/whole_sum.hpp"

namespace tessera::cuda {

Status PartialSums::allocate(Index sums, int blocks) noexcept {
  sums_ = sums;
  blocks_ = blocks;
  return scratch_.allocate(
      executor_, queue_,
      static_cast<std::size_t>(sums) * sizeof(double) + static_cast<std::size_t>(blocks) * sizeof(BlockTime));
}

RungOutput PartialSums::output() const noexcept {
  auto* sums = scratch_.as<double>();
  return {sums, reinterpret_cast<BlockTime*>(sums + sums_)};
}

template <class Sum>
Status PartialSums::fetch(std::vector<Sum>& sums, ReduceResult& result) {
  static_assert(sizeof(Sum) == sizeof(double));
  sums.resize(static_cast<std::size_t>(sums_));
  std::vector<BlockTime> times(static_cast<std::size_t>(blocks_));
  const cudaStream_t stream = stream_of(queue_);
  const RungOutput from = output();
  if (Status status =
          check(cudaMemcpyAsync(sums.data(), from.sums, sums.size() * sizeof(Sum), cudaMemcpyDeviceToHost, stream),
                "fetching partial sums");
      !status.ok())
    return status;
  if (Status status = check(
          cudaMemcpyAsync(times.data(), from.times, times.size() * sizeof(BlockTime), cudaMemcpyDeviceToHost, stream),
          "fetching the blocks' times");
      !status.ok())
    return status;
  if (Status status = queue_.synchronize(); !status.ok()) return status;
  unsigned long long start = std::numeric_limits<unsigned long long>::max();
  unsigned long long end = 0;
  for (const BlockTime& time : times) {
    start = std::min(start, time.start);
    end = std::max(end, time.end);
  }
  result.device_seconds = static_cast<double>(end - start) * 1e-9;
  return {};
}

Status PartialSums::add(ReduceResult& result) noexcept try {
  std::vector<double> sums;
  if (Status status = fetch(sums, result); !status.ok()) return status;
  result.value = 0;
  for (const double sum : sums) result.value += sum;
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

Status PartialSums::add_whole(const ReduceCall& call, ReduceResult& result) noexcept try {
  std::vector<host::WholeSum> sums;
  if (Status status = fetch(sums, result); !status.ok()) return status;
  host::WholeSum total{};
  for (const host::WholeSum sum : sums) total += sum;
  return host::set_whole(call, total, result);
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

} // namespace tessera::cuda
