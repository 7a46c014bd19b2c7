/// Wrong solutions: a rung with one mistake in it. Each has to be found, and named so that a learner knows where to
/// look.

#include "wrong_solutions.hpp"

#include <fstream>
#include <iterator>

#include <boost/test/unit_test.hpp>

namespace tessera::lessons::testing {
namespace {

std::string text_of_rung(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace

std::string with_mistake(const Lesson& lesson, const std::vector<Edit>& edits) {
  std::string text = text_of_rung(std::filesystem::path(TESSERA_ROOT) / lesson.rung_file);
  for (const Edit& edit : edits) {
    const std::size_t at = text.find(edit.from);
    BOOST_REQUIRE_MESSAGE(at != std::string::npos, lesson.rung_file << " no longer has: " << edit.from);
    text.replace(at, std::string(edit.from).size(), edit.to);
  }
  return text;
}

Report report_of(const Lesson& lesson, const std::string& text) {
  const test::Folder folder;
  const std::filesystem::path file = folder.path() / file_name(lesson);
  std::ofstream(file) << text;
  Limits limits{.seconds = 20, .threads = 4, .races = false, .judge_program = JUDGE_PROGRAM};
  const Report report = check(lesson, file, limits, [](const char*) {});
  BOOST_TEST_MESSAGE(to_text(lesson, report));
  return report;
}

void expect(const WrongSolution& wrong) {
  const Lesson& lesson = lesson_named(wrong.lesson);
  const Report report = report_of(lesson, with_mistake(lesson, wrong.edits));
  BOOST_TEST_CONTEXT(wrong.lesson << ": " << wrong.what) {
    BOOST_TEST(!report.passed);
    BOOST_TEST(static_cast<int>(report.finding.mistake) == static_cast<int>(wrong.mistake));
    const std::string said = to_text(lesson, report);
    for (const char* word : wrong.words)
      BOOST_TEST(said.find(word) != std::string::npos, "'" << word << "' is not in:\n" << said);
  }
}

} // namespace tessera::lessons::testing
