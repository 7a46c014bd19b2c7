#include <tessera/status.hpp>

#include <boost/test/unit_test.hpp>

#include "support/expect.hpp"

using namespace tessera;
using tessera::test::expect_error;

BOOST_AUTO_TEST_SUITE(status)

BOOST_AUTO_TEST_CASE(success_throws_nothing) {
  BOOST_TEST(Status::success().ok());
  throw_if_failed({});
}

BOOST_AUTO_TEST_CASE(each_code_has_its_exception_with_the_text) {
  const auto failing = [](StatusCode code) { return [code] { throw_if_failed(Status::failure(code, "the reason")); }; };
  expect_error<InvalidArgument>(failing(StatusCode::InvalidArgument), {"the reason"});
  expect_error<KernelRejected>(failing(StatusCode::Rejected), {"the reason"});
  expect_error<BackendUnavailable>(failing(StatusCode::Unavailable), {"the reason"});
  expect_error<OutOfMemory>(failing(StatusCode::OutOfMemory), {"the reason"});
  expect_error<DeviceError>(failing(StatusCode::DeviceError), {"the reason"});
  expect_error<IoError>(failing(StatusCode::IoError), {"the reason"});
  expect_error<Error>(failing(StatusCode::Internal), {"the reason"});
  expect_error<DataCorruption>(failing(StatusCode::DataCorruption), {"the reason"});
}

BOOST_AUTO_TEST_CASE(every_exception_is_an_error_and_keeps_its_code) {
  for (int value = 1; value <= static_cast<int>(StatusCode::DataCorruption); ++value) {
    const auto code = static_cast<StatusCode>(value);
    try {
      throw_if_failed(Status::failure(code, "why"));
      BOOST_ERROR("nothing was thrown");
    } catch (const Error& error) {
      BOOST_TEST((error.code() == code));
    }
  }
}

/// Where memory is exhausted there may be none for a text.
BOOST_AUTO_TEST_CASE(a_status_without_text_still_says_something) {
  expect_error<OutOfMemory>([] { throw_if_failed({StatusCode::OutOfMemory, {}}); }, {"out of memory"});
}

BOOST_AUTO_TEST_SUITE_END()
