/// Tests that each cheating kernel gets the verdict that names what it did, and that the judge goes on.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "gemm_judge/elements.hpp"
#include "trial.hpp"

namespace tessera::judge::testing {
namespace {

struct Expected {
  const char* kernel;
  Offence offence;
  const char* said; ///< A part of the explanation.
  double time_limit = 20;
  bool whole = false; ///< `said` is the whole explanation
  int threads = 2;
  std::size_t memory_limit = std::size_t{1} << 30;
};

std::ostream& operator<<(std::ostream& out, const Expected& cheat) { return out << cheat.kernel; }

const Expected cheats[] = {
    {"whole_tiles_only", Offence::WrongAtEdges, "were not written"},
    {"whole_k_tiles_only", Offence::Wrong, "it is the product of k = 32, not 37"},
    {"adds_to_c", Offence::NotANumber, "call 1: 2250 of 2250 elements of C are NaN"},
    {"nan_inside", Offence::NotANumber, "call 1: 1 of 2250 elements of C are NaN"},
    {"low_precision", Offence::Wrong, "C("},
    {"cached_answer", Offence::CachedAnswer,
     "call 2: C is bit for bit what an earlier call with other data returned; 1 before it was right"},
    {"returns_early", Offence::NotWritten, "call 2: C was not written; 1 before it was right"},
    {"modifies_inputs", Offence::ModifiesInputs, "B(1, 2) was changed"},
    {"writes_behind_c", Offence::WritesOutOfBounds, "memory 0 bytes behind the end of C was changed"},
    {"writes_before_a", Offence::WritesOutOfBounds, "memory 12 bytes in front of A was changed"},
    {"late_write", Offence::WritesLate, "C changed after the kernel had returned"},
    {"late_write_long", Offence::WritesLate, "call 1: C changed after the kernel had returned"},
    {"hangs", Offence::Hangs, "not done after 1 s in call 1", 1},
    {"hangs_while_loading", Offence::Hangs, "not done after 1 s while the library was opened", 1},
    {"hangs_with_children", Offence::Hangs, "in call 1", 1},
    {"crashes", Offence::Crashed, "SIGSEGV (Segmentation fault) in call 1"},
    {"aborts", Offence::Crashed, "SIGABRT (Aborted) in call 1"},
    {"overflows_stack", Offence::Crashed, "SIGSEGV (Segmentation fault) in call 1"},
    {"exits", Offence::Exits, "the process ended with status "},
    {"kills_itself", Offence::Exits, "was killed, in call 1"},
    {"throws", Offence::Throws, "tiles of 32 only in call 1"},
    {"floods_output", Offence::FloodsOutput, "more than 16 MiB of output in call 1"},
    {"forges_reply", Offence::BreaksProtocol, "no reply"},
    {"forges_finding", Offence::BreaksProtocol,
     "a reply of a difference at byte -9223372036854775808 of an operand of 9000 bytes in call 1"},
    {"forges_time", Offence::ForgesTime, "it says -1e+300 s, and the judge waited "},
    {"forges_negative_time", Offence::ForgesTime, "it says -1 s, and the judge waited "},
    {"forges_zero_time", Offence::ForgesTime, "it says 0 s, and the judge waited "},
    {"forges_nan_time", Offence::ForgesTime, "it says nan s, and the judge waited "},
    {"forges_inf_time", Offence::ForgesTime, "it says inf s, and the judge waited "},
    {"forges_small_time", Offence::BreaksProtocol, "a reply to another command in call 1"},
    {"patched_clock", Offence::ForgesTime, "but its thread ran for "},
    {"early_reply", Offence::BreaksProtocol, ""},
    {"answers_all_commands", Offence::BreaksProtocol, ""},
    {"zeroes_images", Offence::Wrong, "call 1: C("},
    {"takes_over", Offence::BreaksProtocol, "the kernel answered in the judge's place and never returned in call 1"},
    {"helper_thread", Offence::WritesLate, "C changed after the kernel had returned"},
    {"helper_process", Offence::WritesLate, "C changed after the kernel had returned"},
    {"late_garbage", Offence::WritesLate, "C changed after the kernel had returned"},
    {"two_threads", Offence::UsesMoreThreads, "", 20, false, 1},
    {"changes_rounding", Offence::FloatingState, "call 1: the kernel left it changed: the rounding mode"},
    {"hides_flushing", Offence::FlushesSubnormals, " is 0, not "},
    {"flushes_subnormals", Offence::FloatingState, "call 1: the kernel left it changed: F"},
    {"children_eat_memory", Offence::ExceedsMemory, "processes hold ", 20, false, 2, std::size_t{64} << 20},
    {"leaderless_processes", Offence::ExceedsMemory, "processes hold ", 20, false, 2, std::size_t{64} << 20},
    {"published_zeroes_inputs", Offence::ModifiesInputs, "call 1: A(0, "},
    {"published_empty_memory", Offence::Wrong, "call 1: C("},
    {"published_nan_everywhere", Offence::NotANumber, "call 1: 2250 of 2250 elements of C are NaN"},
    {"published_zeros", Offence::Wrong, "call 1: C("},
    {"published_batches_calls", Offence::NotWritten, "call 1: C was not written"},
    {"published_replays_inputs", Offence::CachedAnswer,
     "C is bit for bit what an earlier call with other data returned"},
    {"published_copies_input", Offence::Wrong, "call 1: C("},
    {"published_overwrites_report", Offence::Wrong, "call 1: C(0, 0) is "},
    {"forges_fault", Offence::Crashed, "SIGABRT (Aborted) in call 1", 20, true},
    {"no_symbol", Offence::MissingSymbol, "it does not export solve"},
    {"undefined_symbol", Offence::CannotLoad, "undefined symbol"},
};

} // namespace

BOOST_AUTO_TEST_SUITE(cheats_suite)

BOOST_DATA_TEST_CASE(each_cheat_is_named, boost::unit_test::data::make(cheats), cheat) {
  const JudgeVerdict verdict = try_kernel({.kernel = cheat.kernel,
                                           .time_limit = cheat.time_limit,
                                           .threads = cheat.threads,
                                           .memory_limit = cheat.memory_limit});
  BOOST_CHECK(verdict.outcome == Outcome::Judged);
  BOOST_CHECK_EQUAL(verdict.offence, cheat.offence);
  BOOST_CHECK_MESSAGE(verdict.why.find(cheat.said) != std::string::npos,
                      "'" << verdict.why << "' does not say '" << cheat.said << "'");
  if (cheat.whole) BOOST_CHECK_EQUAL(verdict.why, cheat.said);
}

#if !defined(TESSERA_RUNS_SANITIZED_PROGRAMS) // The sanitizer's shadow memory leaves no room for a limit.
BOOST_AUTO_TEST_CASE(memory_is_limited) {
  const JudgeVerdict verdict = try_kernel({.kernel = "eats_memory"});
  BOOST_CHECK_EQUAL(verdict.offence, Offence::ExceedsMemory);
  BOOST_CHECK(verdict.why.find("bad_alloc in call 1, with 1024 MiB") != std::string::npos);
}
#endif

BOOST_AUTO_TEST_CASE(what_a_kernel_printed_is_kept) {
  BOOST_CHECK(try_kernel({.kernel = "aborts"}).output.find("assertion failed: m % 32 == 0") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_wrong_kernel_is_still_timed) {
  BOOST_CHECK_EQUAL(try_kernel({.kernel = "nan_inside"}).seconds.size(), 3);
}

/// Counts the processes that run gemm_judge and have `mark` in their environment. Other tests run other judges.
static int judges_at_work(const std::string& mark) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink(entry.path() / "exe", error);
    if (error || program != std::filesystem::path(JUDGE_PROGRAM)) continue;
    std::ifstream file(entry.path() / "environ");
    const std::string environment{std::istreambuf_iterator<char>(file), {}};
    count += environment.find(mark) != std::string::npos;
  }
  return count;
}

