/// TESSERA_PROFILE and TESSERA_TOOLS in programs of their own.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "support/expect.hpp"
#include "support/tested_backend.hpp"

using tessera::test::contains;

namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// Runs the program on the tested backend with these variables; returns what it printed. The shell takes the program's
/// path from a variable, too, so that a path may have any character.
std::string printed_with(Variables variables) {
  variables.emplace_back("TOOL_PROGRAM", TOOL_PROGRAM);
  variables.emplace_back("TOOL_BACKEND", to_string(tessera::test::tested_backend()));
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  std::string text;
  FILE* pipe = popen("\"$TOOL_PROGRAM\" \"$TOOL_BACKEND\" 2>&1", "r");
  for (const auto& [name, value] : variables) unsetenv(name.c_str());
  BOOST_TEST_REQUIRE(pipe != nullptr);
  char bytes[4096];
  while (const std::size_t count = fread(bytes, 1, sizeof bytes, pipe)) text.append(bytes, count);
  pclose(pipe);
  return text;
}

std::string library(const std::string& name) { return std::string(TOOL_DIR) + "/" + name + ".so"; }

void expect(const Variables& variables, std::initializer_list<std::string> parts) {
  const std::string printed = printed_with(variables);
  for (const std::string& part : parts) BOOST_TEST(contains(printed, part), printed << "lacks '" << part << "'");
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

} // namespace

BOOST_AUTO_TEST_SUITE(environment)

BOOST_AUTO_TEST_CASE(the_summary_is_a_table) {
  const std::string printed = printed_with({{"TESSERA_PROFILE", "summary"}});
  const std::string backend(to_string(tessera::test::tested_backend()));
  for (const std::string& part :
       {std::string("norm "), std::string("tessera: TESSERA_PROFILE=summary: "), std::string("GFLOP/s"),
        std::string("axpby"), std::string("random"), " product       " + backend, std::string(" reduction     ")})
    BOOST_TEST(contains(printed, part), printed << "lacks '" << part << "'");
  BOOST_TEST(count_of(printed, "TESSERA_PROFILE=summary") == 1u, printed);
}

BOOST_AUTO_TEST_CASE(nothing_is_printed_unasked) {
  BOOST_TEST(!contains(printed_with({{"TESSERA_PROFILE", ""}, {"TESSERA_TOOLS", ""}}), "tessera"));
}

BOOST_AUTO_TEST_CASE(an_unknown_word_names_the_nearest) {
  // The second attempt of the program fails as the first one does.
  const std::string printed = printed_with({{"TESSERA_PROFILE", "sumary"}});
  BOOST_TEST(count_of(printed, "TESSERA_PROFILE: unknown profile 'sumary'; did you mean 'summary'?") == 2u, printed);
  expect({{"TESSERA_PROFILE", "summary,nvxt"}}, {"unknown profile 'nvxt'; did you mean 'nvtx'?"});
  BOOST_TEST(!contains(printed_with({{"TESSERA_PROFILE", "summary,nvxt"}}), "GFLOP/s")); // all or none
  expect({{"TESSERA_PROFILE", "summary,summary"}}, {"error 1: TESSERA_PROFILE: tool 'summary' is registered already"});
}

BOOST_AUTO_TEST_CASE(ranges_of_nvtx_or_the_reason) {
  const std::string printed = printed_with({{"TESSERA_PROFILE", "nvtx"}});
#if defined(TESSERA_HAVE_NVTX)
  BOOST_TEST(contains(printed, "norm "), printed);
#else
  BOOST_TEST(contains(printed, "built without NVTX"), printed);
#endif
}

BOOST_AUTO_TEST_CASE(a_library_is_a_tool) {
  expect({{"TESSERA_TOOLS", library("works")}}, {"norm ", "the tool saw 3 products"});
  expect({{"TESSERA_PROFILE", "summary"}, {"TESSERA_TOOLS", library("works")}}, {"the tool saw 3 products", "GFLOP/s"});
}

/// What a tool's library does before it is a tool is reported to no tool.
BOOST_AUTO_TEST_CASE(libraries_that_multiply_while_they_are_loaded) {
  for (const char* name : {"multiplies_as_loaded", "multiplies_in_entry"})
    for (const char* profile : {"", "summary"})
      expect({{"TESSERA_TOOLS", library(name)}, {"TESSERA_PROFILE", profile}},
             {"the tool's own product: status 0, 4\n", "norm ", "the tool saw 3 products"});
}

BOOST_AUTO_TEST_CASE(libraries_that_are_no_tools) {
  expect({{"TESSERA_TOOLS", "/nonexistent/tool.so"}}, {"error 6: TESSERA_TOOLS: cannot load /nonexistent/tool.so"});
  expect({{"TESSERA_TOOLS", "works.so"}}, {"error 1: TESSERA_TOOLS: 'works.so' is not an absolute path"});
  expect({{"TESSERA_TOOLS", library("no_entry")}}, {"no_entry.so is not a tool: it does not export tessera_tool"});
  expect({{"TESSERA_TOOLS", library("returns_null")}}, {"its tessera_tool returned null"});
  expect({{"TESSERA_TOOLS", library("wrong_size")}},
         {"error 1: TESSERA_TOOLS: cannot use " + library("wrong_size"), "8 bytes", "rebuild the tool"});
  expect({{"TESSERA_TOOLS", library("works") + ":" + library("no_entry")}}, {"is not a tool"});
  expect({{"TESSERA_TOOLS", library("works") + ":" + library("works")}}, {"tool 'counter' is registered already"});
}

BOOST_AUTO_TEST_SUITE_END()
