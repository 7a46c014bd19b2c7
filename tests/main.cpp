/// Boost.Test's main, written out: its own is in a header that cannot be precompiled.
#include <boost/test/unit_test.hpp>

int main(int argc, char** argv) {
  const auto name_it = [] {
    boost::unit_test::framework::master_test_suite().p_name.value = "tessera";
    return true;
  };
  return boost::unit_test::unit_test_main(name_it, argc, argv);
}
