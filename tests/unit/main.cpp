#define BOOST_TEST_MODULE tessera_unit
#include <boost/test/unit_test.hpp>
