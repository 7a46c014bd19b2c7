#include "batch_copies.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "executor_memory.hpp"

namespace tessera::detail {
namespace {

/// The rectangles of one operand of a group, and where they are on the device: one after another, without gaps.
class Stack {
 public:
  Stack(Executor& executor, const void* first, const void* const* pointers, Index stride, Index rows, Index cols,
        Index ld, Index count, DType type)
      : executor_(executor),
        first_(static_cast<const char*>(first)),
        pointers_(pointers),
        shared_(pointers == nullptr && stride == 0),
        rows_(rows),
        cols_(cols),
        ld_(ld),
        stride_(stride),
        count_(shared_ ? std::min<Index>(count, 1) : count),
        element_(size_of(type)),
        memory_(executor) {
    if (bytes() > 0) throw_if_failed(memory_.allocate(bytes()));
  }
  void* data() const { return memory_.data(); }
  Index ld() const { return std::max<Index>(cols_, 1); }
  Index stride() const { return shared_ ? 0 : rows_ * ld(); }

  void bring() {
    if (bytes() == 0) return;
    if (evenly_spaced())
      return throw_if_failed(executor_.copy_in(queue(), data(), width(), first_, pitch(), width(), all_rows()));
    std::vector<char> gathered(bytes());
    each_row(gathered.data(), [&](char* here, const char* there) { std::memcpy(here, there, width()); });
    throw_if_failed(executor_.copy_in(queue(), data(), bytes(), gathered.data(), bytes(), bytes(), 1));
  }
  /// Waits for the queue's work.
  void fetch() const {
    if (bytes() == 0) return;
    if (evenly_spaced())
      return throw_if_failed(
          executor_.copy_out(queue(), const_cast<char*>(first_), pitch(), data(), width(), width(), all_rows()));
    std::vector<char> gathered(bytes());
    throw_if_failed(executor_.copy_out(queue(), gathered.data(), bytes(), data(), bytes(), bytes(), 1));
    each_row(gathered.data(),
             [&](const char* here, const char* there) { std::memcpy(const_cast<char*>(there), here, width()); });
  }

 private:
  Queue& queue() const { return executor_.default_queue(); }
  std::size_t width() const { return static_cast<std::size_t>(cols_) * element_; }
  std::size_t pitch() const { return static_cast<std::size_t>(ld_) * element_; }
  std::size_t all_rows() const { return static_cast<std::size_t>(rows_ * count_); }
  std::size_t bytes() const { return width() * all_rows(); }
  /// All rows of all rectangles, as if they were one.
  bool evenly_spaced() const { return pointers_ == nullptr && (count_ == 1 || stride_ == rows_ * ld_); }

  template <class Action>
  void each_row(char* here, Action action) const {
    for (Index i = 0; i < count_; ++i) {
      const char* there = pointers_ != nullptr ? static_cast<const char*>(pointers_[i])
                                               : first_ + i * stride_ * static_cast<Index>(element_);
      for (Index row = 0; row < rows_; ++row, here += width(), there += pitch()) action(here, there);
    }
  }

  Executor& executor_;
  const char* first_;
  const void* const* pointers_;
  bool shared_;
  Index rows_, cols_, ld_, stride_, count_;
  std::size_t element_;
  ExecutorMemory memory_;
};

/// A group on the device.
class Group {
 public:
  Group(Executor& executor, const GemmBatch& host)
      : host_(host), a_(stack_a(executor, host)), b_(stack_b(executor, host)), c_(stack_c(executor, host)) {
    if (host.call.alpha != 0.0) { // else they are not read
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
  static Stack stack_a(Executor& executor, const GemmBatch& x) {
    const bool flip = x.call.op_a == Op::Transpose;
    return {executor,
            x.call.a,
            x.has_pointers() ? x.a : nullptr,
            x.stride_a,
            flip ? x.call.k : x.call.m,
            flip ? x.call.m : x.call.k,
            x.call.lda,
            x.count,
            x.call.type};
  }
  static Stack stack_b(Executor& executor, const GemmBatch& x) {
    const bool flip = x.call.op_b == Op::Transpose;
    return {executor,
            x.call.b,
            x.has_pointers() ? x.b : nullptr,
            x.stride_b,
            flip ? x.call.n : x.call.k,
            flip ? x.call.k : x.call.n,
            x.call.ldb,
            x.count,
            x.call.type};
  }
  static Stack stack_c(Executor& executor, const GemmBatch& x) {
    return {executor, x.call.c, x.c, x.stride_c, x.call.m, x.call.n, x.call.ldc, x.count, x.call.result};
  }

  const GemmBatch& host_;
  Stack a_, b_, c_;
};

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

void run_at_once(Executor& executor, std::span<const GemmBatch> groups, const GemmOptions& options) {
  std::vector<std::unique_ptr<Group>> there;
  std::vector<GemmBatch> batches;
  for (const GemmBatch& group : groups) {
    if (group.count == 0 || group.call.m == 0 || group.call.n == 0) continue;
    there.push_back(std::make_unique<Group>(executor, group));
    batches.push_back(there.back()->batch());
  }
  throw_if_failed(executor.gemm_batch(executor.default_queue(), batches, options.kernel));
  for (const auto& group : there) group->fetch();
}

} // namespace

void gemm_batch_by_copies(Executor& executor, std::span<const GemmBatch> groups, const GemmOptions& options) try {
  run_at_once(executor, groups, options);
} catch (const OutOfMemory&) { // nothing has been written
  const std::size_t half = groups.size() / 2;
  if (half > 0) {
    gemm_batch_by_copies(executor, groups.first(half), options);
    return gemm_batch_by_copies(executor, groups.subspan(half), options);
  }
  if (groups.empty()) throw;
  const GemmBatch& group = groups.front();
  if (group.count == 1) return gemm_raw(group.product(0), options);
  for (const auto& [first, count] :
       {std::pair{Index{0}, group.count / 2}, std::pair{group.count / 2, group.count - group.count / 2}}) {
    const GemmBatch part = part_of(group, first, count);
    gemm_batch_by_copies(executor, {&part, 1}, options);
  }
}

} // namespace tessera::detail
