#include "looked.hpp"

#include <cstdlib>
#include <fstream>

namespace tessera::lens::testing {

boost::test_tools::assertion_result HasCompiler::operator()(boost::unit_test::test_unit_id) const {
  boost::test_tools::assertion_result result(std::system("g++ --version >/dev/null 2>&1") == 0);
  result.message() << "there is no g++";
  return result;
}

std::string kernel_file(const std::string& name) { return std::string(KERNEL_FOLDER) + "/" + name; }

Report look_at(const std::string& kernel, GemmShape shape, DType type, Op op_a, Op op_b) {
  Question question;
  question.kernel = kernel;
  question.shape = shape;
  question.type = type;
  question.op_a = op_a;
  question.op_b = op_b;
  return look(question);
}

const LaunchReport& launch(const Report& report, const std::string& name) {
  for (const LaunchReport& one : report.launches)
    if (one.name == name) return one;
  BOOST_FAIL("there was no launch of " + name);
  throw 0;
}

LineAccess sum_of(const LaunchReport& launch, const std::string& access, const std::string& array) {
  LineAccess sum;
  sum.access = access;
  for (const LineAccess& line : launch.lines) {
    if (line.access != access || line.array != array) continue;
    sum.requests += line.requests;
    sum.sectors += line.sectors;
    sum.wavefronts += line.wavefronts;
    sum.lanes += line.lanes;
    sum.bytes_asked += line.bytes_asked;
    sum.bytes_moved += line.bytes_moved;
  }
  return sum;
}

int line_of(const std::string& path, const std::string& text) {
  std::ifstream file(path);
  const std::string end = "// " + text;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.size() >= end.size() && line.compare(line.size() - end.size(), end.size(), end) == 0) return number;
  }
  return 0;
}

} // namespace tessera::lens::testing
