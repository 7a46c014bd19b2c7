/// Tests kernels that are Python files. They need a Python with NumPy; the ones with PyTorch need that too.

#include <cstdlib>
#include <string>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "gemm_judge/elements.hpp"
#include "trial.hpp"

namespace tessera::judge::testing {
namespace {

/// Returns whether a Python that is told to the judge has the module.
bool has(const char* module) {
  for (const char* python : {"/usr/bin/python3", "python3"}) {
    const std::string command = std::string(python) + " -c 'import " + module + "' >/dev/null 2>&1";
    if (std::system(command.c_str()) != 0) continue;
    setenv("PYTHON", python, 1);
    return true;
  }
  return false;
}

boost::test_tools::assertion_result numpy(boost::unit_test::test_unit_id) {
  static const bool there = has("numpy");
  boost::test_tools::assertion_result result(there);
  result.message() << "no Python with NumPy";
  return result;
}
boost::test_tools::assertion_result torch(boost::unit_test::test_unit_id) {
  static const bool there = has("torch");
  boost::test_tools::assertion_result result(there);
  result.message() << "no Python with PyTorch";
  return result;
}

struct BadFile {
  const char* kernel;
  Offence offence;
  const char* said;
};

std::ostream& operator<<(std::ostream& out, const BadFile& cheat) { return out << cheat.kernel; }

const BadFile bad_files[] = {
    {"python/cached_answer.py", Offence::CachedAnswer, "call 2: C is bit for bit what an earlier call"},
    {"python/patches_clock.py", Offence::ForgesTime, "it says 0 s, and the judge waited "},
    {"python/patches_runner.py", Offence::ForgesTime, "it says 1e-09 s, but its thread ran for "},
    {"python/published_gc_copy.py", Offence::Wrong, "call 1: C("},
    {"python/exits.py", Offence::Exits, "the process ended with status 0 in call 1"},
    {"python/raises.py", Offence::Throws, "ValueError: tiles of 32 only in call 1"},
    {"python/writes_inputs.py", Offence::ModifiesInputs, "call 1: B(0, 0) was changed"},
    {"python/no_solve.py", Offence::MissingSymbol, "it does not define solve(a, b, c)"},
};

/// These are for a GPU (docs/judge.md), but get tensors on the processor as well.
const BadFile bad_tensor_files[] = {
    {"cuda/zeros.py", Offence::Wrong, "call 1: C("},
    {"cuda/cached_answer.py", Offence::CachedAnswer, "call 2: C is bit for bit what an earlier call"},
    {"cuda/lazy_tensor.py", Offence::NotWritten, "call 1: C was not written"},
    {"cuda/patches_copy.py", Offence::NotWritten, "call 1: C was not written"},
};

} // namespace

namespace utf = boost::unit_test;

BOOST_AUTO_TEST_SUITE(python_suite, *utf::precondition(numpy))

BOOST_AUTO_TEST_CASE(honest_files_pass) {
  for (const char* kernel : {"python/honest.py", "python/honest_threads.py", "python/returns_product.py"})
    for (const DType type : {DType::F32, DType::F64}) BOOST_TEST_CONTEXT(kernel << " " << to_string(type)) {
        const JudgeVerdict verdict = try_kernel({.kernel = kernel, .type = type});
        BOOST_TEST(verdict.passed(), verdict.why << verdict.output);
        BOOST_CHECK_EQUAL(verdict.seconds.size(), 3);
      }
  const JudgeVerdict transposed = try_kernel({.kernel = "python/honest.py", .op_a = Op::Transpose});
  BOOST_TEST((transposed.outcome == Outcome::Rejected));
  BOOST_TEST(transposed.why == "Python kernels take no transposed operands");
}

BOOST_DATA_TEST_CASE(each_cheat_is_named, boost::unit_test::data::make(bad_files), cheat) {
  const JudgeVerdict verdict = try_kernel({.kernel = cheat.kernel});
  BOOST_CHECK_EQUAL(verdict.offence, cheat.offence);
  BOOST_CHECK_MESSAGE(verdict.why.find(cheat.said) != std::string::npos,
                      "'" << verdict.why << "' does not say '" << cheat.said << "'" << verdict.output);
}

BOOST_AUTO_TEST_CASE(memory_is_limited) {
  const JudgeVerdict verdict = try_kernel({.kernel = "python/eats_memory.py", .memory_limit = std::size_t{64} << 20});
  BOOST_CHECK_EQUAL(verdict.offence, Offence::ExceedsMemory);
  BOOST_TEST(verdict.why.find("with 64 MiB") != std::string::npos, verdict.why);
}

BOOST_AUTO_TEST_CASE(other_types) {
  for (const DType type : {DType::F16, DType::I8}) {
    const JudgeVerdict verdict = try_kernel({.kernel = EXAMPLE_FOLDER "/cpu_numpy.py", .type = type});
    BOOST_TEST(verdict.passed(), verdict.why << verdict.output);
  }
  const JudgeVerdict bf16 = try_kernel({.kernel = EXAMPLE_FOLDER "/cpu_numpy.py", .type = DType::BF16});
  BOOST_TEST((bf16.outcome == Outcome::Rejected));
  BOOST_TEST(bf16.why == "NumPy has no bfloat16: import torch or ml_dtypes in the kernel");
}

/// What a result does when it is read counts as a part of the call.
BOOST_AUTO_TEST_CASE(a_lazy_result_is_timed) {
  const JudgeVerdict verdict = try_kernel({.kernel = "python/published_lazy_result.py"});
  BOOST_TEST(verdict.passed(), verdict.why << verdict.output);
  BOOST_TEST(verdict.seconds.front() >= 0.02);
}

#if defined(__x86_64__) // the file has its number for the rounding mode
BOOST_AUTO_TEST_CASE(a_changed_rounding_mode_is_found) {
  const JudgeVerdict verdict = try_kernel({.kernel = "python/changes_rounding.py"});
  BOOST_CHECK_EQUAL(verdict.offence, Offence::FloatingState);
  BOOST_TEST(verdict.why == "call 1: the kernel left it changed: the rounding mode");
}
#endif

BOOST_AUTO_TEST_CASE(tensors_of_other_types, *utf::precondition(torch)) {
  for (const DType type : {DType::F64, DType::F16, DType::BF16, DType::I8})
    for (const char* kernel : {"python/torch_types.py", EXAMPLE_FOLDER "/cuda_torch.py"})
      BOOST_TEST_CONTEXT(kernel << " " << static_cast<int>(type)) {
        const JudgeVerdict verdict = try_kernel({.kernel = kernel, .type = type, .tolerance = 1e-4});
        BOOST_TEST(verdict.passed(), verdict.why << verdict.output);
      }
}

BOOST_AUTO_TEST_CASE(cheats_for_a_gpu_are_named, *utf::precondition(torch)) {
  for (const BadFile& cheat : bad_tensor_files) BOOST_TEST_CONTEXT(cheat.kernel) {
      const JudgeVerdict verdict = try_kernel({.kernel = cheat.kernel, .tolerance = 1e-4});
      BOOST_CHECK_EQUAL(verdict.offence, cheat.offence);
      BOOST_CHECK_MESSAGE(verdict.why.find(cheat.said) != std::string::npos,
                          "'" << verdict.why << "' does not say '" << cheat.said << "'" << verdict.output);
    }
}

/// What they try gains nothing.
BOOST_AUTO_TEST_CASE(kernels_for_a_gpu_that_pass, *utf::precondition(torch)) {
  for (const char* kernel : {"cuda/cached_by_address.py", "cuda/patches_synchronize.py", "cuda/slow_stream.py"})
    BOOST_TEST_CONTEXT(kernel) {
      const JudgeVerdict verdict = try_kernel({.kernel = kernel, .tolerance = 1e-4});
      BOOST_TEST(verdict.passed(), verdict.why << verdict.output);
    }
}

BOOST_AUTO_TEST_CASE(flushed_subnormals_are_found, *utf::precondition(torch)) {
  const JudgeVerdict verdict = try_kernel({.kernel = "python/torch_flushes_subnormals.py", .tolerance = 1e-4});
  BOOST_CHECK_EQUAL(verdict.offence, Offence::FloatingState);
  BOOST_TEST(verdict.why.find("subnormal numbers count as 0") != std::string::npos, verdict.why);
}

BOOST_AUTO_TEST_CASE(tensors, *utf::precondition(torch)) {
  const JudgeVerdict verdict = try_kernel({.kernel = "python/torch_honest.py", .tolerance = 1e-4});
  BOOST_TEST(verdict.passed(), verdict.why << verdict.output);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::judge::testing
