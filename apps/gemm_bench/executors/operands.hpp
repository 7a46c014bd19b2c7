#pragma once

/// The operands of products in host memory, and the judgement of their results.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <tessera/checking/check.hpp>
#include <tessera/matrix.hpp>

#include "race.hpp"

namespace tessera::bench {

/// Host memory that one product after the other uses, because the system takes seconds to give some gigabytes of it. It
/// is page-locked if the executor is a GPU's.
class HostMemory {
 public:
  /// The memory is the executor's, which must outlive this object.
  explicit HostMemory(Executor& executor) : executor_(executor) {}
  ~HostMemory() { executor_.free_host(memory_); }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  /// Returns at least so many bytes; earlier contents are lost. Throws OutOfMemory.
  char* at_least(std::size_t bytes);

 private:
  Executor& executor_;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Fills rows×cols elements of host memory with random numbers, on all processors.
void fill_random(DType type, Index rows, Index cols, void* data, Index ld, std::uint64_t seed);
/// Fills them with NaN.
void fill_nan(DType type, Index rows, Index cols, void* data, Index ld);
/// Returns a number of 64 bits for each row, which differs for rows with other bits, except for one pair of rows in
/// 2^64.
std::vector<std::uint64_t> row_digests(const void* data, Index rows, std::size_t row_bytes, std::size_t pitch);

/// Random A and B, and C.
template <class T>
class HostOperands {
 public:
  HostOperands(const GemmShape& shape, HostMemory& memory)
      : lda_(padded(shape.k)), ldb_(padded(shape.n)), shape_(shape), a_(memory.at_least(bytes())) {
    b_ = a_ + bytes(shape.m, lda_);
    c_ = b_ + bytes(shape.k, ldb_);
    fill_random(dtype_of<T>, shape.m, shape.k, a_, lda_, 1);
    fill_random(dtype_of<T>, shape.k, shape.n, b_, ldb_, 2);
  }

  MatrixView<T> a() const { return view(a_, shape_.m, shape_.k, lda_); }
  MatrixView<T> b() const { return view(b_, shape_.k, shape_.n, ldb_); }
  MatrixView<T> c() const { return view(c_, shape_.m, shape_.n, ldb_); }
  /// Returns the product of these operands for a library that takes addresses.
  GemmCall call() const {
    return {{.type = dtype_of<T>,
             .m = shape_.m,
             .n = shape_.n,
             .k = shape_.k,
             .a = a_,
             .lda = lda_,
             .b = b_,
             .ldb = ldb_,
             .c = c_,
             .ldc = ldb_},
            dtype_of<T>};
  }

  void spoil_c() const { fill_nan(dtype_of<T>, shape_.m, shape_.n, c_, ldb_); }

  /// Judges the C that is there. Tessera's first result, and the ones of others, are held against their bound; the bits
  /// of Tessera's later results are compared with the first one's, row by row.
  void judge(HostStanding& standing, bool is_ours) {
    const std::size_t element = sizeof(T);
    std::vector<std::uint64_t> digests;
    if (is_ours)
      digests = row_digests(c_, shape_.m, static_cast<std::size_t>(shape_.n) * element,
                            static_cast<std::size_t>(ldb_) * element);
    if (is_ours && !digests_.empty()) {
      standing.check += "same bits as the first";
      for (std::size_t i = 0; i < digests.size(); ++i)
        if (digests[i] != digests_[i]) {
          standing.problem = fmt::format("row {} has other bits than on {}", i, first_);
          return;
        }
      return;
    }
    const CheckedMatrix c = checked(std::as_const(*this).c());
    if (!certifier_)
      certifier_.emplace(std::vector{CheckedProduct{checked(a()), checked(b())}}, c.type, CheckOptions{});
    const Certificate answer = certifier_->check(std::span(&c, 1));
    standing.check += fmt::format("{} of its bound", answer.error.max_over_bound);
    if (!answer.right()) standing.problem = to_text(answer);
    if (!is_ours) return;
    digests_ = std::move(digests);
    first_ = standing.executors;
  }

 private:
  static Index padded(Index cols) {
    constexpr auto line = static_cast<Index>(64 / sizeof(T));
    return (cols + line - 1) / line * line;
  }
  static std::size_t bytes(Index rows, Index ld) {
    constexpr std::size_t page = 4096;
    return (static_cast<std::size_t>(rows * ld) * sizeof(T) + page - 1) / page * page;
  }
  std::size_t bytes() const { return bytes(shape_.m, lda_) + bytes(shape_.k, ldb_) + bytes(shape_.m, ldb_); }
  static MatrixView<T> view(char* data, Index rows, Index cols, Index ld) {
    return MatrixView<T>::wrap(reinterpret_cast<T*>(data), rows, cols, ld);
  }

  Index lda_, ldb_;
  GemmShape shape_;
  char *a_, *b_ = nullptr, *c_ = nullptr;
  std::optional<Certifier> certifier_;
  std::vector<std::uint64_t> digests_; ///< of the rows of Tessera's first result
  std::string first_;                  ///< the executors that computed it
};

} // namespace tessera::bench
