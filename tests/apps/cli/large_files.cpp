/// Tests gemm_compare --memory-limit: products of files block by block, killed and gone on with.

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <thread>

#include <tessera/gemm.hpp>
#include <tessera/interop/io.hpp>

#include "support/process.hpp"

namespace tessera::test {
namespace {

const std::string journal_name = ".c.npy.tessera-journal", product_name = ".c.npy.tessera-product";

struct LargeFiles : Programs {
  void write(const std::string& name, Index rows, Index cols, std::uint32_t seed) const {
    std::vector<float> elements(static_cast<std::size_t>(rows * cols));
    for (float& x : elements) x = static_cast<float>(seed = seed * 1664525u + 1013904223u) * 0x1p-32f - 0.5f;
    folder.write(name,
                 npy_bytes("<f4", false, "(" + std::to_string(rows) + ", " + std::to_string(cols) + ")", elements));
  }
  static std::vector<std::string> product(const std::string& limit, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"--a", "a.npy", "--b", "b.npy", "--out", "c.npy", "--memory-limit", limit};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  /// Compares with the product in memory.
  void expect_bits_of_memory(float alpha = 1) const {
    const auto a = load_npy<float>(folder.path() / "a.npy"), b = load_npy<float>(folder.path() / "b.npy");
    Matrix<float> c(a.rows(), b.cols());
    gemm(alpha, a, b, 0.0f, c);
    BOOST_TEST((load_npy<float>(folder.path() / "c.npy") == c));
  }
  /// Starts a product that takes seconds and waits until some of its blocks are done.
  void start_slow_product(std::unique_ptr<Process>& process) const {
    const Index size = sanitized ? 260 : 500, k = sanitized ? 1100 : 4100; // sanitized programs are slow enough
    write("a.npy", size, k, 1);
    write("b.npy", k, size, 2);
    process = std::make_unique<Process>(
        TESSERA_GEMM_COMPARE, product("4MiB", {"--backend", "reference", "--kernels", "canonical"}), folder.path());
    for (int i = 0; i < 3000 && !contains(folder.read(journal_name), "done "); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    BOOST_TEST_REQUIRE(contains(folder.read(journal_name), "done "));
  }
  /// Goes on with the product and checks that it is whole.
  void go_on() const {
    BOOST_TEST(!std::filesystem::exists(folder.path() / "c.npy"));
    const Outcome outcome = compare(product("4MiB", {"--backend", "reference", "--kernels", "canonical"}));
    BOOST_TEST(outcome.status == 0, outcome.err);
    BOOST_TEST(contains(outcome.err, "goes on with an unfinished product of c.npy: "), outcome.err);
    BOOST_TEST(folder.names() == (std::vector<std::string>{"a.npy", "b.npy", "c.npy"}),
               boost::test_tools::per_element());
    expect_bits_of_memory();
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(large_files, LargeFiles)

BOOST_AUTO_TEST_CASE(the_product_has_the_bits_of_memory) {
  write("a.npy", 150, 2100, 1);
  write("b.npy", 2100, 140, 2);
  const Outcome outcome = compare(product("4 MiB"));
  expect_usage_error(outcome, {"--memory-limit", "'4 MiB' is no size"});
  const Outcome done = compare(product("4MiB", {"--cpu"}));
  BOOST_TEST(done.status == 0, done.err);
  BOOST_TEST(contains(done.out, "m = 150, n = 140, k = 2100, f32"), done.out);
  BOOST_TEST(contains(done.out, "limit 4.0 MiB"), done.out);
  const auto number = [&](const std::string& line, const std::string& before) {
    const std::size_t at = done.out.find(line), from = done.out.find(before, at) + before.size();
    return std::stoll(done.out.substr(from));
  };
  BOOST_TEST(number("\nread", "read     ") == number("\nread", "by the formula "));
  BOOST_TEST(number("\nread", "read     ") >= (150 + 140) * 2100 * 4);
  BOOST_TEST(number("\nwritten", "written  ") == 150 * 140 * 4);
  BOOST_TEST(contains(done.err, "wrote the product to c.npy"), done.err);
  expect_bits_of_memory();
  BOOST_TEST(compare({"--a", "a.npy", "--b", "b.npy", "--out", "memory.npy", "--backend", "reference", "--kernels",
                      "canonical", "--repeat", "1", "--check-rows", "1"})
                 .status == 0);
  BOOST_TEST((folder.read("c.npy") == folder.read("memory.npy"))); // as --out writes it without a limit
}

BOOST_AUTO_TEST_CASE(transposes_types_and_c) {
  folder.write("a.npy", npy_bytes<double>("<f8", false, "(3, 2)", {1, 4, 2, 5, 3, 6}));
  folder.write("b.npy", npy_bytes<double>("<f8", true, "(3, 2)", {7, 9, 11, 8, 10, 12}));
  folder.write("c0.npy", npy_bytes<double>("<f8", false, "(2, 2)", {1, 1, 1, 1}));
  const Outcome outcome = compare(product("1MiB", {"--transA", "--alpha", "2", "--beta", "0.1", "--c", "c0.npy",
                                                   "--backend", "reference", "--threads", "1", "--math", "strict"}));
  BOOST_TEST(outcome.status == 0, outcome.err);
  BOOST_TEST((load_npy<double>(folder.path() / "c.npy") == Matrix<double>{{116.1, 128.1}, {278.1, 308.1}}));
}

BOOST_AUTO_TEST_CASE(backends_share_the_blocks) {
  write("a.npy", 200, 1100, 1);
  write("b.npy", 1100, 300, 2);
  const Outcome outcome = compare(product("16MiB", {"--backend", "reference,openmp"}));
  BOOST_TEST(outcome.status == 0, outcome.err);
  BOOST_TEST(contains(outcome.out, "reference, openmp"), outcome.out);
  expect_bits_of_memory();
}

BOOST_AUTO_TEST_CASE(a_killed_product_goes_on) {
  std::unique_ptr<Process> process;
  start_slow_product(process);
  process->send(SIGKILL);
  BOOST_TEST(process->wait().status == 128 + SIGKILL);
  BOOST_TEST(folder.names() == (std::vector<std::string>{journal_name, product_name, "a.npy", "b.npy"}),
             boost::test_tools::per_element());
  expect_usage_error(compare(product("4MiB", {"--backend", "reference", "--kernels", "canonical", "--alpha", "2"})),
                     {"another one", "alpha was 1 when the product began and is 2 now"});
  expect_usage_error(
      compare(product("4MiB", {"--backend", "reference", "--kernels", "canonical", "--transA", "--transB"})),
      {"c.npy", "transpose of a was no"});
  go_on();
}

BOOST_AUTO_TEST_CASE(an_interrupted_product_goes_on) {
  std::unique_ptr<Process> process;
  start_slow_product(process);
  // Another program leaves the product alone, and what it wants to write does not touch it.
  expect_usage_error(compare(product("4MiB", {"--backend", "reference", "--kernels", "canonical"})),
                     {"c.npy", "another program is computing it"});
  process->send(SIGINT);
  const Outcome outcome = process->wait();
  BOOST_TEST(outcome.status == 130);
  BOOST_TEST(contains(outcome.err, "interrupted; "), outcome.err);
  BOOST_TEST(contains(outcome.err, "blocks of c.npy are on the disk"), outcome.err);
  go_on();
}

BOOST_AUTO_TEST_CASE(starting_over) {
  std::unique_ptr<Process> process;
  start_slow_product(process);
  process->send(SIGKILL);
  process->wait();
  const Outcome outcome = compare(product("8MiB", {"--cpu", "--alpha", "2", "--resume", "never"}));
  BOOST_TEST(outcome.status == 0, outcome.err);
  BOOST_TEST(!contains(outcome.err, "goes on"), outcome.err);
  expect_bits_of_memory(2);
}

/// The operands take 64 MiB. The program itself takes what it takes for a tiny product.
BOOST_AUTO_TEST_CASE(the_limit_is_kept) {
  if (sanitized) return; // a sanitizer takes memory of its own
  folder.write("tiny.npy", npy_bytes<float>("<f4", false, "(1, 1)", {3}));
  const Outcome tiny =
      compare({"--a", "tiny.npy", "--b", "tiny.npy", "--out", "c.npy", "--memory-limit", "1MiB", "--cpu"});
  BOOST_TEST(tiny.status == 0, tiny.err);
  write("a.npy", 1024, 8192, 1);
  write("b.npy", 8192, 1024, 2);
  for (const long limit : {16L, 24L, 48L}) {
    const Outcome outcome = compare(product(std::to_string(limit) + "MiB", {"--cpu"}));
    BOOST_TEST(outcome.status == 0, outcome.err);
    BOOST_TEST(outcome.most_kib <= tiny.most_kib + limit * 1024, "limit " << limit << " MiB: " << outcome.most_kib
                                                                          << " KiB, and " << tiny.most_kib
                                                                          << " for a tiny product");
  }
}

BOOST_AUTO_TEST_CASE(a_limit_that_is_too_small) {
  write("a.npy", 300, 2100, 1);
  write("b.npy", 2100, 200, 2);
  const Outcome outcome = compare(product("1MiB", {"--cpu"}));
  expect_usage_error(outcome, {"memory_limit = 1048576 bytes is too small", "the smallest limit that would do is "});
  const std::string before = "would do is ";
  const auto least = std::stoll(outcome.err.substr(outcome.err.find(before) + before.size()));
  BOOST_TEST(compare(product(std::to_string(least - 1), {"--cpu"})).status == 2);
  BOOST_TEST(compare(product(std::to_string(least), {"--cpu"})).status == 0);
  expect_bits_of_memory();
}

BOOST_AUTO_TEST_CASE(a_bar_on_a_terminal, *boost::unit_test::precondition(there_are_terminals)) {
  write("a.npy", 300, 2100, 1);
  write("b.npy", 2100, 300, 2);
  const Terminal terminal{.columns = 100, .takes_errors = true};
  const auto words = product("4MiB", {"--backend", "reference", "--kernels", "canonical"});
  const Outcome outcome = compare_in(terminal, words);
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(contains(outcome.err, "blocks on the disk"), outcome.err);
  BOOST_TEST(!contains(compare(words).err, "blocks on the disk"));
}

BOOST_AUTO_TEST_CASE(options_that_do_not_fit) {
  write("a.npy", 3, 3, 1);
  write("b.npy", 3, 3, 2);
  const std::vector<std::string> before = folder.names();
  const auto refused = [&](std::vector<std::string> more, const std::vector<std::string>& parts) {
    expect_usage_error(compare(product("8MiB", std::move(more))), parts);
    BOOST_TEST(folder.names() == before, boost::test_tools::per_element());
  };
  refused({"--json", "x.json"}, {"--json", "--memory-limit"});
  refused({"--repeat", "3"}, {"--repeat", "--memory-limit"});
  refused({"--threads", "1,2"}, {"--threads", "one is enough"});
  refused({"--kernels", "sim*"}, {"--kernels", "'sim*' is a pattern"});
  refused({"--kernels", "simt"}, {"'simt'"});
  refused({"--resume", "perhaps"}, {"--resume", "perhaps"});
  refused({"--devices", "0"}, {"--devices", "--backend"});
  refused({"--devices", "0", "--backend", "openmp"}, {"openmp", "one executor"});
  expect_usage_error(compare({"--a", "a.npy", "--b", "b.npy", "--out", "a.npy", "--memory-limit", "8MiB"}),
                     {"out = a.npy is the file of a"});
  expect_usage_error(compare({"--a", "a.npy", "--b", "b.npy", "--memory-limit", "8MiB"}), {"--memory-limit", "--out"});
  expect_usage_error(compare({"--sizes", "8", "--memory-limit", "8MiB"}), {"--memory-limit", "--a"});
  expect_usage_error(compare({"--a", "a.npy", "--b", "b.npy", "--out", "c.npy", "--resume", "never"}),
                     {"--resume", "--memory-limit"});
  for (const char* size : {"0", "-1", "MiB", "1XB", "1e30", "nan"})
    expect_usage_error(compare({"--a", "a.npy", "--b", "b.npy", "--out", "c.npy", "--memory-limit", size}),
                       {"--memory-limit", "is no size"});
  BOOST_TEST(folder.names() == before, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
