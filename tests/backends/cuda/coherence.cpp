/// Tests how often a matrix's elements cross the bus. Operands that are on the device are not copied again, and reading
/// a result fetches it once. An executor that forwards to the CUDA executor counts the copies.

#include <tessera/tessera.hpp>

#include "round_trip.hpp"

using namespace tessera;
using namespace tessera::cuda_test;

namespace {

class CountingExecutor final : public Executor {
 public:
  explicit CountingExecutor(Executor& real) : real_(real) {}

  int in = 0;
  int out = 0;

  const Capabilities& capabilities() const noexcept override { return real_.capabilities(); }
  Status run_allocate(std::size_t bytes, void*& memory) noexcept override { return real_.allocate(bytes, memory); }
  void run_free(void* memory) noexcept override { real_.free(memory); }
  Status run_copy_in(Queue& queue, void* device, std::size_t device_pitch, const void* host, std::size_t host_pitch,
                     std::size_t width, std::size_t rows) noexcept override {
    ++in;
    return real_.copy_in(queue, device, device_pitch, host, host_pitch, width, rows);
  }
  Status run_copy_out(Queue& queue, void* host, std::size_t host_pitch, const void* device, std::size_t device_pitch,
                      std::size_t width, std::size_t rows) noexcept override {
    ++out;
    return real_.copy_out(queue, host, host_pitch, device, device_pitch, width, rows);
  }
  Queue& default_queue() noexcept override { return real_.default_queue(); }
  Status create_queue(std::unique_ptr<Queue>& queue) noexcept override { return real_.create_queue(queue); }
  Status create_event(std::unique_ptr<Event>& event) noexcept override { return real_.create_event(event); }
  std::span<const GemmKernel> gemm_kernels() const noexcept override { return real_.gemm_kernels(); }
  std::span<const ReduceKernel> reduce_kernels() const noexcept override { return real_.reduce_kernels(); }
  Status run_map(Queue& queue, const MapCall& call) noexcept override { return real_.map(queue, call); }
  Status run_finish(Queue& queue, const FinishCall& call) noexcept override { return real_.finish(queue, call); }
  Status run_random(Queue& queue, const RandomCall& call) noexcept override { return real_.random(queue, call); }
  Status measure_ceilings(DType type, Math math, int threads, Ceilings& ceilings) noexcept override {
    return real_.measure_ceilings(type, math, threads, ceilings);
  }

 private:
  Executor& real_;
};

struct Fixture {
  CountingExecutor counting{executor(Backend::Cuda)};
  Matrix<float> a = Matrix<float>::random(200, 130, Seed{1});
  Matrix<float> b = Matrix<float>::random(200, 130, Seed{2});

  void check_copies(int in, int out) {
    BOOST_TEST(counting.in == in);
    BOOST_TEST(counting.out == out);
  }
  void bring(const Matrix<float>& x) { x.operand().storage->read_on(counting); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(coherence, Fixture)

BOOST_AUTO_TEST_CASE(an_operand_is_copied_once) {
  bring(a);
  bring(a);
  check_copies(1, 0);
}

BOOST_AUTO_TEST_CASE(element_wise_work_follows_its_operands_and_stays) {
  bring(a);
  const Matrix<float> sum = a + b; // b is copied in here.
  const Matrix<float> more = sum + a;
  const Matrix<float> scaled = 2.0f * more;
  check_copies(2, 0);
  BOOST_TEST(scaled.newest_on() == &counting);
  const float expected =
      2.0f * ((std::as_const(a)(199, 129) + std::as_const(b)(199, 129)) + std::as_const(a)(199, 129));
  BOOST_TEST(scaled(199, 129) == expected);
  check_copies(2, 1);
  BOOST_TEST(scaled(0, 0) == scaled(0, 0)); // The elements have been fetched already.
  check_copies(2, 1);
  BOOST_TEST(scaled.newest_on() == nullptr);
}

BOOST_AUTO_TEST_CASE(a_product_of_resident_operands_copies_nothing) {
  const Matrix<float> bt = transpose(b);
  bring(a);
  bring(bt);
  check_copies(2, 0);
  const Matrix<float> c = gemm(a, bt); // Backend::Auto stays where the operands are.
  const Matrix<float> d = gemm(c, c);
  check_copies(2, 0);
  BOOST_TEST(d.newest_on() == &counting);
  BOOST_TEST((c == gemm(a, bt, Backend::Reference)));
  check_copies(2, 1);
  BOOST_TEST((d == gemm(c, c, Backend::Reference)));
  check_copies(2, 2);
}

BOOST_AUTO_TEST_CASE(reading_on_the_host_keeps_the_device_copy_and_writing_makes_it_stale) {
  bring(a);
  BOOST_TEST(std::as_const(a)(3, 4) == std::as_const(a)(3, 4));
  bring(a);
  check_copies(1, 0);
  a(3, 4) = 42.0f;
  bring(a);
  check_copies(2, 0);
  const Matrix<float> twice = 2.0f * a;
  BOOST_TEST(twice(3, 4) == 84.0f);
  check_copies(2, 1);
}

BOOST_AUTO_TEST_CASE(a_result_that_is_overwritten_is_not_copied_to_the_device) {
  const Matrix<float> bt = transpose(b);
  Matrix<float> c = Matrix<float>(200, 200, 7.0f);
  bring(a);
  bring(bt);
  gemm(1.0f, a, bt, 0.0f, c); // With beta = 0, c's elements are not needed.
  check_copies(2, 0);
  gemm(1.0f, a, bt, 1.0f, c); // Beta is 1: c's elements are needed, and are on the device.
  check_copies(2, 0);
  BOOST_TEST(c.newest_on() == &counting);
}

BOOST_AUTO_TEST_CASE(reductions_run_where_the_elements_are) {
  bring(a);
  const double on_device = a.sum_of_squares();
  check_copies(1, 0);
  const Matrix<float> on_host = Matrix<float>::random(200, 130, Seed{1});
  BOOST_TEST(on_device == on_host.sum_of_squares()); // The bits are equal on every backend.
}

BOOST_AUTO_TEST_SUITE_END()
