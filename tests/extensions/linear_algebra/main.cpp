/// Tests linear algebra on one backend; support/backend_main.hpp says how it is called.

#include <boost/test/unit_test.hpp>

#include "support/backend_main.hpp"

int main(int argc, char** argv) {
  return tessera::test::main_for_backend("tessera_linear_algebra", argc, argv, [] { return true; });
}
