/// Tests that honest kernels pass, with their times and with the product in the caller's order.

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include <boost/test/unit_test.hpp>

#include "gemm_judge/elements.hpp"
#include "trial.hpp"

namespace tessera::judge::testing {

BOOST_AUTO_TEST_SUITE(honest_suite)

BOOST_AUTO_TEST_CASE(passes) {
  for (const char* kernel : {"honest", "honest_threads", "reads_stdin"}) BOOST_TEST_CONTEXT(kernel) {
      const JudgeVerdict verdict = try_kernel({.kernel = kernel});
      BOOST_TEST(verdict.passed(), verdict.why);
      BOOST_CHECK_EQUAL(verdict.seconds.size(), 3);
      BOOST_CHECK(
          std::all_of(verdict.seconds.begin(), verdict.seconds.end(), [](double s) { return s > 0 && s < 10; }));
      BOOST_CHECK_EQUAL(verdict.c.size(), 45 * 50 * sizeof(float));
    }
}

BOOST_AUTO_TEST_CASE(one_by_one) { BOOST_CHECK(try_kernel({.kernel = "honest", .m = 1, .n = 1, .k = 1}).passed()); }

BOOST_AUTO_TEST_CASE(tessera_takes_everything) {
  for (const DType type : {DType::F32, DType::F64, DType::F16, DType::BF16})
    for (const Op op : {Op::None, Op::Transpose})
      for (const double beta : {0.0, 1.0, -0.5}) {
        const JudgeVerdict verdict = try_kernel({.kernel = "tessera_honest",
                                                 .abi = Abi::Tessera,
                                                 .type = type,
                                                 .op_a = op,
                                                 .op_b = op == Op::None ? Op::Transpose : Op::None,
                                                 .alpha = 1.5,
                                                 .beta = beta});
        BOOST_TEST(verdict.passed(), verdict.why);
      }
}

BOOST_AUTO_TEST_CASE(int8_operands) {
  for (const Op op : {Op::None, Op::Transpose})
    for (const double beta : {0.0, 1.0}) {
      const JudgeVerdict verdict = try_kernel({.kernel = "tessera_honest",
                                               .abi = Abi::Tessera,
                                               .type = DType::I8,
                                               .op_a = op,
                                               .op_b = op == Op::None ? Op::Transpose : Op::None,
                                               .beta = beta});
      BOOST_TEST(verdict.passed(), verdict.why);
      BOOST_CHECK_EQUAL(verdict.seconds.size(), 3);
    }
  const JudgeVerdict scaled =
      try_kernel({.kernel = "tessera_honest", .abi = Abi::Tessera, .type = DType::I8, .alpha = 2});
  BOOST_CHECK(scaled.outcome == Outcome::Rejected);
  BOOST_CHECK_EQUAL(scaled.why, "int8 kernels take alpha = 1, and beta = 0 or 1");
}

/// Where C has 16 bits, long sums of whole numbers are exact because most of A is 0.
BOOST_AUTO_TEST_CASE(every_type_has_a_solve) {
  for (const DType type : {DType::F32, DType::F64, DType::F16, DType::BF16, DType::I8})
    for (const Index k : {37, 1500}) BOOST_TEST_CONTEXT(static_cast<int>(type) << ", k = " << k) {
        const JudgeVerdict verdict = try_kernel({.kernel = "solve_types", .type = type, .k = k});
        BOOST_TEST(verdict.passed(), verdict.why);
        BOOST_CHECK_EQUAL(verdict.seconds.size(), 3);
      }
}

/// A call that sleeps, and one that computes for long, are honest; so is a large one.
BOOST_AUTO_TEST_CASE(slow_and_large_kernels_pass) {
  const JudgeVerdict slow = try_kernel({.kernel = "slow", .threads = 1});
  BOOST_TEST(slow.passed(), slow.why);
  BOOST_TEST(*std::min_element(slow.seconds.begin(), slow.seconds.end()) >= 0.06);
  BOOST_TEST(*std::max_element(slow.processor_seconds.begin(), slow.processor_seconds.end()) > 0);
  const JudgeVerdict large =
      try_kernel({.kernel = "honest_threads", .m = 700, .n = 300, .k = 600, .tolerance = 1e-4, .repeat = 2});
  BOOST_TEST(large.passed(), large.why);
}

BOOST_AUTO_TEST_CASE(cblas) {
  const Case test{.kernel = "cblas_honest", .abi = Abi::Cblas, .type = DType::F64, .op_a = Op::Transpose, .beta = 2};
  const JudgeVerdict verdict = try_kernel(test);
  BOOST_TEST(verdict.passed(), verdict.why);
}

BOOST_AUTO_TEST_CASE(what_an_abi_cannot_say_is_rejected) {
  const JudgeVerdict f64 = try_kernel({.kernel = "honest", .type = DType::F64});
  BOOST_CHECK(f64.outcome == Outcome::Rejected);
  BOOST_CHECK_EQUAL(f64.why, "it does not export solve_f64, as leetgpu kernels of this type do");
  BOOST_CHECK_EQUAL(try_kernel({.kernel = "cblas_honest", .abi = Abi::Cblas, .type = DType::F16}).why,
                    "cblas kernels take f32 or f64");
  BOOST_CHECK(try_kernel({.kernel = "honest", .beta = 1}).outcome == Outcome::Rejected);
  BOOST_CHECK(try_kernel({.kernel = "honest", .op_b = Op::Transpose}).outcome == Outcome::Rejected);
}

BOOST_AUTO_TEST_CASE(a_kernel_may_reject) {
  const JudgeVerdict verdict = try_kernel({.kernel = "tessera_whole_rows", .abi = Abi::Tessera, .type = DType::F64});
  BOOST_CHECK(verdict.outcome == Outcome::Rejected);
  BOOST_CHECK_EQUAL(verdict.why, "f32 only");
}

/// A container or an older Linux may lack any part of the sandbox.
BOOST_AUTO_TEST_CASE(without_parts_of_the_sandbox) {
  for (const std::uint32_t without :
       {0U, +PidNamespace, +LandlockFiles, +SystemCallFilter, +ControlGroupOfKernel,
        ControlGroupOfKernel | PidNamespace, PidNamespace | LandlockFiles | SystemCallFilter})
    BOOST_TEST_CONTEXT(without) {
      const JudgeVerdict verdict = try_kernel({.kernel = "honest_threads", .without_layers = without});
      BOOST_TEST(verdict.passed(), verdict.why);
      BOOST_TEST(verdict.round_trip > 0);
      BOOST_TEST(verdict.round_trip <= 1e-3);
      const auto lacks = [&](const char* what) {
        return std::any_of(verdict.missing.begin(), verdict.missing.end(),
                           [&](const std::string& one) { return one.find(what) != std::string::npos; });
      };
      BOOST_TEST((lacks("name space of processes") || (without & PidNamespace) == 0));
      BOOST_TEST((lacks("Landlock") || (without & LandlockFiles) == 0));
      BOOST_TEST((lacks("seccomp") || (without & SystemCallFilter) == 0));
    }
}

/// What a kernel from outside may not do is refused, and the kernel, which says so by a wrong C, is right.
BOOST_AUTO_TEST_CASE(what_is_refused_does_not_happen) {
  for (const char* kernel : {"stops_parent", "reads_parent", "writes_files"}) BOOST_TEST_CONTEXT(kernel) {
      const JudgeVerdict verdict = try_kernel({.kernel = kernel, .time_limit = 3});
      const bool guarded = verdict.missing.empty();
      if (!guarded) BOOST_TEST_MESSAGE("this machine lacks " << verdict.missing.front());
      BOOST_TEST((verdict.passed() || !guarded), verdict.why);
    }
  // Each part of the sandbox alone keeps the kernel from the judge.
  for (const std::uint32_t without : {+PidNamespace, PidNamespace | LandlockFiles, PidNamespace | SystemCallFilter})
    BOOST_TEST_CONTEXT(without) {
      const JudgeVerdict verdict = try_kernel({.kernel = "stops_parent", .time_limit = 3, .without_layers = without});
      BOOST_TEST(verdict.passed(), verdict.why);
    }
}

/// A rate that this machine cannot have is no rate, however right the product is.
BOOST_AUTO_TEST_CASE(nothing_is_faster_than_the_machine) {
  const JudgeVerdict fast = try_kernel({.kernel = "honest", .threads = 1, .peak = 1e3});
  BOOST_TEST((fast.offence == Offence::FasterThanMachine));
  BOOST_TEST(fast.why.find("GFLOP/s, where this machine does 1e-06 with 1 thread") != std::string::npos, fast.why);
  BOOST_TEST(try_kernel({.kernel = "honest", .peak = 1e15}).passed());
}

/// A process that computes all the time.
class Busy {
 public:
  Busy() : process_(fork()) {
    while (process_ == 0) asm volatile("");
  }
  ~Busy() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  pid_t process_;
};

/// The kernel and three others share one processor.
BOOST_AUTO_TEST_CASE(a_busy_machine_cannot_say) {
  cpu_set_t before, one;
  BOOST_REQUIRE_EQUAL(sched_getaffinity(0, sizeof before, &before), 0);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  BOOST_REQUIRE_EQUAL(sched_setaffinity(0, sizeof one, &one), 0);
  {
    const std::array<Busy, 3> others;
    for (const std::uint32_t without : {0U, +ControlGroupOfKernel}) BOOST_TEST_CONTEXT(without) {
        const JudgeVerdict verdict = try_kernel({.kernel = "honest",
                                                 .m = 300,
                                                 .n = 300,
                                                 .k = 300,
                                                 .tolerance = 1e-4,
                                                 .threads = 1,
                                                 .without_layers = without});
        BOOST_TEST(verdict.passed(), verdict.why);
        BOOST_TEST(verdict.too_busy.find(" had ") != std::string::npos, verdict.too_busy);
      }
  }
  BOOST_REQUIRE_EQUAL(sched_setaffinity(0, sizeof before, &before), 0);
}

BOOST_AUTO_TEST_CASE(odd_shapes) {
  for (const auto& [kernel, abi] : {std::pair{"honest", Abi::Leetgpu}, std::pair{"tessera_honest", Abi::Tessera}}) {
    const KernelFile file(kernel_path(kernel), {}, {});
    JudgeRequest request;
    request.kernel = &file;
    request.abi = abi;
    request.program = JUDGE_PROGRAM;
    const JudgeVerdict verdict = judge_odd_shapes(request);
    BOOST_TEST(verdict.passed(), verdict.why);
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::judge::testing
