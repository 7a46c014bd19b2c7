/// Tests the judge with sources, with libraries, and with files that are neither.

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <boost/test/unit_test.hpp>

#include <tessera/status.hpp>

#include "support/files.hpp"
#include "trial.hpp"

namespace tessera::judge::testing {
namespace {

namespace fs = std::filesystem;

using test::TemporaryFile;

JudgeVerdict try_file(const KernelFile& file, Abi abi) {
  JudgeRequest request;
  request.kernel = &file;
  request.abi = abi;
  request.program = JUDGE_PROGRAM;
  request.memory_limit = 0;
  return judge_odd_shapes(request);
}

bool mentions(const std::exception& error, const char* text) {
  return std::string(error.what()).find(text) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(files_suite)

BOOST_AUTO_TEST_CASE(examples_compile_and_pass) {
  const fs::path examples = EXAMPLE_FOLDER;
  for (const auto& [name, abi] : {std::pair{"cpu_leetgpu.cpp", Abi::Leetgpu}, std::pair{"cpu_tessera.c", Abi::Tessera},
                                  std::pair{"cpu_tessera.cpp", Abi::Tessera}}) {
    const KernelFile file((examples / name).string(), {}, {});
    BOOST_CHECK(file.device() == Device::Cpu);
    BOOST_REQUIRE_MESSAGE(file.offence() == Offence::None, file.compiler_output());
    const JudgeVerdict verdict = try_file(file, abi);
    BOOST_CHECK_MESSAGE(verdict.passed(), name << ": " << to_string(verdict.offence) << ": " << verdict.why);
  }
}

BOOST_AUTO_TEST_CASE(compile_error_is_an_offence) {
  const TemporaryFile source("broken.cpp", "extern \"C\" void solve( { this is not C++; }\n");
  const KernelFile file(source.path(), {}, {});
  BOOST_CHECK(file.offence() == Offence::CompileError);
  const JudgeVerdict verdict = try_file(file, Abi::Leetgpu);
  BOOST_CHECK(verdict.offence == Offence::CompileError);
  BOOST_CHECK(verdict.output.find("error:") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(compiled_files_leave_nothing_behind) {
  std::string library;
  {
    const TemporaryFile source("plain.c", "void solve(const float* a, const float* b, float* c) { *c = *a * *b; }\n");
    const KernelFile file(source.path(), {}, "-O0");
    BOOST_REQUIRE(file.offence() == Offence::None);
    library = file.library();
    BOOST_CHECK(fs::exists(library));
  }
  BOOST_CHECK(!fs::exists(fs::path(library).parent_path()));
}

BOOST_AUTO_TEST_CASE(missing_compiler_is_named) {
  const TemporaryFile source("kernel.cpp", "");
  const std::string path = std::getenv("PATH");
  const char* cxx = std::getenv("CXX");
  const std::string old = cxx ? cxx : "";
  setenv("PATH", "/nowhere", 1);
  unsetenv("CXX");
  BOOST_CHECK_EXCEPTION(KernelFile(source.path(), {}, {}), IoError,
                        [](const IoError& error) { return mentions(error, "no compiler for"); });
  setenv("PATH", path.c_str(), 1);
  if (!old.empty()) setenv("CXX", old.c_str(), 1);
}

BOOST_AUTO_TEST_CASE(wrong_files) {
  BOOST_CHECK_EXCEPTION(KernelFile("/nowhere/kernel.so", {}, {}), InvalidArgument,
                        [](const InvalidArgument& error) { return mentions(error, "there is no file"); });
  const TemporaryFile text("kernel.txt", "");
  BOOST_CHECK_EXCEPTION(KernelFile(text.path(), {}, {}), InvalidArgument,
                        [](const InvalidArgument& error) { return mentions(error, "neither a shared library"); });
  const TemporaryFile empty("kernel.so", "not a library");
  const KernelFile file(empty.path(), {}, {});
  BOOST_CHECK(try_file(file, Abi::Leetgpu).offence == Offence::CannotLoad);
}

BOOST_AUTO_TEST_CASE(device_is_guessed_from_the_file) {
  const TemporaryFile plain("plain.so", "ELF");
  const TemporaryFile cuda("cuda.so", "ELF .nv_fatbin");
  BOOST_CHECK(KernelFile(plain.path(), {}, {}).device() == Device::Cpu);
  BOOST_CHECK(KernelFile(cuda.path(), {}, {}).device() == Device::Cuda);
  BOOST_CHECK(KernelFile(cuda.path(), Device::Cpu, {}).device() == Device::Cpu);
}

BOOST_AUTO_TEST_CASE(words) {
  BOOST_CHECK(parse_abi("cblas") == Abi::Cblas);
  BOOST_CHECK_EXCEPTION(parse_abi("leetgpo"), InvalidArgument,
                        [](const InvalidArgument& error) { return mentions(error, "did you mean 'leetgpu'?"); });
  BOOST_CHECK_THROW(parse_device("gpu"), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::judge::testing
