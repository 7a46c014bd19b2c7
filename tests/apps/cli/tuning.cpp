/// Tests gemm_compare tune, and products that follow its tables.

#include <sys/stat.h>
#include <filesystem>

#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "support/process.hpp"

namespace tessera::test {
namespace {

using nlohmann::json;

/// Returns a table of these products, with the head that tune writes.
json table_with(const std::string& device, const json& products) {
  return {{"schema", "tessera.tuning/1"}, {"backend", "tbb"}, {"device", device},    {"driver", ""},
          {"tessera", "0.1.0"},           {"revision", 1},    {"products", products}};
}

json product(int m, int n, int k, const std::string& kernel) {
  return {{"dtype", "f32"}, {"math", "strict"}, {"m", m}, {"n", n}, {"k", k}, {"kernel", kernel}, {"seconds", 1e-3}};
}

struct Tuned : Programs {
  /// Returns this machine's name, from a table that tune made here.
  std::string device() const {
    const Outcome outcome = tune({"--sizes", "8", "--table", "device.json"});
    BOOST_REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    return json::parse(folder.read("device.json"))["device"];
  }
  Outcome tune(std::vector<std::string> arguments, const Variables& variables = {}) const {
    arguments.insert(arguments.begin(), {"tune", "--backend", "tbb"});
    return compare(arguments, variables);
  }
  /// Runs the README's program, 1000×800×500 with every backend, with this table.
  Outcome multiply(const std::string& table) const {
    return Process(TESSERA_EXAMPLE_PRODUCT, {}, folder.path(), {{"TESSERA_TUNING", table}, {"TESSERA_LOG", "dispatch"}})
        .wait();
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(tuning, Tuned)

BOOST_AUTO_TEST_CASE(the_fastest_canonical_kernel_of_each_product_is_kept) {
  const Outcome outcome =
      tune({"--sizes", "48,64", "--shape", "4x100x1000", "--dtype", "f32,f64", "--table", "t.json"});
  BOOST_TEST(outcome.status == 0, outcome.err);
  BOOST_TEST(contains(outcome.out, "6 products measured, 6 in "), outcome.out);
  const json table = json::parse(folder.read("t.json"));
  BOOST_TEST(table["schema"] == "tessera.tuning/1");
  BOOST_TEST(table["backend"] == "tbb");
  BOOST_TEST(table["products"].size() == 6u);
  for (const json& entry : table["products"]) {
    BOOST_TEST(entry["seconds"] > 0.0);
    BOOST_TEST(entry["math"] == "strict"); // kahan has no rival in its mode, so that there is nothing to choose.
    BOOST_TEST(entry["kernel"] != "naive");
  }
}

BOOST_AUTO_TEST_CASE(what_was_measured_is_not_measured_again) {
  BOOST_TEST(tune({"--sizes", "48", "--table", "t.json"}).status == 0);
  const std::string before = folder.read("t.json");
  const Outcome again = tune({"--sizes", "48", "--table", "t.json"});
  BOOST_TEST(again.status == 0, again.err);
  BOOST_TEST(contains(again.out, "0 products measured, 1 in "), again.out);
  BOOST_TEST(folder.read("t.json") == before);
  const Outcome more = tune({"--sizes", "48,32", "--table", "t.json"});
  BOOST_TEST(contains(more.out, "1 products measured, 2 in "), more.out);
}

BOOST_AUTO_TEST_CASE(the_time_is_kept) {
  const Outcome outcome = tune({"--budget", "0.2", "--table", "t.json"});
  BOOST_TEST(outcome.status == 0, outcome.err);
  BOOST_TEST(contains(outcome.out, "the time is up"), outcome.out);
  BOOST_TEST(contains(outcome.out, "the same command goes on"), outcome.out);
}

BOOST_AUTO_TEST_CASE(by_itself_it_goes_where_products_look_for_it) {
  BOOST_TEST(tune({"--sizes", "48"}, {{"XDG_CACHE_HOME", folder.path().string()}}).status == 0);
  const Outcome outcome = Process(TESSERA_EXAMPLE_PRODUCT, {}, folder.path(),
                                  {{"XDG_CACHE_HOME", folder.path().string()}, {"TESSERA_LOG", "dispatch"}})
                              .wait();
  BOOST_TEST(contains(outcome.err, "backend tbb chooses kernels by " + folder.path().string() + "/tessera/tuning/tbb-"),
             outcome.err);
}

BOOST_AUTO_TEST_CASE(products_like_a_measured_one_take_its_kernel) {
  const std::string here = device();
  folder.write("t.json", table_with(here, json::array({product(2048, 512, 512, "cache_blocked")}))
                             .dump()); // Each side is within a factor of two.
  const Outcome near = multiply("t.json");
  BOOST_TEST(near.status == 0, near.err);
  BOOST_TEST(contains(near.err, "k=500: the tuning table has tbb/cache_blocked, which runs"), near.err);
  BOOST_TEST(contains(near.err, "k=500: openmp/simd runs"), near.err); // A table belongs to one backend.

  folder.write("t.json", table_with(here, json::array({product(1024, 1024, 2048, "cache_blocked")})).dump());
  const Outcome far = multiply("t.json");
  BOOST_TEST(contains(far.err, "k=500: tbb/simd runs"), far.err);
  const Outcome none = multiply("none");
  BOOST_TEST(!contains(none.err, "tuning"), none.err);
}

BOOST_AUTO_TEST_CASE(a_kernel_that_is_gone_or_changes_bits_is_not_taken) {
  const std::string here = device();
  for (const char* kernel : {"fastest_of_1999", "tiled_4x4"}) { // tiled_4x4 adds in another order.
    folder.write("t.json", table_with(here, json::array({product(1024, 1024, 512, kernel)})).dump());
    const Outcome outcome = multiply("t.json");
    BOOST_TEST(outcome.status == 0, outcome.err);
    BOOST_TEST(contains(outcome.err, "k=500: tbb/simd runs"), outcome.err);
  }
}

BOOST_AUTO_TEST_CASE(tables_that_cannot_be_used_are_named) {
  folder.write("cut.json", R"({"schema": "tessera.tuning/1", "backend": "tbb", "dev)");
  folder.write("other.json", R"({"schema": "tessera.tuning/9"})");
  folder.write("word.json", table_with("x", json::array({product(8, 8, 8, "simd")})).dump());
  json old = table_with(device(), json::array({product(8, 8, 8, "simd")}));
  old["revision"] = 99;
  folder.write("old.json", old.dump());
  json bad = table_with(device(), json::array({product(8, 8, 8, "simd")}));
  bad["products"][0]["dtype"] = "f33";
  folder.write("dtype.json", bad.dump());
  folder.write("deep.json", std::string(200000, '[') + std::string(200000, ']'));
  BOOST_TEST(mkfifo((folder.path() / "pipe.json").c_str(), 0600) == 0);
  for (const auto& [file, part] :
       Variables{{"cut.json", "parse error"},
                 {"other.json", "'tessera.tuning/9'"},
                 {"word.json", "is for x, but this is"},
                 {"old.json", "is for revision 99 of the kernels, but these are of revision 1"},
                 {"dtype.json", "f33"},
                 {"deep.json", "nested deeper than 64 levels"},
                 {"pipe.json", "is a pipe"},
                 {"nothing.json", "cannot be read"}}) {
    const Outcome outcome = multiply(file);
    BOOST_TEST(contains(outcome.err + outcome.out, "tuning table " + file), file << ": " << outcome.err << outcome.out);
    BOOST_TEST(contains(outcome.err + outcome.out, part), outcome.err << outcome.out);
    if (file != "nothing.json") { // tune would begin that file.
      const bool pipe = file == "pipe.json";
      const std::string before = pipe ? "" : folder.read(file);
      expect_usage_error(tune({"--sizes", "8", "--table", file}), {file});
      BOOST_TEST(std::filesystem::is_fifo(folder.path() / file) == pipe);
      if (!pipe) BOOST_TEST(folder.read(file) == before);
    }
  }
}

/// A link to itself cannot be looked at by any user, as another user's home cannot.
BOOST_AUTO_TEST_CASE(a_cache_that_cannot_be_looked_at_is_named) {
  std::filesystem::create_symlink("loop", folder.path() / "loop");
  const std::string loop = (folder.path() / "loop").string();
  expect_usage_error(compare({"tune", "--backend", "tbb", "--sizes", "8"}, {{"XDG_CACHE_HOME", loop}}),
                     {"tuning table " + loop, "cannot be read: Too many levels"});
  const Outcome outcome = compare({"--backend", "tbb", "--kernels", "simd", "--sizes", "8"},
                                  {{"XDG_CACHE_HOME", loop}, {"TESSERA_LOG", "dispatch"}});
  BOOST_TEST(contains(outcome.err, "passed over: " + loop), outcome.err);
}

BOOST_AUTO_TEST_CASE(bad_words_are_named) {
  expect_usage_error(tune({"--budget", "0"}), {"--budget", "more than 0"});
  expect_usage_error(tune({"--backend", "openmp"}), {"one backend"});
  expect_usage_error(tune({"--transA"}), {"tune", "transposes"});
  expect_usage_error(compare({"tun"}), {"'tun'", "did you mean 'tune'"});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
