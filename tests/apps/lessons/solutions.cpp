/// Each lesson's rung passes it, and the rung before it does not.

#include <fstream>
#include <iterator>

#include <boost/test/unit_test.hpp>

#include "folder.hpp"
#include "wrong_solutions.hpp"

namespace tessera::lessons::testing {
namespace {

std::string text_at(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

template <class Of>
void try_lessons(Of of) {
  for (const Lesson& lesson : lessons()) {
    if (!of(lesson)) continue;
    BOOST_TEST_CONTEXT(lesson.name) {
      const Report solved = report_of(lesson, with_mistake(lesson, {}));
      BOOST_TEST(solved.passed, to_text(lesson, solved));
      BOOST_TEST(solved.right == solved.cases);
      const test::Folder folder;
      const Folder begun = make_folder(lesson, folder.path());
      const Report before = report_of(lesson, text_at(begun.file));
      BOOST_TEST(!before.passed);
      if (lesson.counter == Counter::Nothing) {
        BOOST_TEST(!before.finding.none());
        continue;
      }
      BOOST_TEST(before.finding.none(), to_text(lesson, before));
      BOOST_TEST(to_text(lesson, before).find("the count is still that of") != std::string::npos);
    }
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(solutions)

BOOST_AUTO_TEST_CASE(on_processor) {
  try_lessons([](const Lesson& x) { return x.machine == Machine::Processor && x.work == Work::Product; });
}
BOOST_AUTO_TEST_CASE(on_gpu) {
  try_lessons([](const Lesson& x) { return x.machine == Machine::Gpu; });
}
BOOST_AUTO_TEST_CASE(of_factors) {
  try_lessons([](const Lesson& x) { return x.work != Work::Product; });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::lessons::testing
