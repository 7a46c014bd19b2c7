/// What a learner's code may do instead of a product: each is a sentence that helps.

#include <filesystem>
#include <fstream>
#include <iterator>

#include <tessera/status.hpp>

#include "gemm_lens/program.hpp"
#include "looked.hpp"
#include "support/files.hpp"

namespace tessera::lens::testing {
namespace {

using test::TemporaryFile;

/// Runs case `number` of kernels/ends.cu.
Report end_of_case(int number) {
  std::ifstream in(kernel_file("ends.cu"));
  std::string text{std::istreambuf_iterator<char>(in), {}};
  text.replace(text.rfind("ENDS"), 4, std::to_string(number));
  const TemporaryFile file("ends.cu", text);
  Question question;
  question.kernel = file.path();
  question.shape = {16, 16, 16};
  question.seconds = number <= 1 ? 1 : 30;
  return look(question);
}

void check_end(int number, const std::string& part, const std::string& line = {}) {
  const Report report = end_of_case(number);
  BOOST_TEST(report.ended.find(part) != std::string::npos, "case " << number << ": " << report.ended);
  BOOST_TEST(!report.well());
  if (line.empty()) return;
  const std::string where = "at line " + std::to_string(line_of(kernel_file("ends.cu"), line));
  BOOST_TEST(report.ended.find(where) != std::string::npos, report.ended << ", not " << where);
}

std::string compile_error(const std::string& text) {
  const TemporaryFile file("text.cu", text);
  try {
    look_at(file.path(), {8, 8, 8});
  } catch (const CompileError& error) {
    return error.what();
  }
  return "it compiled";
}

} // namespace

BOOST_AUTO_TEST_SUITE(ends_suite, *boost::unit_test::precondition(HasCompiler()))

BOOST_AUTO_TEST_CASE(never) {
  check_end(0, "it did not end within 1 s", "spins");
  check_end(1, "it did not end within 1 s");
}
BOOST_AUTO_TEST_CASE(memory) {
  check_end(2, "where there is no memory", "far");
  check_end(3, "calls itself without end");
  check_end(7, "threw an exception: std::bad_alloc");
}
BOOST_AUTO_TEST_CASE(by_itself) {
  check_end(4, "signal (Aborted)");
  check_end(5, "called exit()");
  check_end(6, "threw an exception: a reason");
  check_end(13, "status 4");
}
BOOST_AUTO_TEST_CASE(not_for_a_processor) {
  check_end(9, "bar.sync 0;");
  check_end(10, "wait for one another for ever");
}
BOOST_AUTO_TEST_CASE(nothing_is_launched) { check_end(11, "launched no kernel"); }
BOOST_AUTO_TEST_CASE(output_and_all_of_the_gpus_memory) {
  const Report report = end_of_case(8);
  BOOST_TEST(report.ended == "");
  BOOST_TEST(report.output.find("thread 5\n") != std::string::npos);
  BOOST_TEST(report.output.size() <= 8192u);
}
BOOST_AUTO_TEST_CASE(too_much_shared_memory) {
  const Report report = end_of_case(12);
  BOOST_REQUIRE(!report.findings.empty());
  BOOST_TEST(report.findings.front().kind == "launch_failed");
  BOOST_TEST(report.findings.front().message.find("80000 bytes of static shared memory") != std::string::npos);
}
BOOST_AUTO_TEST_CASE(what_does_not_compile) {
  const std::string said = compile_error("\n__global__ void k() { in x; }\n");
  BOOST_TEST(said.find("text.cu:2:") != std::string::npos, said);
  BOOST_TEST(said.find("error: 'in'") != std::string::npos, said);
  BOOST_TEST(compile_error("#include <no_such_file.h>\n").find("no_such_file.h") != std::string::npos);
  BOOST_TEST(compile_error("#include <cublas_v2.h>\n").find("the lens has no cuBLAS") != std::string::npos);
}
BOOST_AUTO_TEST_CASE(what_is_no_kernel) {
  const auto refused = [](const std::string& kernel, const std::string& part, DType type = DType::F32) {
    try {
      look_at(kernel, {8, 8, 8}, type);
      BOOST_ERROR(kernel << " was not refused");
    } catch (const InvalidArgument& error) {
      BOOST_TEST(std::string(error.what()).find(part) != std::string::npos, error.what());
    }
  };
  refused("no/such/file.cu", "there is no file no/such/file.cu");
  refused("no_such_rung", "no rung of that name; did you mean '");
  refused(KERNEL_FOLDER, "is a folder");
  refused(kernel_file("../CMakeLists.txt"), "is no source of CUDA C++");
  refused("wmma_fp16", "emulates no matrix units");
  const TemporaryFile units("units.cu", "#include <mma.h>\n");
  refused(units.path(), "emulates no matrix units");
  const TemporaryFile plain("plain.cu", "void solve(const float*, const float*, float*, int, int, int) {}\n");
  BOOST_TEST(look_at(plain.path(), {8, 8, 8}).ended.find("is extern \"C\" missing?") != std::string::npos);
  const Report other_type = look_at(kernel_file("tiled.cu"), {8, 8, 8}, DType::F64);
  BOOST_TEST(other_type.ended.find("it exports neither solve_f64 nor tessera_kernel") == 0u);
  const Report transposed = look_at(kernel_file("tiled.cu"), {8, 8, 8}, DType::F32, Op::Transpose);
  BOOST_TEST(transposed.ended.find("solve() has no transposes") == 0u);
  const Report huge = look_at(kernel_file("tiled.cu"), {20000, 20000, 1});
  BOOST_TEST(huge.ended.find("more than the lens' GPU holds") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::lens::testing
