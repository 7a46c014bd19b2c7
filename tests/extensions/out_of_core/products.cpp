/// Products of files have the bits of products in memory, whatever the limit, the blocks and the executors are, and
/// keep to their limit.

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <limits>
#include <random>

#include "operands.hpp"
#include "support/expect.hpp"

namespace tessera::test {
namespace {

/// Computes the product and checks bits, memory and traffic. Returns what it has done.
template <class T, class R>
FileProductReport check(const Operands<T, R>& x, const std::string& what) {
  const FileProductReport report = gemm_files(x.product);
  BOOST_TEST(x.differing() == 0, what << ": " << x.differing() << " elements have other bits");
  BOOST_TEST(report.plan.planned_bytes <= x.product.memory_limit, what);
  BOOST_TEST(report.allocated_bytes <= report.plan.planned_bytes, what);
  BOOST_TEST(report.bytes_read == report.plan.bytes_to_read, what);
  BOOST_TEST(report.bytes_written == report.plan.bytes_to_write, what);
  return report;
}

std::vector<Executor*> every_executor() {
  std::vector<Executor*> all{&executor(Backend::Reference), &executor(Backend::Cuda, 0), &executor(Backend::Cuda, 1)};
  for (const BackendInfo& info : available_backends())
    if (info.available && info.memory == Memory::Host && info.backend != Backend::Reference)
      all.push_back(&executor(info.backend));
  return all;
}

} // namespace

BOOST_AUTO_TEST_SUITE(products)

BOOST_AUTO_TEST_CASE(every_order_and_transpose_with_the_smallest_limit) {
  for (unsigned flags = 0; flags < 32; ++flags) {
    Operands<float> x(150, 130, 1100, -0.6875, (flags & 16) != 0 ? 0.375 : 0.0, flags);
    x.product.memory_limit = x.least_limit();
    const FileProductReport report = check(x, "flags " + std::to_string(flags));
    BOOST_TEST(report.plan.blocks == 9);
    --x.product.memory_limit;
    expect_error<OutOfMemory>([&] { gemm_files(x.product); }, {"memory_limit", "the smallest limit that would do"});
  }
}

BOOST_AUTO_TEST_CASE(types_and_results) {
  const auto small = [](auto x) {
    x->product.memory_limit = x->least_limit() * 3 / 2;
    check(*x, std::string(to_string(plan_files(x->product).type)));
  };
  small(std::make_unique<Operands<double>>(140, 90, 2050, 1.5, -1.0, 5u));
  small(std::make_unique<Operands<f16>>(140, 90, 1500, 0.5, 0.25, 10u));
  small(std::make_unique<Operands<bf16>>(70, 150, 1030, 1.0, 0.0, 3u));
  small(std::make_unique<Operands<bf16, float>>(70, 150, 1030, -2.0, 1.0, 20u));
  small(std::make_unique<Operands<float, f16>>(150, 70, 1030, 1.0, 0.5, 1u));
}

BOOST_AUTO_TEST_CASE(shapes_at_the_edges) {
  for (const auto& [m, n, k] : std::vector<std::array<Index, 3>>{{1, 1, 1},
                                                                 {1, 300, 5000},
                                                                 {300, 1, 2048},
                                                                 {64, 64, 1024},
                                                                 {65, 65, 1025},
                                                                 {200, 3, 1},
                                                                 {0, 5, 3},
                                                                 {5, 0, 3}}) {
    Operands<float> x(m, n, k, 1.0, 0.0, 0);
    x.product.memory_limit = x.least_limit();
    check(x, std::to_string(m) + "×" + std::to_string(n) + "×" + std::to_string(k));
  }
}

/// alpha = 0 or k = 0: A and B are not read, and C becomes beta·C.
BOOST_AUTO_TEST_CASE(without_a_product) {
  Operands<float> scaled(100, 90, 1200, 0.0, 0.375, 16), none(100, 90, 0, 2.0, 0.5, 0), zero(30, 40, 0, 1.0, 0.0, 0);
  Operands<bf16> halves(50, 60, 10, 0.0, 0.75, 0);
  scaled.product.memory_limit = scaled.least_limit();
  BOOST_TEST(check(scaled, "alpha = 0").bytes_read == 100u * 90 * 4);
  check(none, "k = 0");
  check(zero, "k = 0, beta = 0");
  check(halves, "bf16, alpha = 0");
}

BOOST_AUTO_TEST_CASE(special_numbers) {
  Operands<float> x(70, 70, 2100, 1.0, 0.0, 0);
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& [row, value] : {std::pair<Index, float>{3, inf}, {5, nan}, {7, -0.0f}, {9, 1e-41f}, {11, 3e38f}})
    for (Index p = row; p < 2100; p += 500) x.a(row, p) = value;
  for (Index p = 0; p < 2100; ++p) x.a(13, p) = -0.0f;
  write_matrix(x.folder, "a.npy", x.a);
  gemm(1.0f, x.a, x.b, 0.0f, x.expected, GemmOptions{});
  x.product.memory_limit = x.least_limit();
  check(x, "special numbers");
}

BOOST_AUTO_TEST_CASE(c_may_be_the_output) {
  Operands<float> x(80, 70, 1100, 1.0, 2.0, 0);
  x.product.out = x.product.c;
  check(x, "c is the output");
}

