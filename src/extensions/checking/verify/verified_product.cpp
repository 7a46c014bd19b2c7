#include "verified_product.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/number_text.hpp>

#include "core/base/partly_written.hpp"
#include "core/gemm/verified.hpp"
#include "core/tools/describe.hpp"
#include "core/tools/listeners.hpp"

namespace tessera::verify {
namespace {

constexpr std::size_t most_named = 8; ///< rows that are looked at to name elements
constexpr Index rows_together = 64;   ///< of a reference that looks at rows

/// Returns another number for each product, so that what one product's weights miss is seen by the next one's.
std::uint64_t next_seed() {
  static std::atomic<std::uint64_t> count = 0;
  return ++count;
}

/// Returns the coefficients of an element's bound. A strict sum's term passes the additions of its own segment and one
/// for each later segment, fewer than the k that docs/error_bounds.md allows any kernel.
compare::BoundCoefficients bound_of(const Arithmetic& arithmetic, const GemmCall& call) {
  compare::BoundCoefficients bound =
      compare::bound_coefficients(arithmetic, call.result, call.shape(), call.alpha, call.beta);
  if (arithmetic.summation != Summation::Canonical) return bound;
  GemmShape shape = call.shape();
  shape.k = std::min(call.k, canonical_segment) + (call.k - 1) / canonical_segment;
  const compare::BoundCoefficients segments =
      compare::bound_coefficients(arithmetic, call.result, shape, call.alpha, call.beta);
  bound.product = std::min(bound.product, segments.product);
  return bound;
}

/// Returns the element's row and column in the matrix that the caller knows.
std::pair<Index, Index> place_of(const WrongElement& x, const detail::ResultPlace& place) {
  return {place.row + x.row, place.col + x.col / place.parts};
}

std::string text_of(const WrongElement& x, const detail::ResultPlace& place) {
  const auto [row, col] = place_of(x, place);
  const char* const part = place.parts == 1           ? ""
                           : x.col % place.parts == 0 ? "the real part of "
                                                      : "the imaginary part of ";
  return part + ("c(" + std::to_string(row)) + ", " + std::to_string(col) + ") is " +
         detail::general_text(x.computed, 9) + ", exactly " + detail::general_text(x.exact, 9) +
         ", and may be off by " + detail::general_text(x.bound, 3);
}

} // namespace

template <class T>
void VerifiedProduct<T>::copy_c(char* to) const {
  const auto copy = [&](Index first, Index end) {
    for (Index i = first; i < end; ++i)
      std::memcpy(to + static_cast<std::size_t>(i) * row_bytes(), row_of_c(i), row_bytes());
  };
  const RangeBody body = [](const void* context, Index begin, Index end) noexcept {
    (*static_cast<const decltype(copy)*>(context))(begin, end);
  };
  throw_if_failed(executor_.run_range(
      executor_.default_queue(),
      {.count = call_.m, .grain = rows_together, .body = body, .context = &copy, .threads = call_.threads}));
}

/// Copies C as it is before the product, which may have to be computed again.
template <class T>
void VerifiedProduct<T>::keep_c() {
  before_ = room_for(bytes_of_c(), "C as it was, which a verified product with beta keeps");
  copy_c(before_.get());
}

/// Compares all sums, and looks at what they could not judge.
template <class T>
WrongParts VerifiedProduct<T>::check() const {
  std::vector<RowState> states(static_cast<std::size_t>(call_.m), RowState::Right);
  sums_->check(0, call_.m, states.data());
  WrongParts wrong;
  std::vector<Index> open;
  for (Index i = 0; i < call_.m; ++i) {
    if (states[static_cast<std::size_t>(i)] == RowState::Off) wrong.rows.push_back(i);
    if (states[static_cast<std::size_t>(i)] == RowState::Open) open.push_back(i);
  }
  const Findings by_row = look_at_rows(call_, before_.get(), call_.n, open, arithmetic_, rows_together);
  for (std::size_t i = 0; i < by_row.places.size(); ++i) {
    const auto first = open.begin() + by_row.places[i];
    wrong.looked.insert(wrong.looked.end(), first, first + by_row.counts[i]);
  }
  wrong.columns = look_at_columns(call_, before_.get(), call_.n, sums_->excluded(), arithmetic_).places;
  return wrong;
}

/// Computes all of C again: a fault in what the kernel read may have moved elements of other rows by less than the sums
/// show.
template <class T>
Changes VerifiedProduct<T>::compute_again() {
  const HostCopy wrong = room_for(bytes_of_c(), "a wrong C, which is compared with the repaired one");
  copy_c(wrong.get());
  if (before_ != nullptr)
    for (Index i = 0; i < call_.m; ++i)
      std::memcpy(row_of_c(i), before_.get() + static_cast<std::size_t>(i) * row_bytes(), row_bytes());
  Queue& queue = executor_.default_queue();
  const auto multiply = [&] { return executor_.gemm(queue, call_, options_.kernel); };
  throw_if_failed(
      tools::anyone_listens()
          ? tools::observe([&] { return tools::describe_verified(executor_, queue, call_, tools::Kind::Repair); },
                           multiply)
          : multiply());
  Changes changes;
  const std::size_t element = size_of(call_.result);
  for (Index i = 0; i < call_.m; ++i) {
    const char* const was = wrong.get() + static_cast<std::size_t>(i) * row_bytes();
    if (std::memcmp(row_of_c(i), was, row_bytes()) == 0) continue;
    ++changes.rows;
    for (std::size_t at = 0; at < row_bytes(); at += element)
      if (std::memcmp(row_of_c(i) + at, was + at, element) != 0) ++changes.elements;
  }
  return changes;
}

/// Throws DataCorruption with the wrong elements of some of the parts.
template <class T>
void VerifiedProduct<T>::refuse(const WrongParts& wrong) const {
  std::vector<Index> rows = wrong.rows;
  rows.insert(rows.end(), wrong.looked.begin(), wrong.looked.end());
  rows.resize(std::min(rows.size(), most_named));
  Findings found = look_at_rows(call_, before_.get(), call_.n, rows, arithmetic_, rows_together);
  if (!found.any())
    found = look_at_columns(call_, before_.get(), call_.n,
                            std::span(wrong.columns).first(std::min(wrong.columns.size(), most_named)), arithmetic_);
  std::string why = "gemm: the product is wrong";
  if (!wrong.rows.empty())
    why += " in " + std::to_string(wrong.rows.size()) + " of " + std::to_string(call_.m) + " rows";
  why += on_backend(executor_);
  for (std::size_t i = 0; i < std::min<std::size_t>(found.worst.size(), 3); ++i)
    why += (i == 0 ? ": " : "; ") + text_of(found.worst[i], place_);
  if (found.worst.empty() && !wrong.rows.empty())
    why += ": the sums of row " + std::to_string(place_.row + wrong.rows.front()) +
           " do not agree, but its elements are right for A and B as they are now: an operand changed during the "
           "product, or the sums were computed wrongly";
  why += end_of_alarm(options_.verify);
  if (found.worst.empty()) throw DataCorruption(why, wrong.rows.empty() ? -1 : place_.row + wrong.rows.front());
  const auto [row, col] = place_of(found.worst.front(), place_);
  throw DataCorruption(why, row, col);
}

/// Does all of it. Memory that is short after C was written must not look as if nothing had been: the caller would
/// apply beta twice.
template <class T>
VerifyCounts VerifiedProduct<T>::run() {
  if (call_.beta != 0) keep_c();
  sums_ = std::make_unique<RowSums<T>>(executor_, call_, bound_of(arithmetic_, call_), next_seed());
  throw_if_failed(executor_.gemm(executor_.default_queue(), call_, options_.kernel));
  try {
    return verify_written();
  } catch (const OutOfMemory& error) {
    throw_device_error(detail::partly_written(error.code(), error.what()).why);
  } catch (const std::bad_alloc& error) {
    throw_device_error(detail::partly_written(out_of_memory(error)).why);
  }
}

/// Checks C, which the kernel has written, and computes it again where that was asked for.
template <class T>
VerifyCounts VerifiedProduct<T>::verify_written() {
  VerifyCounts counts{.products = 1};
  WrongParts wrong = check();
  if (!wrong.any()) return counts;
  counts.wrong = 1;
  Changes changes;
  for (int made = 0; wrong.any(); ++made) {
    if (made == repairs_of(options_.verify)) {
      detail::count_verified(counts);
      refuse(wrong);
    }
    changes = compute_again();
    wrong = check();
  }
  counts.repaired = 1;
  counts.repaired_rows = changes.rows;
  counts.repaired_elements = changes.elements;
  return counts;
}

template class VerifiedProduct<float>;
template class VerifiedProduct<double>;

} // namespace tessera::verify
