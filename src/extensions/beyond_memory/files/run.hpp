#pragma once

/// A product of files: what was asked for, what was found, and the plan.

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <tessera/beyond_memory/file_product.hpp>
#include <tessera/executor.hpp>

#include "block_writer.hpp"
#include "extensions/beyond_memory/streamed/streamed_gemm.hpp"
#include "host_blocks.hpp"
#include "journal.hpp"
#include "npy_file.hpp"
#include "plan.hpp"
#include "read_ahead.hpp"
#include "unfinished.hpp"

namespace tessera::files {

using tessera::detail::BlockOfC;
using tessera::detail::BlockTarget;
using tessera::detail::SharedBlocks;
using tessera::detail::StreamedBlocks;
using tessera::detail::StreamedProduct;

/// An executor's part in the product.
struct Worker {
  Executor* executor = nullptr;
  std::unique_ptr<StreamedProduct> device; ///< of an executor with memory of its own
  std::unique_ptr<HostBlocks> host;        ///< of an executor of the host
  std::unique_ptr<ReadAhead> source;
  std::unique_ptr<BlockTarget> target;
};

/// A product that is checked and planned.
class Run {
 public:
  explicit Run(const FileProduct& product);

  FileProductPlan plan() const;
  FileProductReport compute();

 private:
  void check_types();
  void check_shapes();
  void check_output();
  void find_executors();
  void measure_devices();
  void look_for_unfinished();
  Facts facts() const;
  Status allocate(SharedBlocks& blocks, BlockWriter& writer);
  void multiply(SharedBlocks& blocks);
  void work(Worker& worker, SharedBlocks& blocks) noexcept;
  Status scale_only(Worker& worker, SharedBlocks& blocks);
  void tell(double operations, Index blocks, std::uint64_t written);
  std::uint64_t bytes_read() const;

  const FileProduct& asked_;
  NpyFile a_, b_;
  std::optional<NpyFile> c_;
  Unfinished unfinished_;
  Sizes sizes_;
  GemmCall call_; ///< of the sums
  std::vector<Worker> workers_;
  FilePlan plan_;
  std::string header_;
  bool goes_on_ = false;
  Recorded recorded_;
  std::vector<bool> done_;

  std::size_t allocated_ = 0;
  std::atomic<bool> written_ = false;
  std::mutex telling_;
  FileProductProgress progress_;
};

} // namespace tessera::files
