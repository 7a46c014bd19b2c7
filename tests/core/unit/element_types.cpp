/// Tests the list of element types against the C++ types, and the visitors.

#include <limits>
#include <type_traits>

#include <boost/test/unit_test.hpp>

#include <tessera/half.hpp>
#include <tessera/types.hpp>

using namespace tessera;

BOOST_AUTO_TEST_SUITE(element_types_list)

BOOST_AUTO_TEST_CASE(the_facts_are_those_of_the_cpp_types) {
  for (const ElementType& element : element_types) {
    BOOST_TEST_CONTEXT(element.name)
    visit(element.type, [&]<class T>(std::type_identity<T>) {
      using Limits = std::numeric_limits<T>;
      BOOST_TEST((dtype_of<T> == element.type));
      BOOST_TEST((dtype_of<Scalar<T>> == element.scalar));
      BOOST_TEST(sizeof(T) == element.bytes);
      BOOST_TEST(Limits::digits == element.digits);
      BOOST_TEST(Limits::max_exponent - 1 == element.largest_exponent);
    });
    BOOST_TEST((parse_dtype(element.name) == element.type));
    BOOST_TEST(to_string(element.type) == element.name);
  }
}

BOOST_AUTO_TEST_CASE(a_scalar_is_computed_with_in_its_own_type) {
  for (const ElementType& element : element_types)
    visit_scalar(element.type,
                 [&]<class T>(std::type_identity<T>) { BOOST_TEST((dtype_of<T> == scalar_of(element.type))); });
}

BOOST_AUTO_TEST_CASE(other_numbers_name_no_element_type) {
  BOOST_TEST(!is_element_type(DType{-1}));
  BOOST_TEST(!is_element_type(DType{static_cast<int>(element_types.size())}));
  BOOST_TEST(size_of(DType{77}) == 4u);
}

BOOST_AUTO_TEST_SUITE_END()