/// The judge kills the whole process group when it has the verdict. A process needs a moment to be gone.
BOOST_AUTO_TEST_CASE(nothing_of_a_hanging_kernel_is_left) {
  const std::string value = "of_" + std::to_string(getpid());
  BOOST_REQUIRE_EQUAL(setenv("TESSERA_TEST_JUDGES", value.c_str(), 1), 0);
  const std::string mark = "TESSERA_TEST_JUDGES=" + value;
  std::atomic<int> seen = 0;
  std::jthread watch([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      seen = std::max(seen.load(), judges_at_work(mark));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  try_kernel({.kernel = "hangs_with_children", .time_limit = 1});
  watch.request_stop();
  watch.join();
  BOOST_TEST(seen > 0, "the judge was not seen while it worked");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (judges_at_work(mark) > 0 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  BOOST_CHECK_EQUAL(judges_at_work(mark), 0);
  unsetenv("TESSERA_TEST_JUDGES");
}

/// A process in a session of its own, whose parent has ended, is found and killed too.
BOOST_AUTO_TEST_CASE(nothing_of_a_kernel_escapes) {
  for (const std::uint32_t without : {0U, +PidNamespace, PidNamespace | SystemCallFilter}) BOOST_TEST_CONTEXT(without) {
      const std::string value = "escape_" + std::to_string(getpid());
      BOOST_REQUIRE_EQUAL(setenv("TESSERA_TEST_JUDGES", value.c_str(), 1), 0);
      try_kernel({.kernel = "escapes", .without_layers = without});
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (judges_at_work("TESSERA_TEST_JUDGES=" + value) > 0 && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      BOOST_CHECK_EQUAL(judges_at_work("TESSERA_TEST_JUDGES=" + value), 0);
      unsetenv("TESSERA_TEST_JUDGES");
    }
}

/// Linux refuses further processes where the kernel has a name space of its own. It refuses root none, whose processes
/// the judge counts.
#if !defined(TESSERA_RUNS_SANITIZED_PROGRAMS) // A process with the sanitizer's shadow memory is slow to copy.
BOOST_AUTO_TEST_CASE(processes_are_limited) {
  for (const std::uint32_t without : {0U, +PidNamespace}) BOOST_TEST_CONTEXT(without) {
      const JudgeVerdict verdict = try_kernel({.kernel = "fork_bomb", .without_layers = without});
      if (verdict.passed() && geteuid() != 0 && without == 0) continue;
      BOOST_CHECK_EQUAL(verdict.offence, Offence::TooManyProcesses);
      BOOST_TEST(verdict.why.find(" processes and threads in call ") != std::string::npos, verdict.why);
    }
}
#endif

double least(const std::vector<double>& seconds) { return *std::min_element(seconds.begin(), seconds.end()); }

/// The bits of an old answer are right. It gains nothing, because each timed call has data that no other call tells,
/// and it gives itself away by its time. Other programs may make all calls slow.
BOOST_AUTO_TEST_CASE(an_old_answer_gains_nothing) {
  const Case sizes{.m = 200, .n = 210, .k = 190, .tolerance = 1e-4, .threads = 1, .repeat = 5};
  const auto with = [&](const char* kernel) {
    Case test = sizes;
    test.kernel = kernel;
    return try_kernel(test);
  };
  const JudgeVerdict honest = with("honest");
  BOOST_TEST_REQUIRE(honest.passed(), honest.why);
  for (const char* kernel : {"shuffled_answer", "rotation_table"}) BOOST_TEST_CONTEXT(kernel) {
      const JudgeVerdict verdict = with(kernel);
      if (!verdict.passed()) BOOST_CHECK_EQUAL(verdict.offence, Offence::CachedAnswer);
      BOOST_TEST((!verdict.passed() || !verdict.too_busy.empty()));
      BOOST_TEST(least(verdict.seconds) > 0.5 * least(honest.seconds));
    }
}

/// However short a call is, a second thread shares the processor of the first one, and each computes half as fast.
/// Calls of this size are so short that Linux' count of processor time does not tell.
BOOST_AUTO_TEST_CASE(a_second_thread_gains_nothing) {
  if (std::thread::hardware_concurrency() < 2) return;
  double honest = 1, with_two = 1;
  for (int attempt = 0; attempt < 3; ++attempt) { // the fastest of all, because other programs make calls slow
    Case test{.kernel = "honest", .m = 80, .n = 80, .k = 80, .tolerance = 1e-4, .threads = 1, .repeat = 9};
    honest = std::min(honest, least(try_kernel(test).seconds));
    test.kernel = "second_thread";
    const JudgeVerdict verdict = try_kernel(test);
    if (!verdict.missing.empty()) return; // without a filter of system calls, threads go where they want
    if (!verdict.passed()) BOOST_CHECK_EQUAL(verdict.offence, Offence::UsesMoreThreads);
    if (!verdict.seconds.empty()) with_two = std::min(with_two, least(verdict.seconds));
  }
  BOOST_TEST(with_two > 1.15 * honest);
}

/// What the kernel's own processes make its thread wait is part of its time.
BOOST_AUTO_TEST_CASE(waiting_counts) {
  const JudgeVerdict verdict =
      try_kernel({.kernel = "pretends_to_wait", .m = 200, .n = 200, .k = 200, .tolerance = 1e-4, .threads = 1});
  const JudgeVerdict honest =
      try_kernel({.kernel = "honest", .m = 200, .n = 200, .k = 200, .tolerance = 1e-4, .threads = 1});
  BOOST_TEST_REQUIRE(honest.passed(), honest.why);
  if (verdict.passed()) BOOST_TEST(least(verdict.seconds) > 10 * least(honest.seconds)); // it multiplies 20 times
}

/// A right product may be subnormal, or near the end of its type's range.
BOOST_AUTO_TEST_CASE(factors_of_every_size) {
  for (const DType type : {DType::F32, DType::F64, DType::F16, DType::BF16})
    for (const double alpha : {1e-42, 1e-7, 1e3, type == DType::F16 ? 1.0 : 1e30})
      BOOST_TEST_CONTEXT(to_string(type) << ", alpha = " << alpha) {
        const JudgeVerdict verdict = try_kernel({.kernel = "tessera_honest",
                                                 .abi = Abi::Tessera,
                                                 .type = type,
                                                 .m = 7,
                                                 .n = 31,
                                                 .k = 200,
                                                 .alpha = alpha,
                                                 .tolerance = 1e300,
                                                 .repeat = 4});
        BOOST_TEST(verdict.passed(), verdict.why);
      }
}

/// Precision that is spared shows at every k: the errors of drawn elements are larger than f32 makes them.
BOOST_AUTO_TEST_CASE(low_precision_at_every_k) {
  for (const char* kernel :
       {"tf32_operands", "f16_sums", "zeros_for_long_sums", "half_of_long_sums", "narrow_exponents"})
    for (const Index k : {100, 1500, 40000}) BOOST_TEST_CONTEXT(kernel << ", k = " << k) {
        const JudgeVerdict verdict =
            try_kernel({.kernel = kernel, .m = 7, .n = 31, .k = k, .tolerance = 1, .repeat = 6});
        BOOST_TEST(!verdict.passed());
        BOOST_CHECK(verdict.outcome == Outcome::Judged);
      }
}

/// Where honest errors of long sums hide fewer bits, sums of few terms show them.
BOOST_AUTO_TEST_CASE(fewer_bits_show_in_short_sums) {
  for (const char* kernel : {"split_operands", "short_partial_sums"})
    for (const Index k : {150, 1500, 40000}) BOOST_TEST_CONTEXT(kernel << ", k = " << k) {
        const JudgeVerdict verdict =
            try_kernel({.kernel = kernel, .m = 7, .n = 31, .k = k, .tolerance = 1, .repeat = 3});
        BOOST_CHECK_EQUAL(verdict.offence, Offence::Wrong);
      }
}

/// What is written between the reply and the moment at which all processes stand still is late.
BOOST_AUTO_TEST_CASE(a_half_that_comes_late_is_found) {
  const JudgeVerdict verdict = try_kernel({.kernel = "finishes_late", .m = 60, .n = 70, .k = 50, .repeat = 100});
  BOOST_CHECK_EQUAL(verdict.offence, Offence::WritesLate);
}

/// The errors of honest sums are never taken for others.
BOOST_AUTO_TEST_CASE(honest_errors_at_every_k) {
  for (const DType type : {DType::F32, DType::F64, DType::F16, DType::BF16})
    for (const Index k : {1, 100, 1500, 40000}) BOOST_TEST_CONTEXT(to_string(type) << ", k = " << k) {
        const JudgeVerdict verdict =
            try_kernel({.kernel = "solve_types", .type = type, .m = 7, .n = 31, .k = k, .tolerance = 1, .repeat = 20});
        BOOST_TEST(verdict.passed(), verdict.why);
      }
}

/// A kernel that computes with too few digits is wrong with whole numbers in int8; in 16 bits its errors exceed the
/// rounding of C.
BOOST_AUTO_TEST_CASE(low_precision_of_other_types) {
  const JudgeVerdict int8 = try_kernel({.kernel = "low_precision_types", .type = DType::I8});
  BOOST_CHECK_EQUAL(int8.offence, Offence::Wrong);
  BOOST_TEST(int8.why.starts_with("call 1: C("), int8.why);
  for (const DType type : {DType::F16, DType::BF16}) BOOST_TEST_CONTEXT(to_string(type)) {
      const JudgeVerdict verdict = try_kernel({.kernel = "low_precision_types", .type = type, .k = 200});
      BOOST_CHECK_EQUAL(verdict.offence, Offence::Wrong);
      BOOST_TEST(verdict.why.ends_with(" right"), verdict.why); // the products of whole numbers are right
    }
}

/// The walk over the heap is for glibc's, and finds what malloc itself would find much later.
#if !defined(TESSERA_RUNS_SANITIZED_PROGRAMS)
BOOST_AUTO_TEST_CASE(a_smashed_heap_is_found) {
  const JudgeVerdict verdict = try_kernel({.kernel = "smashes_heap"});
  BOOST_CHECK_EQUAL(verdict.offence, Offence::SmashesHeap);
  BOOST_CHECK_MESSAGE(verdict.why.starts_with("call 1: "), verdict.why);
}
#endif

BOOST_AUTO_TEST_CASE(a_slow_first_call_changes_no_number_of_calls) {
  const JudgeVerdict verdict = try_kernel({.kernel = "published_slow_warmup", .repeat = 5});
  BOOST_TEST(verdict.passed(), verdict.why);
  BOOST_CHECK_EQUAL(verdict.seconds.size(), 5);
}

BOOST_AUTO_TEST_CASE(edges_show_at_odd_shapes) {
  const KernelFile file(kernel_path("whole_tiles_only"), {}, {});
  JudgeRequest request;
  request.kernel = &file;
  request.program = JUDGE_PROGRAM;
  const JudgeVerdict verdict = judge_odd_shapes(request);
  BOOST_CHECK(!verdict.passed());
  BOOST_CHECK(verdict.why.find("17×19×23") != std::string::npos);
  // A shape of whole tiles does not show it.
  BOOST_CHECK(try_kernel({.kernel = "whole_tiles_only", .m = 32, .n = 48, .k = 16}).passed());
}

BOOST_AUTO_TEST_CASE(padding_between_rows_belongs_to_others) {
  const JudgeVerdict verdict = try_kernel({.kernel = "tessera_whole_rows", .abi = Abi::Tessera});
  BOOST_CHECK_EQUAL(verdict.offence, Offence::WritesOutOfBounds);
  BOOST_CHECK(verdict.why.find("padding between rows") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_kernel_may_report_its_own_failure) {
  const JudgeVerdict verdict = try_kernel({.kernel = "tessera_whole_rows", .abi = Abi::Tessera, .k = 13});
  BOOST_CHECK_EQUAL(verdict.offence, Offence::ReportsFailure);
  BOOST_CHECK(verdict.why.find("it returned 42") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::judge::testing
