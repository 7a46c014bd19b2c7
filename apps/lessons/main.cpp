/// tessera_learn: the lessons, one for each rung of the textbook that a learner can write. ./tessera learn starts it.

#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <exception>
#include <thread>

#include <fmt/format.h>

#include <tessera/backend.hpp>
#include <tessera/status.hpp>

#include "build.hpp"
#include "catalogue.hpp"
#include "check.hpp"
#include "folder.hpp"
#include "gemm_judge/processes/left_behind.hpp"
#include "progress.hpp"

namespace tessera::lessons {
namespace {

namespace fs = std::filesystem;

constexpr const char* usage_text = R"(usage: ./tessera learn [LESSON] [--check] [--in FOLDER]

Without a lesson it lists the lessons and which of them you passed.

LESSON         makes the folder tessera-lessons/LESSON, with the task and the rung before: cpu-02 or transposed
--check        compiles the lesson's file, marks it, and compares it with the rung before and with the rung
--in FOLDER    the folder in which the lessons' folders are; by default tessera-lessons where you are

The exit status is 0 if a checked lesson is passed, 1 if not, and 2 for bad usage or a missing tool.
)";

struct Arguments {
  std::string lesson;
  bool check = false, help = false;
  std::string in;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments read;
  for (int at = 1; at < argc; ++at) {
    const std::string word = argv[at];
    if (word == "--check") {
      read.check = true;
    } else if (word == "--help" || word == "-h") {
      read.help = true;
    } else if (word == "--in") {
      if (++at == argc) throw InvalidArgument("--in needs a folder: --in FOLDER");
      read.in = argv[at];
    } else if (word.starts_with("--in=")) {
      read.in = word.substr(5);
    } else if (word.starts_with("-")) {
      throw InvalidArgument(fmt::format("learn has no option '{}'; it has --check, --in and --help", word));
    } else if (!read.lesson.empty()) {
      throw InvalidArgument(fmt::format("learn takes one lesson at a time, not '{}' and '{}'", read.lesson, word));
    } else {
      read.lesson = word;
    }
  }
  if (read.check && read.lesson.empty())
    throw InvalidArgument("--check needs a lesson: ./tessera learn cpu-02 --check");
  return read;
}

std::string state_of(const Done& done) {
  if (done.passed)
    return done.share > 0 ? fmt::format("passed, {:.0f} % of the rung's speed", 100 * done.share) : "passed";
  if (done.tries > 0) return fmt::format("begun, checked {} time{}", done.tries, done.tries == 1 ? "" : "s");
  return done.folder.empty() ? "" : "begun";
}

/// Says which lesson is the first that is not passed.
std::string next_text(const Progress& progress) {
  for (const Lesson& lesson : lessons())
    if (!progress.of(lesson.name).passed) return fmt::format("Next: ./tessera learn {}\n", lesson.name);
  return "All are passed. docs/kernels.md says how a rung of your own joins the ladder.\n";
}

void list() {
  const Progress progress;
  if (!progress.complaint().empty()) fmt::print(stderr, "tessera: {}\n", progress.complaint());
  fmt::print(
      "Lessons: you change one rung of the ladder into the next. ./tessera learn NAME makes the folder of one.\n\n");
  for (const Lesson& lesson : lessons()) {
    const Done& done = progress.of(lesson.name);
    const std::string state = state_of(done);
    fmt::print("  {:<7} {:<23} {}{}\n", lesson.name, lesson.rung, lesson.idea,
               state.empty() ? "" : "  [" + state + "]");
  }
  fmt::print("\n{}", next_text(progress));
}

fs::path parent_of(const Arguments& given) { return fs::absolute(given.in.empty() ? "tessera-lessons" : given.in); }

void tell(const std::string& complaint) {
  if (!complaint.empty()) fmt::print(stderr, "tessera: {}\n", complaint);
}

void begin(const Lesson& lesson, const Arguments& given) {
  const Folder folder = make_folder(lesson, parent_of(given));
  Progress progress;
  progress.of(lesson.name).folder = folder.path.string();
  tell(progress.save());
  fmt::print("{}\n", task_of(lesson));
  if (!folder.is_new)
    fmt::print("The folder is there already, and your file stays as it is; move it away to begin anew.\n");
  fmt::print("Read {}: {}\n", page_of(lesson).string(),
             lesson.counter == Counter::Nothing ? "what comes before it in the course"
                                                : "what the file has now, and what limits it");
  fmt::print("Edit {} (headers: below {})\nThen: ./tessera learn {} --check{}\n", folder.file.string(),
             (source_root() / headers_of(lesson)).string(), lesson.name, given.in.empty() ? "" : " --in " + given.in);
}

/// Returns the lesson's file: below the folder that is named, where the caller is, or where it was made.
fs::path file_to_check(const Lesson& lesson, const Arguments& given, const Progress& progress) {
  const fs::path here = parent_of(given) / lesson.name / file_name(lesson);
  std::error_code error;
  if (fs::is_regular_file(here, error)) return here;
  const fs::path there = fs::path(progress.of(lesson.name).folder) / file_name(lesson);
  if (given.in.empty() && there.is_absolute() && fs::is_regular_file(there, error)) return there;
  throw InvalidArgument(fmt::format("there is no {}; ./tessera learn {}{} makes it", here.string(), lesson.name,
                                    given.in.empty() ? "" : " --in " + given.in));
}

int check_lesson(const Lesson& lesson, const Arguments& given) {
  Progress progress;
  const fs::path file = file_to_check(lesson, given, progress);
  Limits limits;
  limits.threads = default_threads();
  const bool shows_steps = isatty(STDERR_FILENO) != 0;
  const Report report = check(lesson, file, limits, [&](const char* step) {
    if (shows_steps) fmt::print(stderr, "\r{}: {} …\033[K", lesson.name, step);
  });
  if (shows_steps) fmt::print(stderr, "\r\033[K");
  fmt::print("{}", to_text(lesson, report));
  Done& done = progress.of(lesson.name);
  ++done.tries;
  done.folder = file.parent_path().string();
  if (report.passed) {
    done.passed = true;
    done.share = std::max(done.share, report.share());
  }
  tell(progress.save());
  if (report.passed) fmt::print("{}", next_text(progress));
  return report.passed ? 0 : 1;
}

/// Leaves no compiled file and no process behind when a signal ends the program.
void clean_up_at_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals] {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) return;
    judge::leave_nothing_behind();
    _exit(128 + signal);
  }).detach();
}

int run(int argc, char** argv) {
  const Arguments given = read_arguments(argc, argv);
  if (given.help) {
    fmt::print("{}", usage_text);
  } else if (given.lesson.empty()) {
    list();
  } else if (const Lesson& lesson = lesson_named(given.lesson); given.check) {
    clean_up_at_signals();
    return check_lesson(lesson, given);
  } else {
    begin(lesson, given);
  }
  return 0;
}

} // namespace
} // namespace tessera::lessons

int main(int argc, char** argv) try { return tessera::lessons::run(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "tessera: %s\n", error.what());
  return 2;
}
