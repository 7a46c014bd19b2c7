/// Tools come and go while threads work, and use the library themselves.

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>
#include <type_traits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

#include "recorder.hpp"
#include "support/expect.hpp"
#include "support/tested_backend.hpp"

using namespace tessera;
using tessera::test::expect_error;
using tessera::test::Recorder;
using tessera::test::tested_backend;
using tools::Kind;
using tools::Operation;
using tools::Tool;

// A function that may throw is no callback: the type says noexcept.
static_assert(!std::is_convertible_v<void (*)(const Operation&, void*), decltype(Tool::begin)>);

namespace {

void nothing(const Operation&, void*) noexcept {}

Tool tool_of(void (*begin)(const Operation&, void*) noexcept, void* data = nullptr) {
  Tool tool;
  tool.name = "test";
  tool.begin = begin;
  tool.data = data;
  return tool;
}

void multiply() {
  const auto a = Matrix<float>::random(9, 8, Seed{1}), b = Matrix<float>::random(8, 7, Seed{2});
  const Matrix c = gemm(a, b, tested_backend());
  static_cast<void>(c.at(0, 0));
}

} // namespace

BOOST_AUTO_TEST_SUITE(registration)

BOOST_AUTO_TEST_CASE(wrong_tools_are_refused) {
  Tool tool = tool_of(nothing);
  tool.struct_size = 12;
  expect_error<InvalidArgument>([&] { tools::register_tool(tool); }, {"12 bytes", "rebuild the tool"});
  tool.struct_size = sizeof(Tool) + 8;
  expect_error<InvalidArgument>([&] { tools::register_tool(tool); }, {std::to_string(sizeof(Tool) + 8) + " bytes"});
  tool = tool_of(nothing);
  tool.name = nullptr;
  expect_error<InvalidArgument>([&] { tools::register_tool(tool); }, {"no name"});
  expect_error<InvalidArgument>([] { tools::register_tool(tool_of(nullptr)); },
                                {"'test'", "neither a begin nor an end"});
  tool = tool_of(nothing);
  tool.kinds = 0;
  expect_error<InvalidArgument>([&] { tools::register_tool(tool); }, {"'test'", "no kind"});
  expect_error<InvalidArgument>([] { tools::unregister_tool(0); }, {"number 0"});
  expect_error<InvalidArgument>([] { tools::unregister_tool(999999); }, {"number 999999"});
}

BOOST_AUTO_TEST_CASE(a_tool_is_registered_once) {
  const tools::ToolId first = tools::register_tool(tool_of(nothing));
  expect_error<InvalidArgument>([] { tools::register_tool(tool_of(nothing)); },
                                {"'test' is registered already, as number " + std::to_string(first)});
  int other = 0;
  const tools::ToolId second = tools::register_tool(tool_of(nothing, &other)); // data of its own
  tools::unregister_tool(first);
  expect_error<InvalidArgument>([&] { tools::unregister_tool(first); }, {"number " + std::to_string(first)});
  const tools::ToolId again = tools::register_tool(tool_of(nothing));
  BOOST_TEST(again != first);
  tools::unregister_tool(again);
  tools::unregister_tool(second);
}

/// Registrations that are over take no memory, also with operations between them and with another tool that stays. What
/// a driver's threads take meanwhile is not taken each time.
BOOST_AUTO_TEST_CASE(what_a_registration_takes_is_freed) {
  const auto taken = [] { return mallinfo2().uordblks; };
  int data = 0;
  for (const bool another : {false, true}) {
    const tools::ToolId stays = another ? tools::register_tool(tool_of(nothing, &data)) : 0;
    const auto register_often = [&](int count) {
      for (int i = 0; i < count; ++i) {
        const tools::ToolId id = tools::register_tool(tool_of(nothing));
        if (i % 100 == 0) multiply();
        tools::unregister_tool(id);
      }
    };
    register_often(1000);
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (int attempt = 0; attempt < 3; ++attempt) {
      const std::size_t before = taken();
      register_often(20000);
      least = std::min(least, std::max(taken(), before) - before);
    }
    BOOST_TEST(least < 20000U); // less than a byte each
    if (another) tools::unregister_tool(stays);
  }
}

/// The lists that operations of other threads read stay until those have ended.
BOOST_AUTO_TEST_CASE(registrations_while_threads_work) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!stop) multiply();
    });
  std::atomic<int> calls = 0;
  const auto count = [](const Operation&, void* number) noexcept { ++*static_cast<std::atomic<int>*>(number); };
  for (int i = 0; i < 3000; ++i) tools::unregister_tool(tools::register_tool(tool_of(count, &calls)));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  const int until_now = calls;
  multiply();
  BOOST_TEST(calls == until_now);
}

