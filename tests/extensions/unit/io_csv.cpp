/// Tests matrices in comma-separated text.

#include <cmath>
#include <limits>

#include <boost/test/unit_test.hpp>

#include <tessera/interop/io.hpp>
#include <tessera/status.hpp>

#include "support/expect.hpp"
#include "support/files.hpp"

using namespace tessera;
using namespace tessera::test;
using CsvElements = std::tuple<float, double, f16, bf16>;

BOOST_FIXTURE_TEST_SUITE(io_csv, Folder)

BOOST_AUTO_TEST_CASE_TEMPLATE(what_is_saved_is_loaded_bit_for_bit, T, CsvElements) {
  Matrix<T> a = Matrix<T>::random(9, 21, Seed{1}, Distribution::Normal, 0, sizeof(T) == 2 ? 1e3 : 1e10);
  a(0, 0) = std::numeric_limits<T>::denorm_min();
  a(1, 1) = std::numeric_limits<T>::max();
  a(2, 2) = static_cast<T>(-std::numeric_limits<T>::infinity());
  a(3, 3) = static_cast<T>(1.0 / 3.0);
  save_csv(path() / "a.csv", a);
  BOOST_TEST((load_csv<T>(path() / "a.csv") == a));
  save_csv(path() / "a.csv", a.transposed());
  BOOST_TEST((load_csv<T>(path() / "a.csv") == a.transposed()));
  BOOST_TEST(names() == std::vector<std::string>{"a.csv"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_people_write_is_read) {
  write("a.csv", "# x, y\n 1, +2.5e1 ,-3\r\n\n4,nan,inf\n");
  const Matrix<double> a = load_csv<double>(path() / "a.csv");
  BOOST_TEST(a.rows() == 2);
  BOOST_TEST(a.cols() == 3);
  BOOST_TEST(a.at(0, 1) == 25);
  BOOST_TEST(a.at(0, 2) == -3);
  BOOST_TEST(std::isnan(a.at(1, 1)));
  BOOST_TEST(std::isinf(a.at(1, 2)));
  write("empty.csv", "");
  BOOST_TEST(load_csv<float>(path() / "empty.csv").rows() == 0);
}

BOOST_AUTO_TEST_CASE(bad_fields_are_named_with_their_place) {
  write("a.csv", "1,2\n3,4x\n");
  expect_error<IoError>([&] { load_csv<float>(path() / "a.csv"); }, {"a.csv", "line 2", "field 2", "'4x'"});
  write("a.csv", "1,2\n3\n");
  expect_error<IoError>([&] { load_csv<float>(path() / "a.csv"); }, {"line 2", "1 fields", "2"});
  write("a.csv", "1,,2\n");
  expect_error<IoError>([&] { load_csv<float>(path() / "a.csv"); }, {"line 1", "field 2", "not a number"});
  write("a.csv", "1e60\n");
  expect_error<IoError>([&] { load_csv<float>(path() / "a.csv"); }, {"1e60", "range", "f32"});
  BOOST_TEST(load_csv<double>(path() / "a.csv").at(0, 0) == 1e60);
  write("a.csv", "65519,-65520\n");
  expect_error<IoError>([&] { load_csv<f16>(path() / "a.csv"); }, {"field 2", "'-65520'", "range", "f16"});
  BOOST_TEST(load_csv<bf16>(path() / "a.csv").at(0, 1) == -65536.0f);
  write("a.csv", "1e-30\n");
  expect_error<IoError>([&] { load_csv<f16>(path() / "a.csv"); }, {"'1e-30'", "range", "f16"});
  expect_error<IoError>([&] { load_csv<float>(path() / "none.csv"); }, {"none.csv", "No such file"});
  expect_error<IoError>([&] { load_csv<float>(path()); }, {"folder"});
}

BOOST_AUTO_TEST_SUITE_END()
