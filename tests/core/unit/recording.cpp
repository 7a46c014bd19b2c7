/// Backends whose queues do not record report it, and so do devices that do not report their state.

#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/backend/device_state.hpp>
#include <tessera/complex.hpp>
#include <tessera/performance/recording.hpp>

#include "fake_device.hpp"
#include "support/expect.hpp"

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

/// Memory is allocated in the order of the default queue, so only this queue records products that need memory.
BOOST_AUTO_TEST_CASE(products_that_need_memory_are_recorded_on_the_default_queue_alone) {
  struct RecordingQueue : Queue, Recorder {
    Status synchronize() noexcept override { return {}; }
    Status begin_recording() noexcept override { return {}; }
    Status end_recording(std::unique_ptr<Recording>&) noexcept override { return {}; }
  } queue;
  class PlainDevice : public test::FakeDevice { // its kernels leave rounding to a separate pass
   public:
    std::span<const GemmKernel> gemm_kernels() const noexcept override { return kernels_; }

   private:
    std::vector<GemmKernel> kernels_ = [] {
      const auto all = executor(Backend::Reference).gemm_kernels();
      std::vector<GemmKernel> plain(all.begin(), all.end());
      for (GemmKernel& kernel : plain) kernel.narrows = kernel.epilogue = false;
      return plain;
    }();
  } device;
  float a[4] = {1, 2, 3, 4};
  f16 c[4] = {};
  double z[4] = {};
  const GemmCall narrow{{.m = 2, .n = 2, .k = 2, .a = a, .lda = 2, .b = a, .ldb = 2, .c = c, .ldc = 2}, DType::F16};
  const ComplexGemmCall complex{
      {.type = DType::F32, .m = 1, .n = 1, .k = 1, .a = a, .lda = 1, .b = a, .ldb = 1, .c = z, .ldc = 1}};
  const std::function<Status()> products[] = {[&] { return device.gemm(queue, narrow); },
                                              [&] { return gemm(device, queue, complex); }};
  for (const auto& product : products) {
    std::unique_ptr<Recording> recording;
    const Status status = record(queue, product, recording);
    BOOST_TEST(static_cast<int>(status.code) == static_cast<int>(StatusCode::Rejected));
    BOOST_TEST(test::contains(status.why, "default queue"), status.why);
    const Status plain = product();
    BOOST_TEST(plain.ok(), plain.why);
  }
  BOOST_TEST(static_cast<float>(c[3]) == 22.0f);
  BOOST_TEST(device.blocks() == 0u);
}

BOOST_AUTO_TEST_CASE(a_processor_tells_no_state) {
  DeviceState state;
  const Status status = read_device_state(executor(Backend::Reference), state);
  BOOST_TEST(static_cast<int>(status.code) == static_cast<int>(StatusCode::Unavailable));
}

BOOST_AUTO_TEST_SUITE_END()
