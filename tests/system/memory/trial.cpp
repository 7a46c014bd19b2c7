#include "trial.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <regex>
#include <typeinfo>

#include <boost/test/unit_test.hpp>

#include <tessera/status.hpp>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace memory_test {
namespace {

/// What a child process tells its parent, in memory that both share.
struct Report {
  long n = 0;             ///< the trial that runs, or ran last
  long failures = 0;      ///< allocations that failed
  long out_of_memory = 0; ///< trials that ended with OutOfMemory
  bool done = false;      ///< the last trial had no failing allocation
  bool lasting = false;
  std::size_t bytes = 0; ///< asked for by the allocation that failed
  char fault[1024] = "";
  char result[256] = "";
};

class SharedReport {
 public:
  SharedReport()
      : report_(new (mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Report) {
  }
  ~SharedReport() { munmap(report_, sizeof(Report)); }
  SharedReport(const SharedReport&) = delete;
  SharedReport& operator=(const SharedReport&) = delete;
  Report& operator*() const { return *report_; }
  Report* operator->() const { return report_; }

 private:
  Report* report_;
};

/// Ends the child with a text for the parent.
[[noreturn]] void fail(Report& report, const std::string& why) {
  std::snprintf(report.fault, sizeof report.fault, "%s", why.c_str());
  _exit(1);
}

std::string digest(const std::string& bytes) {
  return std::to_string(bytes.size()) + " bytes, hash " + std::to_string(std::hash<std::string>()(bytes));
}

/// Does the text say how much was asked for? "less than N bytes" stands for the small allocations of a call. Where the
/// shortage lasts there is no memory for a text either, and the constant one need not say it.
bool says_how_much(const std::string& text, std::size_t asked, Lasting lasting) {
  if (lasting == Lasting::Yes) return text.find("memory") != std::string::npos;
  static const std::regex amount("(less than )?([0-9]+) bytes");
  for (std::sregex_iterator at(text.begin(), text.end(), amount), end; at != end; ++at) {
    const std::size_t number = std::stoull((*at)[2].str());
    // The library asks for more than the text says: for whole pages, and from 1 MiB on for huge pages as well.
    const std::size_t rounding = std::max<std::size_t>(4096, number >> 20 << 21);
    // The loader does not say how much it asked for, so the text has the size of the library.
    if (text.find("a file of " + (*at)[0].str()) != std::string::npos) return true;
    if ((*at)[1].matched ? asked < number : number <= asked && asked <= number + rounding) return true;
  }
  return false;
}

/// What a call under a shortage did.
struct Outcome {
  Counted counted;
  bool worked = false;
  bool out_of_memory = false;
  std::string text;
};

Outcome call_short_of_memory(const EntryPoint& entry, long n, Lasting lasting) {
  Outcome outcome;
  std::exception_ptr thrown;
  arm(n, lasting);
  try {
    entry.call();
    outcome.worked = true;
  } catch (...) {
    thrown = std::current_exception();
  }
  outcome.counted = disarm();
  if (thrown) try {
      std::rethrow_exception(thrown);
    } catch (const tessera::OutOfMemory& error) {
      outcome.out_of_memory = true;
      outcome.text = error.what();
    } catch (const std::exception& error) {
      outcome.text = std::string(typeid(error).name()) + ": " + error.what();
    } catch (...) {
      outcome.text = "something that is not a std::exception";
    }
  return outcome;
}

/// Judges one trial and calls again without a shortage.
void judge(const EntryPoint& entry, Report& report, const Outcome& outcome, const std::string& before,
           const std::string& expected, Lasting lasting) {
  const std::string after = entry.result();
  const std::string told = ", whose text is: " + outcome.text;
  if (outcome.worked) {
    if (after != expected) fail(report, "the call returned, but its result is wrong: " + digest(after));
  } else {
    const bool tells_of_parts =
        entry.may_write_parts && outcome.text.find("parts of C were written already") != std::string::npos;
    if (!outcome.out_of_memory && !tells_of_parts) fail(report, "it threw another error than OutOfMemory" + told);
    if (!says_how_much(outcome.text, outcome.counted.bytes, lasting))
      fail(report, "its error does not say how much was asked for" + told);
    if (!tells_of_parts && after != before) fail(report, "it changed its result in spite of the error" + told);
    ++report.out_of_memory;
  }
  entry.reset();
  try {
    entry.call();
  } catch (const std::exception& error) {
    fail(report, std::string("the next call failed too, though there was memory: ") + error.what());
  }
  if (entry.result() != expected) fail(report, "the next call's result is wrong: " + digest(entry.result()) + told);
}

/// Runs one trial in this process. Returns false if no allocation failed, because the call makes fewer.
bool run_trial(const EntryPoint& entry, Report& report, long n, Lasting lasting, const std::string& expected) {
  report.n = n;
  report.lasting = lasting == Lasting::Yes;
  entry.reset();
  const std::string before = entry.result();
  const Outcome outcome = call_short_of_memory(entry, n, lasting);
  report.bytes = outcome.counted.bytes;
  judge(entry, report, outcome, before, expected, lasting);
  if (outcome.counted.failed) ++report.failures;
  return outcome.counted.failed;
}

/// Runs `body` in a child process. Returns how the child ended; empty if well.
std::string run_child(Report& report, const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM}) signal(number, SIG_DFL);
    alarm(120);
    try {
      body();
    } catch (const std::exception& error) {
      fail(report, std::string("the test itself failed: ") + error.what());
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const std::string how = WIFSIGNALED(status) ? std::string("it was ended by ") + strsignal(WTERMSIG(status))
                          : *report.fault
                              ? std::string(report.fault)
                              : "it ended the process with exit status " + std::to_string(WEXITSTATUS(status));
  return "allocation " + std::to_string(report.n) + (report.lasting ? " and all after it" : "") + " (" +
         std::to_string(report.bytes) + " bytes) failed: " + how;
}

/// Returns the right result, which a process without a shortage computes, and how many blocks it leaves.
std::string expected_of(const EntryPoint& entry, Report& report) {
  const std::string fault = run_child(report, [&] {
    entry.reset();
    entry.call();
    const std::string result = entry.result();
    entry.reset();
    entry.call();
    if (entry.result() != result) fail(report, "two calls without a shortage differ");
    // The parent gets the result in a file, since it may be long.
    std::FILE* file = std::fopen(report.result, "wb");
    if (file == nullptr || std::fwrite(result.data(), 1, result.size(), file) != result.size() ||
        std::fclose(file) != 0)
      fail(report, "the result cannot be written");
  });
  BOOST_TEST_REQUIRE(fault == "");
  std::string result;
  std::FILE* file = std::fopen(report.result, "rb");
  BOOST_TEST_REQUIRE((file != nullptr));
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) result += static_cast<char>(c);
  std::fclose(file);
  std::remove(report.result);
  return result;
}

