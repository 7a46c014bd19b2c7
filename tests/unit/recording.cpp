/// Backends that do not record say so; so do devices that tell nothing of their state.

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/device_state.hpp>
#include <tessera/recording.hpp>

using namespace tessera;

BOOST_AUTO_TEST_SUITE(recording)

BOOST_AUTO_TEST_CASE(a_queue_that_does_not_record_rejects_and_runs_nothing) {
  Queue& queue = executor(Backend::Reference).default_queue();
  BOOST_TEST(!records(queue));
  bool ran = false;
  std::unique_ptr<Recording> recording;
  const Status status = record(
      queue,
      [&] {
        ran = true;
        return Status{};
      },
      recording);
  BOOST_TEST(static_cast<int>(status.code) == static_cast<int>(StatusCode::Rejected));
  BOOST_TEST(!status.why.empty());
  BOOST_TEST(recording == nullptr);
  BOOST_TEST(!ran);
}

BOOST_AUTO_TEST_CASE(a_processor_tells_no_state) {
  DeviceState state;
  const Status status = read_device_state(executor(Backend::Reference), state);
  BOOST_TEST(static_cast<int>(status.code) == static_cast<int>(StatusCode::Unavailable));
}

BOOST_AUTO_TEST_SUITE_END()
