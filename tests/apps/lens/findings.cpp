/// Findings in kernels/faulty.cu: each is named at its line, and nothing else is found.

#include <set>

#include "looked.hpp"

namespace tessera::lens::testing {

BOOST_AUTO_TEST_SUITE(findings_suite, *boost::unit_test::precondition(HasCompiler()))

BOOST_AUTO_TEST_CASE(each_fault_at_its_line) {
  const std::string file = kernel_file("faulty.cu");
  const Report report = look_at(file, {64, 64, 64});
  std::set<const FindingReport*> expected;
  for (int number = 1; number <= 17; ++number)
    for (const std::string kind :
         {"race", "uninitialised", "out_of_bounds", "misaligned", "barrier_divergence", "launch_failed"}) {
      const int line = line_of(file, kind + " " + std::to_string(number));
      if (line == 0) continue;
      const int earlier = line_of(file, "earlier " + std::to_string(number));
      const FindingReport* found = nullptr;
      for (const FindingReport& one : report.findings) {
        const bool either_way = one.place.line == earlier && one.other.line == line; // a race has no direction
        if (one.kind == kind && (one.place.line == line || (kind == "race" && either_way))) {
          if (kind == "race" && earlier != 0)
            BOOST_TEST((either_way || one.other.line == earlier), "line " << line << ": other line " << one.other.line);
          found = &one;
        }
      }
      BOOST_TEST(found != nullptr, kind << " at line " << line << " was not found");
      if (found != nullptr) expected.insert(found);
    }
  BOOST_TEST(expected.size() == 17u);
  for (const FindingReport& one : report.findings)
    if (expected.count(&one) == 0) {
      // An element past the end of an array is another's race as well.
      BOOST_TEST(one.kind == "race");
      BOOST_TEST(
          (one.place.line == line_of(file, "out_of_bounds 8") || one.other.line == line_of(file, "out_of_bounds 8")),
          one.kind << " at line " << one.place.line << ": " << one.message);
    }
}

BOOST_AUTO_TEST_CASE(the_words) {
  const std::string file = kernel_file("faulty.cu");
  const Report report = look_at(file, {64, 64, 64});
  const auto message = [&](const std::string& mark) {
    for (const FindingReport& one : report.findings)
      if (one.place.line == line_of(file, mark) && mark.compare(0, one.kind.size(), one.kind) == 0) return one.message;
    return std::string("none");
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  BOOST_TEST(has(message("out_of_bounds 6"), "reads element 4096 of A, which has 4096 elements: just past its end"));
  BOOST_TEST(has(message("out_of_bounds 7"), "element -1 of A"));
  BOOST_TEST(has(message("out_of_bounds 8"), "of first, which has 256 bytes"));
  BOOST_TEST(has(message("out_of_bounds 10"), "is it a pointer of the host?"));
  BOOST_TEST(has(message("out_of_bounds 11"), "has been freed"));
  BOOST_TEST(has(message("uninitialised 5"), "thread (63, 0) of block (0, 0) reads element 63 of tile"));
  BOOST_TEST(has(message("misaligned 12"), "reads 16 bytes at A(0, 1)"));
  BOOST_TEST(has(message("barrier_divergence 13"), "thread (40, 0) of the block has ended without it"));
  BOOST_TEST(has(message("race 4"), "another block"));
  BOOST_TEST(has(message("launch_failed 15"), "1025 threads"));
}

BOOST_AUTO_TEST_CASE(a_wrong_product) {
  const Report report = look_at(kernel_file("wrong.cu"), {32, 32, 40});
  BOOST_TEST(report.product.find("C(0, ") == 0u);
  BOOST_TEST(report.product.find("elements of C are wrong") != std::string::npos);
  BOOST_TEST(!report.well());
}

BOOST_AUTO_TEST_CASE(room_between_rows) {
  Question question;
  question.kernel = kernel_file("padded.cu");
  question.shape = {20, 30, 10};
  const auto load_sectors = [&] { return sum_of(launch(look(question), "product"), "global load", "B").sectors; };
  const std::uint64_t dense = load_sectors();
  question.ld_pad = 2; // rows of B begin at sectors
  BOOST_TEST(load_sectors() == 20u * 10 * 4);
  BOOST_TEST(dense > 20u * 10 * 4);
  BOOST_TEST(look(question).well());
  question.alpha = 2;
  BOOST_TEST(look(question).product ==
             "something was written to C(0, 30), past the row's end at column 30: is a guard missing?");
  question.ld_pad.reset(); // the same kernel without room has nowhere else to write
  BOOST_TEST(look(question).well());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::lens::testing