void name_result_file(Report& report) {
  std::snprintf(report.result, sizeof report.result, "memory-result-%d", getpid());
}

void print(const EntryPoint& entry, const char* use, long failures, long thrown) {
  BOOST_TEST_MESSAGE(entry.name << ", " << use << ": " << failures << " allocations failed, " << thrown
                                << " times the call ended with an error, else with its result");
  std::printf("%-44s %-9s %5ld allocations failed, %5ld errors\n", entry.name.c_str(), use, failures, thrown);
}

/// An entry point at which nothing failed was not tested.
void expect_failures(long failures) {
  if (only_operator_new && failures == 0)
    std::puts("  skipped: under a sanitizer only operator new fails, and the call uses malloc");
  else
    BOOST_TEST(failures > 0);
}

/// First uses take some milliseconds each, more under a sanitizer. So of the shortages that last, only some are tried,
/// and of all of them under a sanitizer.
constexpr long step_of(Lasting lasting) { return only_operator_new ? 11 : lasting == Lasting::Yes ? 5 : 1; }

/// An entry point with more allocations is an endless loop.
constexpr long most_trials = 20000;

} // namespace

void check_first_use(const EntryPoint& entry) {
  SharedReport report;
  name_result_file(*report);
  const std::string expected = expected_of(entry, *report);
  long faults = 0;
  for (const Lasting lasting : {Lasting::No, Lasting::Yes})
    for (long n = 1; n < most_trials; n += step_of(lasting)) {
      report->fault[0] = '\0';
      report->done = false;
      const std::string fault = run_child(*report, [&] {
        if (entry.warm_up) entry.warm_up();
        report->done = !run_trial(entry, *report, n, lasting, expected);
      });
      BOOST_CHECK_MESSAGE(fault.empty(), entry.name << ", first use: " << fault);
      if (report->done || (!fault.empty() && ++faults > 200)) break;
    }
  print(entry, entry.warm_up ? "warm" : "first", report->failures, report->out_of_memory);
  expect_failures(report->failures);
}

void check_later_use(const EntryPoint& entry) {
  SharedReport report;
  name_result_file(*report);
  const std::string expected = expected_of(entry, *report);
  const auto trials = [&](Lasting lasting) {
    for (long n = 1; n < most_trials && run_trial(entry, *report, n, lasting, expected); ++n)
      ;
  };
  const std::string fault = run_child(*report, [&] {
    entry.reset();
    entry.call();
    const auto round = [&] {
      for (const Lasting lasting : {Lasting::No, Lasting::Yes}) trials(lasting);
    };
    round();
    const long failures = report->failures, out_of_memory = report->out_of_memory;
    // A leak grows in each round. A thread that a busy machine makes a round start, and that stays, does not; nor do
    // the tasks that a library of threads keeps for later: there are never more than once ran at the same time.
    constexpr int most_rounds = 16;
    long grown = 1;
    for (int further = 0; further < most_rounds && grown > 0; ++further) {
      const long before = live_blocks();
      round();
      grown = live_blocks() - before;
    }
    if (grown > 0) fail(*report, "the trials leak: each round leaves blocks, the last one " + std::to_string(grown));
    report->failures = failures;
    report->out_of_memory = out_of_memory;
#if defined(__SANITIZE_ADDRESS__)
    if (__lsan_do_recoverable_leak_check() != 0) fail(*report, "the trials leak");
#endif
  });
  BOOST_CHECK_MESSAGE(fault.empty(), entry.name << ", later use: " << fault);
  print(entry, "later", report->failures, report->out_of_memory);
  expect_failures(report->failures);
}

} // namespace memory_test
