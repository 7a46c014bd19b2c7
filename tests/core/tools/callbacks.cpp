/// What tools are told of each kind of operation, on the tested backend.

#include <cstring>
#include <map>
#include <set>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/gemm_batch.hpp>
#include <tessera/tessera.hpp>

#include "recorder.hpp"
#include "support/expect.hpp"
#include "support/tested_backend.hpp"

using namespace tessera;
using tessera::test::Recorder;
using tessera::test::tested_backend;
using tessera::test::Told;
using tools::Kind;

namespace {

Executor& tested() { return executor(tested_backend()); }
bool on_host() { return tested().capabilities().host_memory; }

/// Memory of the executor for matrices of 24×24 floats.
struct DeviceMemory {
  static constexpr std::size_t bytes = 24 * 24 * sizeof(float);
  DeviceMemory() { throw_if_failed(tested().allocate(bytes, data)); }
  ~DeviceMemory() { tested().free(data); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  void* data = nullptr;
};

GemmCall call_of(const DeviceMemory& a, const DeviceMemory& c, Index m, Index n, Index k) {
  GemmCall call{{.type = DType::F32, .m = m, .n = n, .k = k}};
  call.a = call.b = a.data;
  call.c = c.data;
  call.lda = call.ldb = call.ldc = 24;
  return call;
}

/// Checks that the two are the begin and the end of one operation of the tested executor.
void check_pair(const Told& begin, const Told& end) {
  BOOST_TEST(!begin.is_end);
  BOOST_TEST(end.is_end);
  BOOST_TEST(begin.operation.id > 0u);
  BOOST_TEST(begin.operation.id == end.operation.id);
  BOOST_TEST(begin.name == end.name);
  BOOST_TEST(begin.backend == to_string(tested_backend()));
  BOOST_TEST(begin.device == tested().capabilities().device);
  BOOST_TEST(begin.operation.executor == &tested());
  BOOST_TEST(begin.operation.struct_size == sizeof(tools::Operation));
  BOOST_CHECK(end.outcome == StatusCode::Ok);
}

} // namespace

BOOST_AUTO_TEST_SUITE(callbacks)

BOOST_AUTO_TEST_CASE(a_product) {
  const DeviceMemory a, c;
  std::vector<float> zeros(24 * 24);
  Queue& queue = tested().default_queue();
  throw_if_failed(tested().copy_in(queue, a.data, 96, zeros.data(), 96, 96, 24));
  Recorder recorder(bit_of(Kind::Product));
  throw_if_failed(tested().gemm(queue, call_of(a, c, 5, 7, 9)));
  const GemmKernel* const named = &tested().gemm_kernels().front();
  throw_if_failed(queue.synchronize());
  BOOST_TEST_REQUIRE(recorder.told.size() >= 2u);
  const Told &begin = recorder.told.front(), &end = recorder.told.back();
  check_pair(begin, end);
  const tools::Operation& seen = begin.operation;
  BOOST_CHECK(seen.kind == Kind::Product);
  BOOST_TEST(seen.m == 5);
  BOOST_TEST(seen.n == 7);
  BOOST_TEST(seen.k == 9);
  BOOST_TEST(seen.count == 1);
  BOOST_TEST(seen.parent == 0u);
  BOOST_TEST(seen.operations == 2.0 * 5 * 7 * 9);
  BOOST_TEST(seen.bytes == (5u * 9 + 9 * 7 + 5 * 7) * 4);
  BOOST_CHECK(seen.type == DType::F32 && seen.result == DType::F32 && seen.math == Math::Strict);
  BOOST_TEST(seen.queue == &queue);
  std::set<std::string> names;
  for (const GemmKernel& kernel : tested().gemm_kernels()) names.insert(kernel.name);
  BOOST_TEST(names.count(begin.name) == 1u);
  BOOST_TEST(named != nullptr);
}

BOOST_AUTO_TEST_CASE(a_refused_product_is_not_reported) {
  const DeviceMemory a, c;
  Recorder recorder;
  GemmCall wrong = call_of(a, c, 5, 7, 9);
  wrong.ldc = 3;
  BOOST_TEST(!tested().gemm(tested().default_queue(), wrong).ok());
  BOOST_TEST(!tested().gemm(tested().default_queue(), call_of(a, c, 5, 7, 9), "no such kernel").ok());
  BOOST_TEST(recorder.told.size() == 0u);
}

BOOST_AUTO_TEST_CASE(memory_and_copies) {
  Recorder recorder;
  std::vector<float> host(24 * 24, 1.0f);
  Queue& queue = tested().default_queue();
  void* where = nullptr;
  {
    const DeviceMemory x;
    where = x.data;
    throw_if_failed(tested().copy_in(queue, x.data, 96, host.data(), 96, 96, 24));
    throw_if_failed(tested().copy_out(queue, host.data(), 96, x.data, 96, 40, 10));
  }
  tested().free(nullptr);
  BOOST_TEST_REQUIRE(recorder.told.size() == 8u);
  const Kind order[]{Kind::Allocate, Kind::CopyIn, Kind::CopyOut, Kind::Free};
  const std::uint64_t bytes[]{24 * 24 * 4, 24 * 24 * 4, 400, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    const Told &begin = recorder.told[2 * i], &end = recorder.told[2 * i + 1];
    check_pair(begin, end);
    BOOST_CHECK(begin.operation.kind == order[i]);
    BOOST_TEST(begin.operation.bytes == bytes[i]);
    const bool is_copy = order[i] == Kind::CopyIn || order[i] == Kind::CopyOut;
    BOOST_TEST((begin.operation.queue != nullptr) == is_copy);
  }
  BOOST_TEST(recorder.told[0].operation.memory == nullptr);
  BOOST_TEST(recorder.told[1].operation.memory == where);
  BOOST_TEST(recorder.told[6].operation.memory == where);
}

BOOST_AUTO_TEST_CASE(pinned_memory_and_copies_in_a_queue) {
  const DeviceMemory x, y;
  Queue& queue = tested().default_queue();
  Recorder recorder;
  void* host = nullptr;
  throw_if_failed(tested().allocate_host(DeviceMemory::bytes, host));
  std::memset(host, 0, DeviceMemory::bytes);
  CopyCall copy{.direction = CopyDirection::In, .to = x.data, .to_pitch = 96, .from = host, .from_pitch = 96};
  copy.width = 96;
  copy.rows = 24;
  throw_if_failed(tested().enqueue_copy(queue, copy));
  copy.direction = CopyDirection::Within;
  copy.from = x.data;
  copy.to = y.data;
  throw_if_failed(tested().enqueue_copy(queue, copy));
  copy.direction = CopyDirection::Out;
  copy.from = y.data;
  copy.to = host;
  throw_if_failed(tested().enqueue_copy(queue, copy));
  throw_if_failed(queue.synchronize());
  tested().free_host(host);
  BOOST_TEST_REQUIRE(recorder.told.size() == 10u);
  const Kind order[]{Kind::Allocate, Kind::CopyIn, Kind::CopyWithin, Kind::CopyOut, Kind::Free};
  const char* const names[]{"allocate_host", "copy_in", "copy_within", "copy_out", "free_host"};
  for (std::size_t i = 0; i < 5; ++i) {
    check_pair(recorder.told[2 * i], recorder.told[2 * i + 1]);
    BOOST_CHECK(recorder.told[2 * i].operation.kind == order[i]);
    BOOST_TEST(recorder.told[2 * i].name == names[i]);
    BOOST_TEST(recorder.told[2 * i].operation.bytes == (i < 4 ? DeviceMemory::bytes : 0));
  }
}

BOOST_AUTO_TEST_CASE(elements_and_reductions) {
  const DeviceMemory x, z;
  Queue& queue = tested().default_queue();
  Recorder recorder;
  MapCall map;
  map.op = MapOp::Fill;
  map.rows = 3;
  map.cols = 4;
  map.alpha = 2;
  map.z = x.data;
  map.ldz = 24;
  throw_if_failed(tested().map(queue, map));
  map.op = MapOp::Axpby;
  map.x = map.y = x.data;
  map.ldx = map.ldy = 24;
  map.z = z.data;
  throw_if_failed(tested().map(queue, map));
  throw_if_failed(tested().random(queue, {.rows = 5, .cols = 6, .z = z.data, .ldz = 24}));
  ReduceResult result;
  throw_if_failed(tested().reduce(queue, {ReduceOp::SumOfSquares, DType::F32, 3, 4, x.data, 24, 0}, result));
  BOOST_TEST(result.value == 48.0);
  const std::vector<Told> elements = recorder.of(Kind::ElementWise), reductions = recorder.of(Kind::Reduction);
  BOOST_TEST_REQUIRE(elements.size() >= 6u);
  const char* const names[]{"fill", "axpby", "random"};
  const std::uint64_t bytes[]{48, 144, 120};
  for (std::size_t i = 0; i < 3; ++i) {
    check_pair(elements[2 * i], elements[2 * i + 1]);
    BOOST_TEST(elements[2 * i].name == names[i]);
    BOOST_TEST(elements[2 * i].operation.bytes == bytes[i]);
  }
  BOOST_TEST_REQUIRE(reductions.size() == 2u);
  check_pair(reductions[0], reductions[1]);
  BOOST_TEST(reductions[0].operation.m == 3);
  BOOST_TEST(reductions[0].operation.n == 4);
  BOOST_TEST(reductions[0].operation.bytes == 48u);
}

BOOST_AUTO_TEST_CASE(a_batch_is_one_operation) {
  const DeviceMemory a, c;
  std::vector<float> zeros(24 * 24);
  Queue& queue = tested().default_queue();
  throw_if_failed(tested().copy_in(queue, a.data, 96, zeros.data(), 96, 96, 24));
  GemmBatch group{.call = call_of(a, c, 2, 2, 2), .count = 5, .stride_c = 2};
  Recorder recorder(bit_of(Kind::Batch) | bit_of(Kind::Product));
  throw_if_failed(tested().gemm_batch(queue, std::span(&group, 1)));
  throw_if_failed(queue.synchronize());
  const std::vector<Told> batches = recorder.of(Kind::Batch);
  BOOST_TEST_REQUIRE(batches.size() == 2u);
  check_pair(batches[0], batches[1]);
  BOOST_TEST(batches[0].name == "batch");
  BOOST_TEST(batches[0].operation.count == 5);
  BOOST_TEST(batches[0].operation.operations == 5.0 * 16);
}

BOOST_AUTO_TEST_CASE(matrices_are_seen_through_their_executor) {
  const auto a = Matrix<float>::random(30, 20, Seed{1}), b = Matrix<float>::random(20, 10, Seed{2});
  Recorder recorder;
  const Matrix c = gemm(a, b, tested_backend());
  BOOST_TEST(c(1, 2) == gemm(a, b, Backend::Reference)(1, 2));
  const std::vector<Told> products = recorder.of(Kind::Product);
  BOOST_TEST_REQUIRE(products.size() >= 2u);
  BOOST_TEST(products.front().backend == to_string(tested_backend()));
  BOOST_TEST(recorder.of(Kind::CopyIn).size() == (on_host() ? 0u : 4u));
  BOOST_TEST(recorder.of(Kind::CopyOut).size() == (on_host() ? 0u : 2u));
}

BOOST_AUTO_TEST_CASE(parts_name_the_operation_that_they_are_part_of) {
  const auto a = Matrix<float>::random(30, 20, Seed{1}), b = Matrix<float>::random(20, 10, Seed{2});
  static_cast<void>(gemm<bf16>(a, b, tested_backend())); // the backend's library is loaded
  Recorder recorder;
  const auto c = gemm<bf16>(a, b, tested_backend()); // rounds in a pass of its own where the kernel does not
  std::map<std::uint64_t, Told> open;
  std::vector<std::uint64_t> stack;
  for (const Told& one : recorder.told) {
    const tools::Operation& operation = one.operation;
    if (!one.is_end) {
      BOOST_TEST(operation.parent == (stack.empty() ? 0 : stack.back()));
      BOOST_TEST(open.emplace(operation.id, one).second);
      stack.push_back(operation.id);
    } else {
      BOOST_TEST_REQUIRE(!stack.empty());
      BOOST_TEST(stack.back() == operation.id);
      stack.pop_back();
    }
  }
  BOOST_TEST(stack.empty());
  BOOST_TEST(!open.empty());
  BOOST_TEST(c.rows() == 30);
}

BOOST_AUTO_TEST_CASE(a_failure_is_an_outcome) {
  Recorder recorder(bit_of(Kind::Allocate));
  void* memory = nullptr;
  const Status status = tested().allocate(std::size_t{1} << 60, memory);
  BOOST_TEST(!status.ok());
  BOOST_TEST_REQUIRE(recorder.told.size() == 2u);
  BOOST_CHECK(recorder.told[1].outcome == status.code);
  BOOST_TEST(recorder.told[1].operation.memory == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()
