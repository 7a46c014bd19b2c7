/// Bad calls and exhausted memory give a status that says what is wrong; nothing is written, and the executor works on.
/// Several callers may share an executor, or use it again and again.

#include <memory>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "problem.hpp"
#include "shapes.hpp"
#include "support/subject.hpp"

namespace tessera::conformance {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Checks that a product with alpha, beta and padding still comes out right.
void check_usable() {
  Case x{.m = 19, .n = 23, .k = 29, .alpha = -1, .beta = 0.6875};
  x.c.padding = 3;
  Problem<float> problem(x);
  GemmKernel any;
  any.name = "(any)";
  any.summation = Summation::Canonical;
  std::optional<std::string> rejection;
  BOOST_TEST(problem.check(any, false, rejection) == "");
  BOOST_TEST(!rejection.has_value(), rejection.value_or(""));
}

/// Runs a call that is wrong in one way. Expects InvalidArgument, a text that has all the parts, and an unchanged C.
template <class Change>
void check_refused(Change change, const std::vector<std::string>& parts) {
  Guarded<float> a(subject(), 4, 6, {2, 16, false});
  Guarded<float> b(subject(), 6, 5, {2, 16, false});
  Guarded<float> c(subject(), 4, 5, {2, 16, false});
  for (Guarded<float>* x : {&a, &b, &c}) {
    fill(*x, [](std::uint64_t e) { return uniform<float>(41, e); });
    x->upload();
  }
  GemmCall call{{.type = DType::F32,
                 .m = 4,
                 .n = 5,
                 .k = 6,
                 .a = a.data(),
                 .lda = a.ld(),
                 .b = b.data(),
                 .ldb = b.ld(),
                 .c = c.data(),
                 .ldc = c.ld()}};
  change(call);
  const Status status = subject().gemm(subject().default_queue(), call);
  BOOST_TEST((status.code == StatusCode::InvalidArgument), status.why);
  for (const std::string& part : parts)
    BOOST_TEST(contains(status.why, part), "'" << status.why << "' lacks '" << part << "'");
  BOOST_TEST(c.unchanged());
}

} // namespace

BOOST_AUTO_TEST_SUITE(faults)

BOOST_AUTO_TEST_CASE(a_bad_call_is_refused) {
  check_refused([](GemmCall& call) { call.m = -4; }, {"m = -4", "negative"});
  check_refused([](GemmCall& call) { call.lda = 5; }, {"lda = 5", "6"});
  check_refused([](GemmCall& call) { call.ldb = 4; }, {"ldb = 4", "5"});
  check_refused([](GemmCall& call) { call.ldc = 4; }, {"ldc = 4", "5"});
  check_refused([](GemmCall& call) { call.a = nullptr; }, {"a is null", "4×6"});
  check_refused([](GemmCall& call) { call.c = nullptr; }, {"c is null", "4×5"});
  check_refused(
      [](GemmCall& call) {
        call.a = call.c;
        call.lda = call.ldc = 7;
      },
      {"c overlaps a"});
  check_refused(
      [](GemmCall& call) {
        call.k = Index{1} << 62;
        call.lda = call.k;
      },
      {"a", "overflow"});
  check_refused([](GemmCall& call) { call.threads = -2; }, {"threads = -2"});
  check_usable();
}

BOOST_AUTO_TEST_CASE(a_kernel_that_does_not_exist_is_named_with_its_neighbour) {
  float one = 1;
  GemmCall call{{.type = DType::F32, .m = 1, .n = 1, .k = 1, .a = &one, .lda = 1, .b = &one, .ldb = 1, .ldc = 1}};
  Guarded<float> c(subject(), 1, 1, {});
  call.c = c.data();
  const std::string known = subject().gemm_kernels().front().name;
  const Status status = subject().gemm(subject().default_queue(), call, known + "x");
  BOOST_TEST((status.code == StatusCode::InvalidArgument));
  BOOST_TEST(contains(status.why, "'" + known + "x'"), status.why);
  BOOST_TEST(contains(status.why, "did you mean '" + known + "'"), status.why);
}

BOOST_AUTO_TEST_CASE(empty_operands_may_be_null) {
  const GemmCall call{{.type = DType::F32, .m = 0, .n = 3, .k = 0, .lda = 1, .ldb = 3, .ldc = 3}};
  const Status status = subject().gemm(subject().default_queue(), call);
  BOOST_TEST(status.ok(), status.why);
}