/// The list has the reference, OpenMP and TBB, and two devices with memory of their own.
BOOST_AUTO_TEST_CASE(executors_share_the_blocks) {
  Operands<float> x(400, 350, 2100, 1.5, 0.5, 9);
  x.product.executors = every_executor();
  x.product.memory_limit = x.least_limit() * 2;
  const FileProductReport report = check(x, "all executors");
  BOOST_TEST(report.plan.blocks >= 2 * static_cast<Index>(x.product.executors.size()));
  x.product.executors = {&executor(Backend::Cuda, 1)};
  check(x, "one device");
  Operands<bf16> halves(90, 100, 1100, 1.0, 0.5, 2);
  halves.product.executors = {&executor(Backend::Cuda, 0), &executor(Backend::Cuda, 1)};
  check(halves, "two devices, bf16");
  x.product.executors = {&executor(Backend::Cuda, 1), &executor(Backend::Cuda, 1)};
  expect_error<InvalidArgument>([&] { gemm_files(x.product); }, {"cuda:1", "twice"});
}

/// More memory never reads more, and the formula for p×q blocks holds: q·m·k + p·k·n elements.
BOOST_AUTO_TEST_CASE(larger_limits_read_less) {
  Operands<float> x(500, 400, 1500, 1.0, 0.0, 2);
  std::uint64_t before = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t limit = x.least_limit(); limit < std::size_t{32} << 20; limit *= 2) {
    x.product.memory_limit = limit;
    const FileProductPlan plan = plan_files(x.product);
    const auto p = static_cast<std::uint64_t>((500 + plan.block_m - 1) / plan.block_m);
    const auto q = static_cast<std::uint64_t>((400 + plan.block_n - 1) / plan.block_n);
    BOOST_TEST(plan.bytes_to_read == (q * 500 * 1500 + p * 1500 * 400) * 4);
    BOOST_TEST(plan.bytes_to_read <= before);
    before = plan.bytes_to_read;
  }
  BOOST_TEST(before == (500u * 1500 + 1500 * 400) * 4);
  BOOST_TEST(x.names().size() == 2u); // a plan writes nothing
}

/// With all memory that it asks for, C is cut into blocks if it takes long to write; the first block is on the disk
/// before the last one is multiplied.
BOOST_AUTO_TEST_CASE(finished_blocks_are_written_beside_the_product) {
  Operands<float> x(4000, 8000, 128, 1.0, 0.0, 0);
  x.product.memory_limit = std::size_t{1} << 30;
  x.product.executors = {every_executor().back()}; // of the host
  bool early = false;
  x.product.progress = [&](const FileProductProgress& now) {
    if (now.blocks_done > 0 && now.operations_done < now.operations) early = now.bytes_written > 0;
  };
  const FileProductReport report = check(x, "several blocks");
  BOOST_TEST(report.plan.blocks >= 3);
  BOOST_TEST(early);
}

/// Where the product takes much longer than its result's way to the disk, and in small products, blocks are few.
BOOST_AUTO_TEST_CASE(blocks_are_no_more_than_needed) {
  const Folder folder;
  const auto blocks = [&](Index m, Index n, Index k) {
    for (const auto& [name, rows, cols] : {std::tuple{"a.npy", m, k}, std::tuple{"b.npy", k, n}}) {
      folder.write(name, npy_bytes("<f4", false, "(" + std::to_string(rows) + ", " + std::to_string(cols) + ")",
                                   std::vector<float>()));
      const auto path = folder.path() / name; // a file with a hole, of which a plan reads nothing
      std::filesystem::resize_file(path, std::filesystem::file_size(path) + static_cast<std::size_t>(rows * cols) * 4);
    }
    FileProduct product{.a = folder.path() / "a.npy",
                        .b = folder.path() / "b.npy",
                        .out = folder.path() / "c.npy",
                        .memory_limit = std::size_t{2} << 30,
                        .executors = {&executor(Backend::Reference)},
                        .threads = 2};
    return plan_files(product).blocks;
  };
  BOOST_TEST(blocks(300, 300, 5000) == 1);
  BOOST_TEST(blocks(2048, 2048, 2048) <= 2);
  BOOST_TEST(blocks(16384, 16384, 1024) >= 5);
  BOOST_TEST(blocks(16384, 16384, 1024) <= 40);
  BOOST_TEST(blocks(4096, 4096, 65536) <= 6);
}

/// OUT_OF_CORE_CASES sets how many; a campaign runs thousands.
BOOST_AUTO_TEST_CASE(random_cases) {
  const char* const word = std::getenv("OUT_OF_CORE_CASES");
  const int cases = word != nullptr ? std::atoi(word) : 25;
  std::mt19937_64 random(word != nullptr ? std::random_device()() : 7);
  const auto below = [&](Index n) { return static_cast<Index>(random() % static_cast<std::uint64_t>(n)); };
  const std::vector<Executor*> all = every_executor();
  const auto run = [&]<class T, class R>(std::type_identity<T>, std::type_identity<R>) {
    const double factors[]{0.0, 1.0, -1.0, 0.375};
    Operands<T, R> x(1 + below(230), 1 + below(230), below(3) == 0 ? below(3200) : 1 + below(1300), factors[below(4)],
                     factors[below(4)], static_cast<unsigned>(below(32)), random());
    x.product.memory_limit = x.least_limit() + static_cast<std::size_t>(below(8 << 20));
    if (below(2) == 0) {
      x.product.executors = all;
      x.product.executors.resize(static_cast<std::size_t>(1 + below(static_cast<Index>(all.size()))));
      x.product.memory_limit = std::max(x.product.memory_limit, x.least_limit());
    }
    check(x, "a random case");
  };
  for (int i = 0; i < cases; ++i) switch (below(7)) {
      case 0:
        run(std::type_identity<double>{}, std::type_identity<double>{});
        break;
      case 1:
        run(std::type_identity<f16>{}, std::type_identity<f16>{});
        break;
      case 2:
        run(std::type_identity<bf16>{}, std::type_identity<float>{});
        break;
      case 3:
        run(std::type_identity<float>{}, std::type_identity<bf16>{});
        break;
      default:
        run(std::type_identity<float>{}, std::type_identity<float>{});
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
