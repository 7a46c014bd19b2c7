#pragma once

/// Sums blocks of C in host memory, with an executor of the host.

#include <string_view>

#include "extensions/beyond_memory/streamed/slices.hpp"
#include "host_buffer.hpp"
#include "plan.hpp"

namespace tessera::files {

class HostBlocks {
 public:
  /// `call` has the types, the ops and the mode; its C has the type of the sums.
  HostBlocks(Executor& executor, const GemmCall& call, std::string_view kernel, const Sizes& sizes,
             const FilePlan& plan);

  Status allocate(std::size_t& allocated);
  /// Multiplies until the source gives no more slices. The rows of a finished block go to the target while the first
  /// slices of the next block are multiplied, which take the place of their sums.
  Status run(tessera::detail::SliceSource& source, tessera::detail::BlockTarget& target);

 private:
  Status multiply(const tessera::detail::SliceStep& step, Index row, Index rows);
  Status hand_over(const tessera::detail::BlockOfC& block, Index row, Index rows, tessera::detail::BlockTarget& target);
  char* at(Index row, Index col) const;

  Executor& executor_;
  const GemmCall& call_;
  const std::string_view kernel_;
  const std::size_t bytes_;
  const Index ld_, strip_rows_, piece_;
  HostBuffer sums_;
};

} // namespace tessera::files