BOOST_AUTO_TEST_CASE(memory_that_is_not_there_is_refused_and_the_executor_works_on) {
  constexpr std::size_t too_much = std::size_t{1} << 48; // more than a process can address
  int marker = 0;
  void* memory = &marker;
  const Status status = subject().allocate(too_much, memory);
  BOOST_TEST((status.code == StatusCode::OutOfMemory), status.why);
  BOOST_TEST(contains(status.why, std::to_string(too_much)), "'" << status.why << "' lacks the number of bytes");
  BOOST_TEST(memory == nullptr);
  check_usable();
}

BOOST_AUTO_TEST_CASE(queues_and_events) {
  std::unique_ptr<Queue> queue;
  std::unique_ptr<Event> start, stop;
  throw_if_failed(subject().create_queue(queue));
  throw_if_failed(subject().create_event(start));
  throw_if_failed(subject().create_event(stop));
  BOOST_REQUIRE(queue != nullptr);
  throw_if_failed(start->record(*queue));
  Guarded<double> z(subject(), 200, 300, {});
  throw_if_failed(
      subject().random(*queue, {.type = DType::F64, .rows = 200, .cols = 300, .z = z.data(), .ldz = z.ld()}));
  throw_if_failed(stop->record(*queue));
  throw_if_failed(stop->synchronize());
  double seconds = -1;
  throw_if_failed(stop->seconds_since(*start, seconds));
  BOOST_TEST(seconds > 0);
  BOOST_TEST(seconds < 60);
  throw_if_failed(queue->synchronize());
  z.download();
  BOOST_TEST(z.at(0, 0) == random_element<double>(Distribution::Uniform, 0, 0, -1.0, 1.0));
}

/// Several threads may use an executor at once, each with its own queue.
BOOST_AUTO_TEST_CASE(threads_share_an_executor) {
  constexpr Index n = 90;
  const auto product = [](std::uint64_t seed, std::vector<float>& result) {
    std::unique_ptr<Queue> queue;
    throw_if_failed(subject().create_queue(queue));
    Guarded<float> a(subject(), n, n, {}), b(subject(), n, n, {}), c(subject(), n, n, {});
    fill(a, [&](std::uint64_t e) { return uniform<float>(seed, e); });
    fill(b, [&](std::uint64_t e) { return uniform<float>(seed + 1, e); });
    a.upload();
    b.upload();
    for (int repeat = 0; repeat < 10; ++repeat)
      throw_if_failed(subject().gemm(*queue, {{.type = DType::F32,
                                               .m = n,
                                               .n = n,
                                               .k = n,
                                               .a = a.data(),
                                               .lda = a.ld(),
                                               .b = b.data(),
                                               .ldb = b.ld(),
                                               .c = c.data(),
                                               .ldc = c.ld(),
                                               .threads = 2}}));
    throw_if_failed(queue->synchronize());
    c.download();
    result = compact(c);
  };
  std::vector<std::vector<float>> together(3), alone(3);
  {
    std::vector<std::jthread> workers;
    for (std::size_t t = 0; t < together.size(); ++t) workers.emplace_back([&, t] { product(50 + t, together[t]); });
  }
  for (std::size_t t = 0; t < alone.size(); ++t) {
    product(50 + t, alone[t]);
    BOOST_TEST(differing(together[t], alone[t]) == 0u);
  }
}

/// The CPU backends try more threads on small products that are repeated, so later products may use more threads than
/// the first ones.
BOOST_AUTO_TEST_CASE(a_repeated_small_product_keeps_its_bits) {
  constexpr Index n = 64;
  Guarded<float> a(subject(), n, n, {}), b(subject(), n, n, {}), c(subject(), n, n, {});
  fill(a, [](std::uint64_t e) { return uniform<float>(61, e); });
  fill(b, [](std::uint64_t e) { return uniform<float>(62, e); });
  a.upload();
  b.upload();
  std::vector<float> first;
  for (int repeat = 0; repeat < 300; ++repeat) {
    throw_if_failed(subject().gemm(subject().default_queue(), {{.type = DType::F32,
                                                                .m = n,
                                                                .n = n,
                                                                .k = n,
                                                                .a = a.data(),
                                                                .lda = a.ld(),
                                                                .b = b.data(),
                                                                .ldb = b.ld(),
                                                                .c = c.data(),
                                                                .ldc = c.ld(),
                                                                .threads = 2}}));
    if (repeat > 0 && repeat < 290) continue;
    c.download();
    if (first.empty()) first = compact(c);
    BOOST_TEST(differing(compact(c), first) == 0u);
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::conformance
