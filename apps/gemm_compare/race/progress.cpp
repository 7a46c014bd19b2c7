#include "progress.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include <tessera/detail/printable.hpp>

#include "common/notes.hpp"
#include "common/terminal.hpp"

namespace tessera::compare_app {
namespace {

constexpr double guessed_speed = 5e9;
constexpr double seconds_between_log_lines = 10;

std::string duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", seconds);
  return fmt::format("{:.0f} min {:02.0f} s", seconds / 60 - 0.5, seconds - 60 * static_cast<int>(seconds / 60));
}

} // namespace

Progress::Progress(bool enabled) : enabled_(enabled), on_terminal_(apps::is_terminal(stderr)) {
  if (!on_terminal_) shown_ = 0; // a run of seconds needs no line in a log
}

void Progress::expect(const std::string& kernel, double operations) { left_[kernel] += operations; }

double Progress::seconds_left() const {
  double seconds = 0;
  for (const auto& [kernel, operations] : left_) {
    const auto speed = speeds_.find(kernel);
    seconds += operations / (speed == speeds_.end() ? guessed_speed : speed->second);
  }
  return seconds;
}

void Progress::show(const std::string& what) {
  const double past = watch_.seconds();
  if (!enabled_ || past - shown_ < (on_terminal_ ? 0.05 : seconds_between_log_lines)) return;
  shown_ = past;
  const double left = seconds_left();
  const double share = past / std::max(past + left, 1e-9);
  if (on_terminal_)
    renew_line(share, left, detail::printable(what));
  else
    apps::note("gemm_compare: {:.0f} %, about {} left: {}\n", 100 * share, duration(left), detail::printable(what));
  std::fflush(stderr);
}

void Progress::renew_line(double share, double left, const std::string& what) {
  constexpr int cells = 24;
  const int full = std::clamp(static_cast<int>(share * cells), 0, cells);
  std::string bar;
  for (int i = 0; i < cells; ++i) bar += i < full ? "█" : "░";
  const std::string line = fmt::format("{} {:3.0f} %  {} left  {}", bar, 100 * share, duration(left), what);
  const std::size_t width = apps::terminal_width(stderr); // asked each time: a line that wraps is not taken off again
  apps::note("\r\x1b[K{}", apps::clipped(line, std::max<std::size_t>(width, 1) - 1));
  visible_ = true;
}

void Progress::done(const std::string& kernel, double operations, double seconds) {
  double& left = left_[kernel];
  left = std::max(0.0, left - operations);
  if (seconds > 0) speeds_[kernel] = operations / seconds;
}

void Progress::add_entry(const std::string& text) {
  if (!enabled_ || !on_terminal_) return;
  const std::size_t width = apps::terminal_width(stderr);
  apps::note("\r\x1b[K{}\n", apps::clipped(detail::printable(text), std::max<std::size_t>(width, 1) - 1));
  std::fflush(stderr);
  ++lines_;
  visible_ = true;
}

void Progress::clear() {
  if (!visible_) return;
  apps::note("\r\x1b[K");
  if (const int lines = lines_.exchange(0); lines > 0) apps::note("\x1b[{}A\x1b[J", lines); // up, and all below off
  std::fflush(stderr);
  visible_ = false;
}

} // namespace tessera::compare_app
