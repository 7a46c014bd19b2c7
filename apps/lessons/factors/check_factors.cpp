#include "check_factors.hpp"

#include "factor_marking.hpp"
#include "references.hpp"

namespace tessera::lessons {
namespace {

namespace fs = std::filesystem;

/// Races the learner's function with the rung, and with what stood in the file, where that is right.
void race_factors(const Lesson& lesson, const judge::KernelFile& yours, const Limits& limits,
                  const std::function<void(const char*)>& say, Report& report) {
  say("racing");
  report.is_busy = is_machine_busy();
  const auto time_of = [&](const char* rung) {
    const Built built(lesson, source_root() / rung, Purpose::Run);
    return built.is_good() ? time_factors(lesson, {built.library(), judge::Device::Cpu, {}}, limits) : 0;
  };
  const Compared seconds{.yours = time_factors(lesson, yours, limits),
                         .before = lesson.counter == Counter::Nothing ? 0 : time_of(lesson.before_file),
                         .rung = time_of(lesson.rung_file)};
  if (seconds.yours > 0 && seconds.rung > 0) report.seconds = seconds;
}

} // namespace

void check_factors(const Lesson& lesson, const fs::path& file, const Limits& limits,
                   const std::function<void(const char*)>& say, Report& report) {
  const std::unique_ptr<Built> yours = built_to_mark(lesson, file, say, report);
  if (yours == nullptr) return;
  const judge::KernelFile kernel(yours->library(), judge::Device::Cpu, {});
  say("marking");
  const FactorMark marked = mark_factors(lesson, kernel, limits);
  report.right = marked.right;
  report.output = marked.output;
  report.finding = marked.finding;
  report.where = marked.where;
  if (!report.finding.none()) return;
  if (lesson.counter != Counter::Nothing) {
    say("counting");
    const auto mine = count_factors(lesson, file, limits);
    const References counted =
        references(lesson, [&](const char* rung) { return count_factors(lesson, source_root() / rung, limits); });
    if (mine && counted.before && counted.rung) report.counts = {*mine, *counted.before, *counted.rung};
  }
  if (limits.races) race_factors(lesson, kernel, limits, say, report);
}

} // namespace tessera::lessons
