/// Tests queues on one backend; support/backend_main.hpp says how it is called.

#include <boost/test/unit_test.hpp>

#include "support/backend_main.hpp"

int main(int argc, char** argv) {
  return tessera::test::main_for_backend("tessera_queue_tests", argc, argv, [] { return true; });
}
