#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <future>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "counters.hpp"
#include "factors/check_factors.hpp"
#include "factors/factor_marking.hpp"
#include "gpu_kernel.hpp"
#include "race.hpp"
#include "references.hpp"

namespace tessera::lessons {
namespace {

namespace fs = std::filesystem;

/// Returns ": line 12: what the compiler says" for the first error in the learner's file; "" if there is none.
std::string first_error(const std::string& name, const std::string& output) {
  std::istringstream stream(output);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t file = line.find(name + ":"), error = line.find(": error: ");
    if (file == std::string::npos || error == std::string::npos || error < file) continue;
    const std::string place = line.substr(file + name.size() + 1, error - file - name.size() - 1);
    return fmt::format(": line {}: {}", place.substr(0, place.find(':')), line.substr(error + 9));
  }
  return {};
}

/// Returns the finding of a file that does not compile, of which the compiler said `output`.
Finding not_compiled(const Lesson& lesson, const std::string& output) {
  std::string look = "The compiler says where; the first error counts, the others may follow from it.";
  // GCC quotes names with typographic marks, and in another locale otherwise.
  const std::string name = lesson.machine == Machine::Gpu ? "launch" : "run";
  for (const std::string& complaint :
       {name + "’ is not a member", "call to ‘" + name + "<", name + "' is not a member"})
    if (output.find(complaint) != std::string::npos)
      look = fmt::format(
          "The file has to keep the function {}() with the arguments that it had at first: it is what is "
          "called.",
          name);
  return {Mistake::DoesNotCompile, "it does not compile" + first_error(file_name(lesson), output), look, output};
}

/// Races the learner's kernel, the rung before and the rung, one after another.
void race_all(const Lesson& lesson, const Built& yours, judge::Device device, const Limits& limits,
              const std::function<void(const char*)>& say, Report& report) {
  say("racing");
  report.is_busy = is_machine_busy();
  Limits one = limits; // other programs disturb one thread less than many
  one.threads = 1;
  if (!yours.is_good()) {
    report.finding = not_compiled(lesson, yours.compiler_output());
    return;
  }
  const Raced raced = race({yours.library(), device, {}}, lesson.race_size, one);
  report.finding = raced.finding;
  if (!report.finding.none()) {
    report.where = fmt::format("m = n = k = {}", lesson.race_size);
    return;
  }
  const fs::path root = source_root();
  auto of_before = std::async(std::launch::async,
                              [&] { return std::make_unique<Built>(lesson, root / lesson.before_file, Purpose::Run); });
  const Built rung(lesson, root / lesson.rung_file, Purpose::Run);
  const auto before = of_before.get();
  if (!before->is_good() || !rung.is_good()) return;
  const Raced of_it = race({before->library(), device, {}}, lesson.race_size, one);
  const Raced of_rung = race({rung.library(), device, {}}, lesson.race_size, one);
  if (raced.seconds > 0 && of_it.seconds > 0 && of_rung.seconds > 0)
    report.seconds = {raced.seconds, of_it.seconds, of_rung.seconds};
}

/// Marks a kernel of the processor, counts and races it. Returns whether all of it was possible.
void check_on_processor(const Lesson& lesson, const fs::path& file, const Limits& limits,
                        const std::function<void(const char*)>& say, Report& report) {
  const std::unique_ptr<Built> yours = built_to_mark(lesson, file, say, report);
  if (yours == nullptr) return;
  const judge::KernelFile kernel(yours->library(), judge::Device::Cpu, {});
  say("marking");
  const Caller call = [&](const Case& tried, int count) { return call_kernel(kernel, tried, limits, count); };
  const Mark marked = mark(call, cases_of(Machine::Processor), std::max(2, limits.threads));
  report.right = marked.right;
  report.output = marked.output;
  report.finding = marked.finding;
  if (marked.failed != nullptr) report.where = fmt::format("{} ({})", marked.failed->subject, to_text(*marked.failed));
  const fs::path root = source_root();
  if (report.finding.none() || report.finding.mistake == Mistake::NotANumber) {
    say("counting");
    const Counted counted = count(lesson, file, limits);
    if (!counted.finding.none()) {
      report.finding = counted.finding;
      report.where = "no size that a tile divides (m = 17, n = 19, k = 23)";
    }
    if (!report.finding.none()) return;
    const auto count_rung = [&](const char* rung) -> std::optional<double> {
      const Counted one = count(lesson, root / rung, limits);
      return one.known ? std::optional(one.value) : std::nullopt;
    };
    const References references_counted = references(lesson, count_rung);
    if (counted.known && references_counted.before && references_counted.rung)
      report.counts = {counted.value, *references_counted.before, *references_counted.rung};
  }
  if (!report.finding.none() || !limits.races) return;
  race_all(lesson, *yours, judge::Device::Cpu, limits, say, report);
}

/// The shape that a GPU lesson is counted on: whole tiles of every rung. Bank conflicts are the conflicts of a
/// transposed A, whose columns go into the rows of a tile.
Case counted_case(const Lesson& lesson) {
  return {.subject = "",
          .shape = {128, 128, 32},
          .op_a = lesson.counter == Counter::SharedWavefronts ? Op::Transpose : Op::None};
}

std::optional<double> count_on_gpu(const Lesson& lesson, const GpuKernel& kernel, double seconds) {
  if (!kernel.is_good()) return std::nullopt;
  lens::Report report;
  const Case tried = counted_case(lesson);
  if (!kernel.call(tried, seconds, &report).finding.none()) return std::nullopt;
  return counted_in(report, lesson.counter, tried);
}

/// Marks and counts a GPU kernel by the lens, and races it where there are a GPU and nvcc.
void check_on_gpu(const Lesson& lesson, const fs::path& file, const Limits& limits,
                  const std::function<void(const char*)>& say, Report& report) {
  say("compiling");
  const GpuKernel yours(file);
  if (!yours.is_good()) {
    report.finding = not_compiled(lesson, yours.compiler_output());
    return;
  }
  say("marking");
  const Caller call = [&](const Case& tried, int) { return yours.call(tried, limits.seconds); };
  const Mark marked = mark(call, cases_of(Machine::Gpu), 1);
  report.right = marked.right;
  report.output = marked.output;
  report.finding = marked.finding;
  if (marked.failed != nullptr) report.where = fmt::format("{} ({})", marked.failed->subject, to_text(*marked.failed));
  if (!report.finding.none()) return;
  say("counting");
  const fs::path root = source_root();
  const double seconds = 4 * limits.seconds;
  const auto count_rung = [&](const char* rung) { return count_on_gpu(lesson, GpuKernel(root / rung), seconds); };
  const auto mine = count_on_gpu(lesson, yours, seconds);
  const References counted = references(lesson, count_rung);
  if (mine && counted.before && counted.rung) report.counts = {*mine, *counted.before, *counted.rung};
  if (!limits.races) return;
  report.remark = why_not_timed();
  if (report.remark.empty())
    race_all(lesson, Built(lesson, file, Purpose::Run), judge::Device::Cuda, limits, say, report);
}

std::string first_lines(const std::string& text, int most) {
  std::string kept;
  int lines = 0;
  std::size_t at = 0;
  while (at < text.size() && lines < most) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    kept += "  " + text.substr(at, end - at) + "\n";
    at = end + 1;
    ++lines;
  }
  if (at < text.size()) kept += "  …\n";
  return kept;
}

