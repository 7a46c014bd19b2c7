/// Complex products that verify themselves: their real products do, and their other steps are done again by the
/// reference, a few rows at a time.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <string>

#include <tessera/backend.hpp>
#include <tessera/backend/out_of_memory.hpp>

#include "core/complex/steps.hpp"
#include "core/gemm/verified.hpp"
#include "repair.hpp"

namespace tessera::verify {
namespace {

constexpr std::size_t bytes_together = std::size_t{256} << 10; ///< that the reference computes at once

using detail::ResultPlace;

/// Is each number of two rows the same, where every NaN is as good as another one?
template <class T>
bool are_same(const void* x, const void* y, Index count) {
  if (std::memcmp(x, y, static_cast<std::size_t>(count) * sizeof(T)) == 0) return true;
  const auto *of_x = static_cast<const T*>(x), *of_y = static_cast<const T*>(y);
  for (Index i = 0; i < count; ++i)
    if (std::memcmp(of_x + i, of_y + i, sizeof(T)) != 0 && !(std::isnan(of_x[i]) && std::isnan(of_y[i]))) return false;
  return true;
}

/// An operation on complex numbers that has been done, and the reference's result of the same operation.
class CheckedMap {
 public:
  /// The operands of the call are as they were before it was done.
  explicit CheckedMap(const MapCall& call)
      : call_(call),
        number_(2 * size_of(call.type)),
        lines_(call.op == MapOp::ExpandComplex ? 2 : 1),
        together_(std::max<Index>(1, static_cast<Index>(bytes_together / line_bytes()) / lines_)),
        room_(room_for(static_cast<std::size_t>(std::min(together_, call.rows) * lines_) * line_bytes(),
                       "the reference's rows, beside which a verified product's are looked at")) {}

  /// Returns the first row of Z that is not the reference's, or -1.
  Index wrong_row() const {
    for (Index first = 0; first < call_.rows; first += together_) {
      const Index count = std::min(together_, call_.rows - first);
      compute(first, count);
      for (Index i = 0; i < count * lines_; ++i)
        if (!is_right(first * lines_ + i, i)) return first + i / lines_;
    }
    return -1;
  }

 private:
  std::size_t line_bytes() const { return static_cast<std::size_t>(call_.cols) * number_; }

  void compute(Index first, Index count) const {
    MapCall part = call_;
    const bool by_columns = call_.op != MapOp::CombineComplex && call_.op_x != Op::None;
    part.rows = count;
    part.x = at(call_.x, first * (by_columns ? 1 : call_.ldx));
    if (call_.op == MapOp::CombineComplex) part.y = at(call_.y, first * call_.ldy);
    part.z = room_.get();
    part.ldz = call_.cols;
    Executor& reference = executor(Backend::Reference);
    throw_if_failed(reference.map(reference.default_queue(), part));
  }
  bool is_right(Index line, Index of_room) const {
    const char* const computed = at(call_.z, line * call_.ldz);
    const char* const expected = room_.get() + static_cast<std::size_t>(of_room) * line_bytes();
    return call_.type == DType::F32 ? are_same<float>(computed, expected, 2 * call_.cols)
                                    : are_same<double>(computed, expected, 2 * call_.cols);
  }
  const char* at(const void* matrix, Index numbers) const {
    return static_cast<const char*>(matrix) + numbers * static_cast<Index>(number_);
  }

  MapCall call_;
  std::size_t number_;
  Index lines_; ///< of Z for a row of the operation
  Index together_;
  HostCopy room_;
};

class VerifiedSteps final : public detail::ComplexSteps {
 public:
  VerifiedSteps(Executor& executor, const GemmOptions& options)
      : ComplexSteps(executor, executor.default_queue(), options.kernel), options_(options) {}

  /// Memory that is short is a status, because only the caller knows whether C has been written.
  Status multiply(const GemmCall& call, const ResultPlace& place) override try {
    detail::gemm_verified(executor(), call, options_, place);
    return {};
  } catch (const OutOfMemory& error) {
    return {error.code(), error.what()};
  }
  Status map(const MapCall& call, const ResultPlace& place) override try {
    return map_verified(call, place);
  } catch (const OutOfMemory& error) {
    return {error.code(), error.what()};
  } catch (const std::bad_alloc& error) {
    return out_of_memory(error);
  }

 private:
  Status map_verified(const MapCall& call, const ResultPlace& place);
  [[noreturn]] void refuse(const MapCall& call, Index row, const ResultPlace& place) const;

  const GemmOptions& options_;
};

/// Returns a copy of Z's rows, which an operation reads before it writes them, and lets the call read the copy.
HostCopy keep_result(MapCall& call) {
  const std::size_t number = 2 * size_of(call.type), row = static_cast<std::size_t>(call.cols) * number;
  HostCopy kept = room_for(static_cast<std::size_t>(call.rows) * row, "C as it was, which a verified product keeps");
  for (Index i = 0; i < call.rows; ++i)
    std::memcpy(kept.get() + static_cast<std::size_t>(i) * row,
                static_cast<const char*>(call.z) + static_cast<std::size_t>(i * call.ldz) * number, row);
  if (call.x == call.z) {
    call.x = kept.get();
    call.ldx = call.cols;
  } else {
    call.y = kept.get();
    call.ldy = call.cols;
  }
  return kept;
}

/// Does an operation, and does it again while its result is wrong.
Status VerifiedSteps::map_verified(const MapCall& call, const ResultPlace& place) {
  const bool reads_y = call.beta != 0.0 || call.beta_imaginary != 0.0;
  MapCall known = call;
  HostCopy kept(nullptr, nullptr);
  if (call.op == MapOp::CombineComplex && (reads_y || call.x == call.z)) kept = keep_result(known);
  const CheckedMap check(known);
  if (Status status = executor().map(queue(), call); !status.ok()) return status;
  Index wrong = check.wrong_row();
  if (wrong < 0) return {};
  VerifyCounts counts{.wrong = 1};
  for (int made = 0; wrong >= 0; ++made) {
    if (made == repairs_of(options_.verify)) {
      detail::count_verified(counts);
      refuse(call, wrong, place);
    }
    if (Status status = executor().map(queue(), known); !status.ok()) return status;
    wrong = check.wrong_row();
  }
  counts.repaired = 1;
  detail::count_verified(counts);
  return {};
}

void VerifiedSteps::refuse(const MapCall& call, Index row, const ResultPlace& place) const {
  const bool is_result = call.op == MapOp::CombineComplex;
  const std::string where = is_result                         ? "row " + std::to_string(place.row + row) + " of c"
                            : call.op == MapOp::ExpandComplex ? "a copy of b"
                                                              : "a copy of a";
  throw DataCorruption(
      "gemm: the product is wrong in " + where + on_backend(executor()) + end_of_alarm(options_.verify),
      is_result ? place.row + row : -1);
}

} // namespace
} // namespace tessera::verify

namespace tessera::detail {

void gemm_verified(Executor& executor, const ComplexGemmCall& call, const GemmOptions& options) try {
  throw_if_failed(check_gemm(call));
  verify::VerifiedSteps steps(executor, options);
  throw_if_failed(multiply_by_steps(steps, call));
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera::detail
