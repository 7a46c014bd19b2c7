/// detail::FoundOnce: no thread waits for another one that looks.

#include <memory>
#include <new>
#include <stdexcept>
#include <thread>

#include <boost/test/unit_test.hpp>

#include <tessera/detail/found_once.hpp>

using tessera::detail::FoundOnce;

BOOST_AUTO_TEST_SUITE(found_once)

/// One thread waits in `look` as for the dynamic loader, while another one, which holds its lock, looks too.
BOOST_AUTO_TEST_CASE(a_thread_that_looks_holds_nobody_up) {
  FoundOnce<const int> found;
  const int* of_other = nullptr;
  const int& here = found.get([&] {
    std::thread([&] { of_other = &found.get([] { return std::make_unique<const int>(2); }); }).join();
    return std::make_unique<const int>(1);
  });
  BOOST_TEST(&here == of_other);
  BOOST_TEST(here == 2);
  BOOST_TEST(&found.get([]() -> std::unique_ptr<const int> { throw std::logic_error("it is known"); }) == &here);
  delete &here;
}

BOOST_AUTO_TEST_CASE(the_next_call_looks_again_after_an_exception) {
  FoundOnce<const int> found;
  BOOST_CHECK_THROW(found.get([]() -> std::unique_ptr<const int> { throw std::bad_alloc(); }), std::bad_alloc);
  const int& here = found.get([] { return std::make_unique<const int>(3); });
  BOOST_TEST(here == 3);
  delete &here;
}

BOOST_AUTO_TEST_SUITE_END()
