/// Headers of .npy files and fields of comma-separated text, of every form that other programs write; and what is said
/// of files that cannot be read.

#include <cmath>
#include <limits>

#include <boost/test/unit_test.hpp>

#include <tessera/checking/check.hpp>
#include <tessera/interop/io.hpp>
#include <tessera/status.hpp>

#include "support/expect.hpp"
#include "support/files.hpp"

namespace tessera::test {
namespace {

const std::vector<float> six{1, 2, 3, 4, 5, 6};
const Matrix<float> two_by_three{{1, 2, 3}, {4, 5, 6}};

/// Something in place of a disk that fails: the system refuses to read this file's first bytes.
constexpr const char* unreadable = "/proc/self/mem";

} // namespace

BOOST_FIXTURE_TEST_SUITE(forms, Folder)

/// numpy.load reads each of these.
BOOST_AUTO_TEST_CASE(headers_that_numpy_reads) {
  for (const char* header : {
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }", // Python 2 on Windows
           "{'descr': '<f4', 'fortran_order': False, 'shape': (0x2, 0b11)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (+2, 0o3)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (((2)), 3,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,3)}",
           "{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<f4\"}",
           "{'descr': u'<f4', u'fortran_order': False, 'shape': (2, 3)}",
           "({'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)})",
           "{ 'descr' : '<f4' ,\n'fortran_order' : False , # a comment\n 'shape' : ( 2 , 3 ) , }",
           "{'descr': 'float32', 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': 'f4', 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': '=f4', 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': '|f4', 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': '<f', 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1_0, 3), 'shape': (2, 3)}", // the last one counts
       }) {
    write("a.npy", npy_file(header, six));
    try {
      BOOST_TEST((load_npy<float>(path() / "a.npy") == two_by_three), header);
    } catch (const IoError& error) {
      BOOST_ERROR(header << ": " << error.what());
    }
  }
  write("d.npy", npy_file("{'descr': 'float64', 'fortran_order': True, 'shape': (1L, 2L)}", std::vector<double>{1, 2}));
  BOOST_TEST((load_npy<double>(path() / "d.npy") == Matrix<double>{{1, 2}}));
}

/// numpy.load refuses each of these, too, or reads something that is no matrix.
BOOST_AUTO_TEST_CASE(headers_that_are_none) {
  for (const char* header : {"",
                             "{",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
                             "{'descr': '<f4' 'fortran_order': False, 'shape': (2, 3)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': [2, 3]}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2LL, 3)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2l, 3)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2.0, 3)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': ('2', 3)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, -3)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': ((2, 3),)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': 6}",
                             "{'descr': '<f4', 'fortran_order': 'False', 'shape': (2, 3)}",
                             "{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3)}",
                             "{b'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}",
                             "{'descr': ['<f4'], 'fortran_order': False, 'shape': (2, 3)}",
                             "{'descr': '>f', 'fortran_order': False, 'shape': (2, 3)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 3)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} and more"}) {
    write("a.npy", npy_file(header, six));
    expect_error<IoError>([&] { load_npy<float>(path() / "a.npy"); }, {"a.npy"});
  }
  write("a.npy", npy_file("{'shape': " + std::string(100000, '('), six)); // no end of memory for the stack
  expect_error<IoError>([&] { load_npy<float>(path() / "a.npy"); }, {"a.npy"});
}

BOOST_AUTO_TEST_CASE(fields_that_are_numbers) {
  struct Field {
    const char* text;
    double value;
  };
  for (const auto& [text, value] : {Field{"5", 5},
                                    {"+5", 5},
                                    {"-5", -5},
                                    {"+0.5", 0.5},
                                    {".5", 0.5},
                                    {"5.", 5},
                                    {"5e0", 5},
                                    {"+5E+1", 50},
                                    {"-5e-1", -0.5},
                                    {"0005", 5},
                                    {"inf", HUGE_VAL},
                                    {"-inf", -HUGE_VAL},
                                    {"+Infinity", HUGE_VAL},
                                    {"\t 5 \t", 5},
                                    {"-0", 0}}) {
    write("a.csv", text);
    try {
      BOOST_TEST(load_csv<double>(path() / "a.csv").at(0, 0) == value, "'" << text << "'");
    } catch (const IoError& error) {
      BOOST_ERROR(error.what());
    }
  }
  for (const char* text : {"nan", "NaN", "-nan", "+nan"}) {
    write("a.csv", text);
    BOOST_TEST(std::isnan(load_csv<float>(path() / "a.csv").at(0, 0)), text);
  }
}

BOOST_AUTO_TEST_CASE(fields_that_are_no_numbers) {
  for (const char* text : {"+-5",
                           "-+5",
                           "++5",
                           "--5",
                           "+ 5",
                           "- 5",
                           "+",
                           "-",
                           ".",
                           "e5",
                           "0x10",
                           "0b1",
                           "1e",
                           "1e+",
                           "1E-",
                           "5f",
                           "5L",
                           "1_000",
                           "1 000",
                           "1'000",
                           "nan(5)",
                           "nan()",
                           "+nan(ind)",
                           "infinit",
                           "in",
                           "+-inf",
                           "\xE2\x88\x92"
                           "5",
                           "five",
                           "\"5\"",
                           "(5)",
                           "5;6"}) {
    write("a.csv", std::string("1,") + text + "\n");
    expect_error<IoError>([&] { load_csv<double>(path() / "a.csv"); },
                          {"a.csv", "line 1", "field 2", std::string("'") + text + "' is not a number"});
    expect_error<IoError>([&] { load_csv<f16>(path() / "a.csv"); }, {"is not a number"});
  }
}

BOOST_AUTO_TEST_CASE(marks_at_the_beginning) {
  write("a.csv",
        "\xEF\xBB\xBF"
        "1,2\n3,4\n");
  BOOST_TEST((load_csv<float>(path() / "a.csv") == Matrix<float>{{1, 2}, {3, 4}}));
  write("a.csv", "\xEF\xBB\xBF# a comment\n1\n");
  BOOST_TEST((load_csv<float>(path() / "a.csv") == Matrix<float>{{1}}));
  write("a.csv",
        "1\n\xEF\xBB\xBF"
        "2\n"); // not at the beginning
  expect_error<IoError>([&] { load_csv<float>(path() / "a.csv"); }, {"line 2", "is not a number"});
  for (const std::string& text : {std::string("\xFF\xFE"
                                              "1\0",
                                              4),
                                  std::string("\xFE\xFF\0"
                                              "1",
                                              4)}) {
    write("a.csv", text);
    expect_error<IoError>([&] { load_csv<float>(path() / "a.csv"); }, {"a.csv", "UTF-16", "UTF-8"});
  }
}

BOOST_AUTO_TEST_CASE(an_error_of_a_read_names_the_file_and_the_place) {
  expect_error<IoError>([] { load_csv<float>(unreadable); }, {unreadable, "from line 1", "Input/output error"});
  expect_error<IoError>([] { load_npy<float>(unreadable); }, {unreadable, "from byte 0", "Input/output error"});
  expect_error<IoError>([] { inspect_npy(unreadable); }, {unreadable, "from byte 0", "Input/output error"});
  expect_error<IoError>([] { load_checked_npy(unreadable); }, {unreadable, "from byte 0", "Input/output error"});
  expect_error<IoError>([] { read_text_file(unreadable); }, {unreadable, "Input/output error"});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
