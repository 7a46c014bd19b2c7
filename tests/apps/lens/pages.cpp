/// The table, the JSON and the page of a report.

#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "gemm_lens/show/show.hpp"
#include "looked.hpp"

namespace tessera::lens::testing {
namespace {
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
const Report& tiled() {
  static const Report report = look_at(kernel_file("tiled.cu"), {40, 40, 40});
  return report;
}
} // namespace

BOOST_AUTO_TEST_SUITE(pages_suite, *boost::unit_test::precondition(HasCompiler()))

BOOST_AUTO_TEST_CASE(json_document) {
  const nlohmann::json document = nlohmann::json::parse(json(tiled()));
  for (const char* key : {"kernel", "file", "shape", "launches", "findings", "not_said", "product", "heat"})
    BOOST_TEST(document.contains(key), key);
  BOOST_TEST(document["product"] == "right");
  const nlohmann::json& launch = document["launches"].at(0);
  for (const char* key : {"name", "grid", "block", "shared_bytes", "barriers", "divergent_branches", "lines"})
    BOOST_TEST(launch.contains(key), key);
  const std::set<std::string> kinds{"global load", "global store", "shared load", "shared store"};
  for (const nlohmann::json& line : launch["lines"]) {
    for (const char* key : {"line", "function", "requests", "sectors", "wavefronts", "bytes_asked", "bytes_moved"})
      BOOST_TEST(line.contains(key), key);
    BOOST_TEST(kinds.count(line["access"].get<std::string>()) == 1u);
    BOOST_TEST(line["function"] == "tiled");
    BOOST_TEST(line["sample"]["addresses"].size() == 32u);
  }
  BOOST_TEST(document["heat"].size() == 3u);
  BOOST_TEST(document["heat"][2]["array"] == "C");
  // Each of the 5 sectors of a row of C is stored to once or, where two warps' halves meet, twice.
  for (const nlohmann::json& row : document["heat"][2]["requests_of_a_sector"])
    for (const nlohmann::json& cell : row) BOOST_TEST(cell.get<double>() >= 1);
}

BOOST_AUTO_TEST_CASE(table_and_page) {
  const std::string text = table(tiled());
  BOOST_TEST(has(text, "tiled: grid 3x3, block 16x16"));
  BOOST_TEST(has(text, "product: right"));
  BOOST_TEST(has(text, "not said:"));
  const std::string page = html(tiled());
  BOOST_TEST(has(page, "prefers-color-scheme: dark"));
  BOOST_TEST(has(page, "<svg"));
  BOOST_TEST(has(page, "sum += As[threadIdx.y][p] * Bs[p][threadIdx.x];"));
  BOOST_TEST(!has(page, "http"));
  BOOST_TEST(!has(page, "<script"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::lens::testing
