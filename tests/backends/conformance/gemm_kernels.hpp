#pragma once

#include <boost/test/unit_test_suite.hpp>

namespace tessera::conformance {

/// Adds one test case for each kernel of the subject's ladder, and one for the kernel that the subject chooses itself.
/// Their names are gemm/<type>/<mode>/<row>.
void add_gemm_kernels(boost::unit_test::test_suite& root);

} // namespace tessera::conformance