/// Returns the lines that name a warning, each once.
std::string warnings_in(const std::string& output) {
  std::string found;
  std::istringstream stream(output);
  for (std::string line; std::getline(stream, line);)
    if (line.find(" warning: ") != std::string::npos && found.find(line) == std::string::npos) found += line + "\n";
  return found;
}

std::string number(double value) {
  return value >= 100 || value == std::round(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string milliseconds(double seconds) { return fmt::format("{:.3g} ms", 1e3 * seconds); }

std::string counts_text(const Lesson& lesson, const Compared& counts) {
  return fmt::format("  Count  {}:\n         yours {}, {} {}, {} {}\n", words_of(lesson.counter), number(counts.yours),
                     lesson.before, number(counts.before), lesson.rung, number(counts.rung));
}

std::string times_text(const Lesson& lesson, const Report& report) {
  const Compared& seconds = *report.seconds;
  const std::string before =
      seconds.before > 0 ? fmt::format("{} {}, ", lesson.before, milliseconds(seconds.before)) : "";
  return fmt::format("  Time   {0}×{0}, f32{1}: yours {2}, {3}{4} {5}: {6:.0f} % of the rung's speed\n",
                     lesson.race_size, lesson.machine == Machine::Gpu ? "" : ", one thread",
                     milliseconds(seconds.yours), before, lesson.rung, milliseconds(seconds.rung),
                     100 * report.share()) +
         (report.is_busy ? "         Other programs keep this machine busy: these times are rough.\n" : "");
}

} // namespace

std::unique_ptr<Built> built_to_mark(const Lesson& lesson, const fs::path& file,
                                     const std::function<void(const char*)>& say, Report& report) {
  say("compiling");
  auto built = std::make_unique<Built>(lesson, file, Purpose::Run);
  if (!built->is_good()) {
    report.finding = not_compiled(lesson, built->compiler_output());
    return nullptr;
  }
  report.warnings = built->compiler_output();
  return built;
}

bool is_machine_busy() {
  double load = 0;
  return getloadavg(&load, 1) == 1 && load > std::max(1u, std::thread::hardware_concurrency());
}

double Compared::way() const { return before == rung ? 1 : (before - yours) / (before - rung); }

Report check(const Lesson& lesson, const fs::path& file, const Limits& limits,
             const std::function<void(const char*)>& say) {
  Report report;
  const bool is_product = lesson.work == Work::Product;
  report.cases = static_cast<int>(is_product ? cases_of(lesson.machine).size() : factor_cases().size());
  if (!is_product)
    check_factors(lesson, file, limits, say, report);
  else if (lesson.machine == Machine::Gpu)
    check_on_gpu(lesson, file, limits, say, report);
  else
    check_on_processor(lesson, file, limits, say, report);
  for (const Hint& hint : lesson.hints)
    if (hint.mistake == report.finding.mistake && !report.finding.none())
      report.finding.look += (report.finding.look.empty() ? "" : " ") + std::string(hint.text);
  const bool is_counted = report.counts && report.counts->way() >= lesson.least_gain;
  report.passed = report.finding.none() && (is_counted || lesson.counter == Counter::Nothing);
  return report;
}

std::string to_text(const Lesson& lesson, const Report& report) {
  std::string text = fmt::format("{} {}\n", lesson.name, lesson.rung);
  const Finding& finding = report.finding;
  if (!finding.none()) {
    text += fmt::format("  Wrong  {}{}\n", finding.what, finding.what.ends_with('?') ? "" : ".");
    if (!report.where.empty())
      text +=
          fmt::format("  Where  {}{}\n", report.where,
                      report.right > 0 ? fmt::format("; {} of {} cases are right", report.right, report.cases) : "");
    if (!finding.look.empty()) text += fmt::format("  Hint   {}\n", finding.look);
    if (!finding.shown.empty()) text += "\n" + first_lines(finding.shown, 40);
  } else {
    text += fmt::format("  Right  in all {} cases: {}\n", report.cases,
                        lesson.work != Work::Product     ? "one block and several, sizes that no block divides, f64"
                        : lesson.machine == Machine::Gpu ? "edges, transposes, alpha and beta"
                                                         : "edges, transposes, leading dimensions, alpha and beta");
    if (report.counts) text += counts_text(lesson, *report.counts);
    if (report.seconds) text += times_text(lesson, report);
    if (!report.remark.empty()) text += fmt::format("  Time   {}\n", report.remark);
  }
  if (!report.output.empty()) text += "  It printed:\n" + first_lines(report.output, 10);
  if (const std::string warnings = warnings_in(report.warnings); !warnings.empty())
    text += "  The compiler warns:\n" + first_lines(warnings, 5);
  if (report.passed)
    text += fmt::format("\nPassed. Compare your file with the rung: {}\n", lesson.rung_file);
  else if (finding.none() && !report.counts)
    text += "\nNot passed: nothing could be counted.\n";
  else if (finding.none() && report.counts->way() < -0.1)
    text +=
        fmt::format("\nNot passed yet: right, but the count is worse than that of {}. task.md says what is asked.\n",
                    lesson.before);
  else if (finding.none() && report.counts->way() < 0.1)
    text +=
        fmt::format("\nNot passed yet: right, but the count is still that of {}. task.md says what has to change.\n",
                    lesson.before);
  else if (finding.none())
    text += fmt::format("\nNot passed yet: right, and {:.0f} % of the way from {} to {}; {:.0f} % are asked for.\n",
                        100 * report.counts->way(), lesson.before, lesson.rung, 100 * lesson.least_gain);
  else
    text += "\nNot passed yet.\n";
  return text;
}

} // namespace tessera::lessons
