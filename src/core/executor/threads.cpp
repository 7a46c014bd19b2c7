#include "threads.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <tessera/backend.hpp>
#include <tessera/backend/log.hpp>
#include <tessera/detail/processors.hpp>
#include <tessera/status.hpp>

#include "cgroup_quota.hpp"

namespace tessera {
namespace {

constexpr const char* our_variable = "TESSERA_NUM_THREADS";
constexpr const char* openmp_variable = "OMP_NUM_THREADS";

std::atomic<bool> passes_over_wrong_ones = false;
std::atomic<bool> has_warned = false;

std::string_view without_spaces(std::string_view word) {
  constexpr std::string_view spaces = " \t";
  const std::size_t first = word.find_first_not_of(spaces);
  return first == word.npos ? std::string_view() : word.substr(first, word.find_last_not_of(spaces) + 1 - first);
}

/// Returns the number in a variable; none where it is not set.
std::optional<int> threads_from(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  // OMP_NUM_THREADS may list one number for each nesting level; the first one is for the outermost level.
  const std::string_view all(text);
  std::string_view word = all.substr(0, all.find(','));
  if (variable == openmp_variable) word = without_spaces(word); // OpenMP allows them
  int threads = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), threads);
  if (error == std::errc{} && end == word.data() + word.size() && threads >= 1) return threads;
  const std::string wrong = std::string(variable) + " = '" + text + "' is not a number of threads";
  const std::string advice = "; set a whole number from 1 on, or unset it";
  if (!passes_over_wrong_ones) throw InvalidArgument(wrong + advice);
  if (!has_warned.exchange(true)) log_line(wrong + " and is ignored" + advice);
  return std::nullopt;
}

} // namespace

int default_threads() {
  if (const auto threads = threads_from(our_variable)) return *threads;
  if (const auto threads = threads_from(openmp_variable)) return *threads;
  const int processors = detail::processors_of_process();
  return std::min(processors, processors_by_quota().value_or(processors));
}

void detail::pass_over_wrong_thread_variables() noexcept {
  passes_over_wrong_ones.store(true, std::memory_order_relaxed);
}

} // namespace tessera
