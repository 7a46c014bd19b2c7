/// What is wrong with the command line or with the machine ends `gemm_compare --lens` with exit status 2 and a sentence
/// that says what to do.

#include <filesystem>
#include <fstream>

#include <boost/test/unit_test.hpp>

#include "looked.hpp"
#include "support/process.hpp"

namespace tessera::lens::testing {
namespace {

namespace fs = std::filesystem;
using test::expect_usage_error;
using test::Outcome;

struct Lens : test::Programs {
  Outcome lens(std::vector<std::string> words, const test::Variables& variables = {}) const {
    words.insert(words.begin(), "--lens");
    return compare(words, variables);
  }
  void refuse(const std::vector<std::string>& words, const std::vector<std::string>& parts) const {
    BOOST_TEST_CONTEXT(words.front()) { expect_usage_error(lens(words), parts); }
  }
  std::string file(const std::string& name, const std::string& text) const {
    const fs::path path = fs::path(folder.path()) / name;
    std::ofstream(path) << text;
    return path.string();
  }
};

const std::string small = "16x16x16";

} // namespace

BOOST_FIXTURE_TEST_SUITE(command_line_suite, Lens, *boost::unit_test::precondition(HasCompiler()))

BOOST_AUTO_TEST_CASE(no_such_file_or_rung) {
  refuse({"nowhere.cu"}, {"there is no file nowhere.cu", "name a .cu file or a rung"});
  refuse({"tile2d"}, {"no rung of that name", "did you mean 'tile_2d'?", "async_copy"});
  refuse({"asinc_copy", "--dtype", "f64"}, {"did you mean 'async_copy'?", "of f64: "});
  refuse({folder.path()}, {"is a folder", "name a .cu file or a rung"});
  refuse({file("kernel.txt", "")}, {"is no source of CUDA C++"});
}

BOOST_AUTO_TEST_CASE(matrix_units) {
  const std::string why = "the lens emulates no matrix units";
  refuse({"wmma_tf32"}, {"wmma_tf32 uses mma.h", why, "use ncu on a GPU"});
  refuse({"wmma_bf16"}, {"wmma_bf16 uses mma.h", why});
  for (const char* type : {"f32", "f64"}) refuse({"dmma", "--dtype", type}, {"dmma uses", why});
  refuse({"wgmma_fp16"}, {"wgmma_fp16 is no rung", why});
  refuse({file("units.cu", "#include <mma.h>\n")}, {"uses mma.h", why});
}

BOOST_AUTO_TEST_CASE(sizes_and_types) {
  refuse({"tile_2d", "--shape", "3x4"}, {"--shape", "'3x4'", "MxNxK"});
  refuse({"tile_2d", "--shape", "0x4x5"}, {"--shape", "0 is less than 1"});
  refuse({"tile_2d", "--shape", "axbxc"}, {"--shape", "'a' is not a whole number"});
  refuse({"tile_2d", "--shape", "3000000x4x5"}, {"--shape", "3000000", "1048576"});
  refuse({"tile_2d", "--shape", "3x4x5", "--shape", "4x5x6"}, {"--shape", "2 shapes"});
  refuse({"tile_2d", "--dtype", "f16"}, {"--dtype", "f16", "f32 or f64"});
  refuse({"tile_2d", "--ld-pad", "-1"}, {"--ld-pad", "-1 is less than 0"});
  refuse({"tile_2d", "--ld-pad", "9999999"}, {"--ld-pad", "9999999", "1048576"});
  refuse({"tile_2d", "--sizes", "64"}, {"--sizes", "makes no sense with --lens"});
  refuse({"tile_2d", "--time-limit", "0"}, {"--time-limit", "0", "1 to 86400"});
}

BOOST_AUTO_TEST_CASE(a_machine_without_tools) {
  const Outcome bare = lens({"naive_flat", "--shape", small}, {{"PATH", folder.path()}});
  expect_usage_error(bare, {"no compiler", "apt install g++"});
  for (const char* name : {"g++", "as", "ld"}) // all but addr2line
    for (const char* place : {"/usr/bin", "/usr/local/bin"})
      if (fs::exists(fs::path(place) / name) && !fs::exists(fs::path(folder.path()) / name))
        fs::create_symlink(fs::path(place) / name, fs::path(folder.path()) / name);
  const Outcome half = lens({"naive_flat", "--shape", small}, {{"PATH", folder.path()}, {"CXX", ""}});
  expect_usage_error(half,
                     {fs::exists(fs::path(folder.path()) / "g++") ? "no addr2line" : "no compiler", "apt install"});
}

BOOST_AUTO_TEST_CASE(folders_that_cannot_be_written) {
  refuse({"naive_flat", "--shape", small, "--html", "/nowhere/lens.html"}, {"cannot write /nowhere/lens.html"});
  refuse({"naive_flat", "--shape", small, "--json", "/nowhere/lens.json"}, {"cannot write /nowhere/lens.json"});
  expect_usage_error(lens({"naive_flat", "--shape", small}, {{"TMPDIR", "/nowhere"}}),
                     {"no folder for temporary files", "TMPDIR"});
  expect_usage_error(lens({"naive_flat", "--shape", small}, {{"TMPDIR", "/proc/self"}}),
                     {"cannot make a folder in /proc/self", "TMPDIR"});
}

BOOST_AUTO_TEST_CASE(what_does_not_compile) {
  expect_usage_error(lens({file("broken.cu", "__global__ void k() { in x; }\n")}),
                     {"broken.cu:1:", "error: 'in' was not declared", "broken.cu does not compile"});
  expect_usage_error(lens({file("bytes.cu", "\x01\xff\xfe{\"")}), {"bytes.cu:1:", "bytes.cu does not compile"});
  const Outcome empty = lens({file("empty.cu", "")}); // it compiles, and runs nothing
  BOOST_TEST(empty.status == 1);
  BOOST_TEST(empty.out.find("it exports neither solve nor tessera_kernel") != std::string::npos, empty.out);
}

/// By default a rung's rows end at whole cache lines, as in a race.
BOOST_AUTO_TEST_CASE(leading_dimensions) {
  const Outcome usual = lens({"float4", "--shape", "40x36x20"}),
                odd = lens({"float4", "--shape", "40x36x20", "--ld-pad", "1"});
  for (const Outcome* one : {&usual, &odd}) {
    BOOST_TEST(one->status == 0, one->err);
    BOOST_TEST(one->out.find("product: right") != std::string::npos, one->out);
  }
  BOOST_TEST(usual.out != odd.out); // rows that begin anywhere are read in single elements
  const std::string none =
      file("none.cu", "extern \"C\" void solve(const float*, const float*, float*, int, int, int) {}\n");
  const Outcome dense = lens({none, "--ld-pad", "3"});
  BOOST_TEST(dense.status == 1);
  BOOST_TEST(dense.out.find("solve() has no transposes, alpha, beta and leading dimensions") != std::string::npos,
             dense.out);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::lens::testing