BOOST_AUTO_TEST_CASE(finish_is_called_once_and_nothing_after_it) {
  Recorder recorder;
  multiply();
  const std::size_t told = recorder.told.size();
  BOOST_TEST(told > 0u);
  recorder.stop();
  BOOST_TEST(recorder.finished == 1);
  multiply();
  BOOST_TEST(recorder.told.size() == told);
}

BOOST_AUTO_TEST_CASE(tools_see_the_same_operations) {
  Recorder first, second, products(bit_of(Kind::Product));
  multiply();
  BOOST_TEST_REQUIRE(first.told.size() == second.told.size());
  for (std::size_t i = 0; i < first.told.size(); ++i)
    BOOST_TEST(first.told[i].operation.id == second.told[i].operation.id);
  for (const auto& one : products.told) BOOST_CHECK(one.operation.kind == Kind::Product);
  BOOST_TEST(products.told.size() >= 2u);
}

BOOST_AUTO_TEST_CASE(a_callback_uses_the_library_and_is_not_told_of_it) {
  static std::atomic<int> calls = 0;
  Recorder recorder(bit_of(Kind::Product));
  const tools::ToolId id = tools::register_tool(tool_of([](const Operation& operation, void*) noexcept {
    if (operation.kind != Kind::Product) return;
    ++calls;
    const auto a = Matrix<float>::random(3, 3, Seed{1});
    static_cast<void>(gemm(a, a, tested_backend()).at(0, 0));
  }));
  multiply();
  tools::unregister_tool(id);
  BOOST_TEST(calls >= 1);
  for (const auto& one : recorder.told) BOOST_TEST(one.operation.m == 9);
}

BOOST_AUTO_TEST_CASE(a_callback_registers_and_unregisters) {
  static tools::ToolId own = 0;
  static tools::ToolId other = 0;
  own = tools::register_tool(tool_of([](const Operation&, void*) noexcept {
    if (other == 0) other = tools::register_tool(tool_of(nothing));
    if (own != 0) tools::unregister_tool(std::exchange(own, 0)); // while it is called
  }));
  multiply();
  BOOST_TEST(own == 0u);
  BOOST_TEST_REQUIRE(other != 0u);
  tools::unregister_tool(other);
}

BOOST_AUTO_TEST_CASE(tools_come_and_go_while_threads_work) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> workers;
  const auto a = Matrix<float>::random(9, 8, Seed{1}), b = Matrix<float>::random(8, 7, Seed{2});
  for (int i = 0; i < 3; ++i)
    workers.emplace_back([&] {
      while (!stop) static_cast<void>(gemm(a, b, Backend::Reference));
    });
  for (int i = 0; i < 300; ++i) {
    struct Data {
      std::atomic<long> begun = 0, ended = 0;
      std::atomic<bool> gone = false, called_when_gone = false;
    } data;
    Tool tool = tool_of(
        [](const Operation&, void* p) noexcept {
          auto& mine = *static_cast<Data*>(p);
          if (mine.gone) mine.called_when_gone = true;
          ++mine.begun;
        },
        &data);
    tool.end = [](const Operation&, StatusCode, void* p) noexcept {
      auto& mine = *static_cast<Data*>(p);
      if (mine.gone) mine.called_when_gone = true;
      ++mine.ended;
    };
    const tools::ToolId id = tools::register_tool(tool);
    if (i % 3 == 0) std::this_thread::yield();
    tools::unregister_tool(id);
    data.gone = true;
    BOOST_TEST(data.begun >= data.ended);
    BOOST_TEST(data.begun - data.ended <= 3);
    std::this_thread::yield();
    BOOST_TEST(!data.called_when_gone);
  }
  stop = true;
  for (std::thread& worker : workers) worker.join();
}

BOOST_AUTO_TEST_CASE(threads_have_operations_of_their_own) {
  Recorder recorder;
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) workers.emplace_back(multiply);
  for (std::thread& worker : workers) worker.join();
  std::size_t begins = 0;
  std::vector<std::uint64_t> ids;
  for (const auto& one : recorder.told)
    if (!one.is_end) {
      ++begins;
      ids.push_back(one.operation.id);
    }
  std::sort(ids.begin(), ids.end());
  BOOST_CHECK(std::unique(ids.begin(), ids.end()) == ids.end());
  BOOST_TEST(recorder.told.size() == 2 * begins);
}

BOOST_AUTO_TEST_SUITE_END()
