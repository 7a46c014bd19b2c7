#include "batch_copies.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "batch_operand.hpp"
#include "core/base/partly_written.hpp"
#include "core/executor/executor_memory.hpp"

namespace tessera::detail {
namespace {

/// The rectangles of one operand of a group, and their copies on the device: one after another, without gaps.
class Stack {
 public:
  Stack(Executor& executor, const BatchOperand& host, Index count)
      : executor_(executor),
        host_(host),
        shared_(host.pointers == nullptr && host.stride == 0),
        count_(shared_ ? std::min<Index>(count, 1) : count),
        memory_(executor) {
    if (bytes() > 0) throw_if_failed(memory_.allocate(bytes()));
  }
  void* data() const { return memory_.data(); }
  Index ld() const { return std::max<Index>(host_.rows.cols, 1); }
  Index stride() const { return shared_ ? 0 : host_.rows.rows * ld(); }

  void bring() {
    if (bytes() == 0) return;
    if (evenly_spaced())
      return throw_if_failed(
          executor_.copy_in(queue(), data(), width(), host_.rows.data, pitch(), width(), all_rows()));
    std::vector<char> gathered(bytes());
    each_row(gathered.data(), [&](char* here, const char* there) { std::memcpy(here, there, width()); });
    throw_if_failed(executor_.copy_in(queue(), data(), bytes(), gathered.data(), bytes(), bytes(), 1));
  }
  /// Copies the device's rectangles back, after the queue's work.
  void fetch() const {
    if (bytes() == 0) return;
    if (evenly_spaced())
      return throw_if_failed(executor_.copy_out(queue(), const_cast<void*>(host_.rows.data), pitch(), data(), width(),
                                                width(), all_rows()));
    std::vector<char> gathered(bytes());
    throw_if_failed(executor_.copy_out(queue(), gathered.data(), bytes(), data(), bytes(), bytes(), 1));
    each_row(gathered.data(),
             [&](const char* here, const char* there) { std::memcpy(const_cast<char*>(there), here, width()); });
  }

 private:
  Queue& queue() const { return executor_.default_queue(); }
  std::size_t width() const { return static_cast<std::size_t>(host_.rows.cols) * host_.rows.element; }
  std::size_t pitch() const { return static_cast<std::size_t>(host_.rows.ld) * host_.rows.element; }
  std::size_t all_rows() const { return static_cast<std::size_t>(host_.rows.rows * count_); }
  std::size_t bytes() const { return width() * all_rows(); }
  /// True if the rows of all rectangles have one distance, so that one copy takes them all.
  bool evenly_spaced() const {
    return host_.pointers == nullptr && (count_ == 1 || host_.stride == host_.rows.rows * host_.rows.ld);
  }

  template <class Action>
  void each_row(char* here, Action action) const {
    for (Index i = 0; i < count_; ++i) {
      const char* there = static_cast<const char*>(host_.at(i).data);
      for (Index row = 0; row < host_.rows.rows; ++row, here += width(), there += pitch()) action(here, there);
    }
  }

  Executor& executor_;
  BatchOperand host_;
  bool shared_;
  Index count_;
  ExecutorMemory memory_;
};

/// A group whose operands are on the device.
class Group {
 public:
  Group(Executor& executor, const GemmBatch& host)
      : host_(host),
        a_(executor, batch_operand_a(host), host.count),
        b_(executor, batch_operand_b(host), host.count),
        c_(executor, batch_operand_c(host), host.count) {
    if (host.call.alpha != 0.0) { // else the product reads neither
      a_.bring();
      b_.bring();
    }
    if (host.call.beta != 0.0) c_.bring();
  }
  GemmBatch batch() const {
    GemmBatch batch{.call = host_.call, .count = host_.count};
    batch.call.a = a_.data();
    batch.call.b = b_.data();
    batch.call.c = c_.data();
    batch.call.lda = a_.ld();
    batch.call.ldb = b_.ld();
    batch.call.ldc = c_.ld();
    batch.stride_a = a_.stride();
    batch.stride_b = b_.stride();
    batch.stride_c = c_.stride();
    return batch;
  }
  void fetch() const { c_.fetch(); }

 private:
  const GemmBatch& host_;
  Stack a_, b_, c_;
};

using GroupsThere = std::vector<std::unique_ptr<Group>>;

/// Returns false if the device has too little memory; then C is as it was.
bool multiply_at_once(Executor& executor, std::span<const GemmBatch> groups, const GemmOptions& options,
                      GroupsThere& there) try {
  std::vector<GemmBatch> batches;
  for (const GemmBatch& group : groups) {
    if (group.count == 0 || group.call.m == 0 || group.call.n == 0) continue;
    there.push_back(std::make_unique<Group>(executor, group));
    batches.push_back(there.back()->batch());
  }
  throw_if_failed(executor.gemm_batch(executor.default_queue(), batches, options.kernel));
  return true;
} catch (const OutOfMemory&) {
  there.clear();
  return false;
}

GemmBatch part_of(const GemmBatch& group, Index first, Index count) {
  GemmBatch part = group;
  part.count = count;
  if (group.has_pointers()) {
    part.a += first;
    part.b += first;
    part.c += first;
  } else {
    part.call = group.product(first);
  }
  return part;
}

/// Computes the groups at once or, if they do not fit, one half after the other in the same way. `written` is set once
/// some of C is written.
void multiply_in_halves(Executor& executor, std::span<const GemmBatch> groups, const GemmOptions& options,
                        bool& written) {
  if (groups.empty()) return;
  GroupsThere there;
  if (multiply_at_once(executor, groups, options, there)) {
    written = true;
    for (const auto& group : there) group->fetch();
    return;
  }
  if (const std::size_t half = groups.size() / 2; half > 0) {
    multiply_in_halves(executor, groups.first(half), options, written);
    return multiply_in_halves(executor, groups.subspan(half), options, written);
  }
  const GemmBatch& group = groups.front();
  if (group.count == 1) {
    gemm_raw(group.product(0), options);
    written = true;
    return;
  }
  const Index half = group.count / 2;
  const GemmBatch first = part_of(group, 0, half), second = part_of(group, half, group.count - half);
  multiply_in_halves(executor, {&first, 1}, options, written);
  multiply_in_halves(executor, {&second, 1}, options, written);
}

} // namespace

void gemm_batch_by_copies(Executor& executor, std::span<const GemmBatch> groups, const GemmOptions& options) {
  bool written = false;
  tell_of_parts_written(written, [&] { multiply_in_halves(executor, groups, options, written); });
}

} // namespace tessera::detail
