#include "board.hpp"

#include <unistd.h>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include <tessera/detail/printable.hpp>
#include <tessera/status.hpp>

#include "common/notes.hpp"
#include "gemm_judge/processes/left_behind.hpp"

namespace tessera::compare_app {
namespace {

/// What is said of an entry before its table is printed.
std::string short_text(const Result& result, bool use_mean) {
  return fmt::format("{:<10} {:<24} {:>9.3g} ms  {}", to_string(result.backend), result.kernel,
                     seconds_of(result, use_mean) * 1e3, to_string(result.verdict));
}

} // namespace

Board::Board(std::vector<std::unique_ptr<Reporter>> reporters, Progress& progress, bool use_mean)
    : reporters_(std::move(reporters)), progress_(progress), use_mean_(use_mean) {}

void Board::begin_group(std::vector<Result> pending) {
  std::lock_guard lock(mutex_);
  group_ = std::move(pending);
}

void Board::set(std::size_t position, Result result) {
  std::lock_guard lock(mutex_);
  const bool measured = group_[position].verdict == Verdict::Pending && result.verdict != Verdict::Pending;
  group_[position] = std::move(result);
  if (measured && !group_[position].samples.empty()) progress_.add_entry(short_text(group_[position], use_mean_));
}

void Board::report_group() {
  set_speedups(group_, use_mean_);
  for (const Result& result : group_) {
    any_wrong_ |= result.verdict == Verdict::Wrong || result.verdict == Verdict::Failed;
    any_timed_ |= !result.samples.empty() && !result.transfer;
  }
  progress_.clear();
  for (const auto& reporter : reporters_) reporter->add_group(group_);
  group_.clear();
}

void Board::end_group() {
  std::lock_guard lock(mutex_);
  report_group();
}

void Board::finish() {
  std::lock_guard lock(mutex_);
  progress_.clear();
  for (const auto& reporter : reporters_) reporter->finish();
}

void Board::leave(int status) {
  std::lock_guard lock(mutex_);
  judge::leave_nothing_behind(); // the board is locked: a kernel that is killed here is not reported as an offence
  std::erase_if(group_, [](const Result& r) { return r.verdict == Verdict::Pending && r.samples.empty(); });
  for (Result& result : group_)
    if (result.verdict == Verdict::Pending) {
      result.verdict = Verdict::Interrupted;
      result.reason = "interrupted before it was checked";
    }
  try {
    if (!group_.empty()) report_group();
    progress_.clear();
    for (const auto& reporter : reporters_) reporter->finish();
    apps::note("gemm_compare: interrupted; this is what was measured until then\n");
  } catch (const std::exception& error) {
    apps::note("gemm_compare: interrupted; {}\n", detail::printable(error.what(), true));
  }
  std::fflush(nullptr);
  _exit(status);
}

bool Board::any_wrong() const {
  std::lock_guard lock(mutex_);
  return any_wrong_;
}
bool Board::any_timed() const {
  std::lock_guard lock(mutex_);
  return any_timed_;
}

} // namespace tessera::compare_app
