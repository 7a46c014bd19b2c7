#define BOOST_TEST_MODULE command_line
#include <boost/test/unit_test.hpp>
