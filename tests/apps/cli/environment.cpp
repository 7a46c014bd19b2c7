/// Tests what the programs say of variables of the environment that hold something wrong, and of a backend that is not
/// there.

#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "results.hpp"
#include "support/process.hpp"

namespace tessera::test {

namespace {

std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++times;
  return times;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(variables_of_the_environment, Programs)

BOOST_AUTO_TEST_CASE(an_unknown_topic_of_the_log_is_said_once) {
  const std::vector<std::string> product{"--cpu", "--sizes", "8", "--repeat", "1"};
  const Outcome misspelt = compare(product, {{"TESSERA_LOG", "dispach"}});
  BOOST_TEST(misspelt.status == 0);
  BOOST_TEST(misspelt.err ==
             "tessera: TESSERA_LOG: unknown topic 'dispach'; did you mean 'dispatch'? Known: dispatch\n");
  const Outcome one_is_right = compare(product, {{"TESSERA_LOG", "everything,dispatch"}});
  BOOST_TEST(times_in(one_is_right.err, "TESSERA_LOG: unknown topic 'everything'") == 1u, one_is_right.err);
  BOOST_TEST(contains(one_is_right.err, "backend reference is up"), one_is_right.err);
  BOOST_TEST(compare(product, {{"TESSERA_LOG", ""}}).err == "");
}

BOOST_AUTO_TEST_CASE(folders_that_are_passed_over_are_said_once) {
  folder.write("file", "");
  const std::string file = (folder.path() / "file").string();
  const Outcome outcome =
      info({}, {{"TESSERA_PLUGIN_PATH", ":plugins:/nonexistent:" + file + ":" + folder.path().string() + ":"}});
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(times_in(outcome.err, "\n") == 3u, outcome.err);
  for (const std::string& line :
       {std::string("tessera: TESSERA_PLUGIN_PATH: 'plugins' is relative and is passed over; write the whole path"),
        std::string("tessera: TESSERA_PLUGIN_PATH: '/nonexistent' is passed over: No such file"),
        "tessera: TESSERA_PLUGIN_PATH: '" + file + "' is no folder and is passed over"})
    BOOST_TEST(times_in(outcome.err, line) == 1u, outcome.err);
  BOOST_TEST(info({}, {{"TESSERA_PLUGIN_PATH", folder.path().string()}}).err == "");
}

/// A wrong variable of a plug-in must not make a program take a lesser backend without a word.
BOOST_AUTO_TEST_CASE(a_backend_that_is_passed_over_for_a_wrong_variable_is_said_once) {
  const auto product = [&](const Variables& variables) {
    return Process(TESSERA_EXAMPLE_PRODUCT, {}, folder.path(), variables).wait();
  };
  folder.write("table.json", "{}");
  const nlohmann::json report = nlohmann::json::parse(info({"--json"}).out);
  for (const nlohmann::json& backend : report["backends"]) {
    const auto name = backend["backend"].get<std::string>();
    if (backend["available"] != true || (name != "openmp" && name != "tbb")) continue;
    const std::string said = "tessera: backend auto passes over " + name + ": ";
    const Outcome capitals = info({}, {{"TESSERA_CPU_ISA", "AVX2"}});
    BOOST_TEST(capitals.status == 0);
    BOOST_TEST(times_in(capitals.err, said + "TESSERA_CPU_ISA = 'AVX2' is not an instruction set (") == 1u,
               capitals.err);
    BOOST_TEST(contains(capitals.err, "did you mean 'avx2'?"), capitals.err);
    const Outcome unknown = info({}, {{"TESSERA_CPU_ISA", "sse9"}});
    BOOST_TEST(times_in(unknown.err, said) == 1u, unknown.err);
    BOOST_TEST(info({}, {{"TESSERA_CPU_ISA", "portable"}}).err == "");
  }
  BOOST_TEST(product({{"TESSERA_TUNING", (folder.path() / "table.json").string()}}).err != "");
}

/// A folder of TESSERA_TUNING may hold the tables of other machines alone, which the log says.
BOOST_AUTO_TEST_CASE(a_folder_without_a_table_is_in_the_log) {
  const Variables variables{{"TESSERA_TUNING", folder.path().string()}, {"TESSERA_LOG", "dispatch"}};
  const Outcome outcome = Process(TESSERA_EXAMPLE_PRODUCT, {}, folder.path(), variables).wait();
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(contains(outcome.err, "TESSERA_TUNING: no table for this machine in " + folder.path().string() + ": no "),
             outcome.err);
}

/// One sentence that is the same in every program; what it says in each kind of installation is tested in
/// tests/system/plugin.
BOOST_AUTO_TEST_CASE(a_missing_plugin_is_one_sentence_everywhere) {
  const nlohmann::json report = nlohmann::json::parse(info({"--json"}).out);
  for (const nlohmann::json& backend : report["backends"]) {
    if (backend["backend"] != "cuda" || backend["built"] == true) continue;
    const auto reason = backend["reason"].get<std::string>();
    BOOST_TEST(contains(reason, "nvcc"), reason);
    BOOST_TEST(contains(reason, "; to use an NVIDIA GPU, "), reason);
    BOOST_TEST(contains(reason, " (no libtessera_cuda.so)"), reason);
    const std::string line = "gemm_compare: backend cuda is not available: " + reason + "\n";
    if (has_gpu(report)) continue;
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"--gpu", "--sizes", "8"}, {"--cpu", "--gpu", "--sizes", "8", "--repeat", "1"}}) {
      const std::string errors = compare(words).err;
      BOOST_TEST(contains("\n" + errors, "\n" + line), errors);
    }
    BOOST_TEST(contains(compare({"--list"}).out, "cuda: not available: " + reason + "\n"));
    BOOST_TEST(contains(info({}).out, "not available: " + reason + "\n"));
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
