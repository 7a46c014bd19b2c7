#pragma once

/// A look through the lens at a kernel of this folder, and what a test asks of it.

#include <string>

#include <boost/test/unit_test.hpp>

#include "gemm_lens/report.hpp"

namespace tessera::lens::testing {

/// Says whether there is a GCC and whether the run-time library was built without a sanitizer's own calls.
struct HasCompiler {
  boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const;
};

std::string kernel_file(const std::string& name);
/// Looks at a file or a rung.
Report look_at(const std::string& kernel, GemmShape shape, DType type = DType::F32, Op op_a = Op::None,
               Op op_b = Op::None);

/// Returns the launch of this name, the first of several; fails the test if there is none.
const LaunchReport& launch(const Report& report, const std::string& name);
/// Returns the accesses of this kind to this array, of all lines of the launch together.
LineAccess sum_of(const LaunchReport& launch, const std::string& access, const std::string& array);

/// Returns the number of the line of a file that ends with "// TEXT"; 0 if there is none.
int line_of(const std::string& path, const std::string& text);

} // namespace tessera::lens::testing
