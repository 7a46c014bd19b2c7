/// Tests what is done with text from outside before it is shown or parsed.

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include <tessera/detail/json_nesting.hpp>
#include <tessera/detail/printable.hpp>
#include <tessera/interop/io.hpp>
#include <tessera/status.hpp>

#include "support/expect.hpp"
#include "support/files.hpp"

using namespace tessera;
using namespace std::string_literals;
using detail::json_nesting;
using detail::printable;
using test::expect_error;

BOOST_AUTO_TEST_SUITE(outside_text)

BOOST_AUTO_TEST_CASE(plain_text_stays) {
  for (const char* text : {"", "simd", "Σ|Δ| ≤ 3 µs – 1024×16", "a\\b", "\U0001F600"})
    BOOST_TEST(printable(text) == text);
}

BOOST_AUTO_TEST_CASE(control_characters_are_written_out) {
  BOOST_TEST(printable("\x1b[31m\a\x7f") == "\\x1b[31m\\x07\\x7f");
  BOOST_TEST(printable("a\0b"s) == "a\\x00b");
  BOOST_TEST(printable("a\nb\tc\r") == "a\\nb\\x09c\\x0d");
  BOOST_TEST(printable("a\nb\tc\r", true) == "a\nb\tc\\x0d");
  BOOST_TEST(printable("\u009b31m \u202e \u2028") == "\\u{9b}31m \\u{202e} \\u{2028}"); // one of them is CSI
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_utf8_are_written_out) {
  BOOST_TEST(printable("\xff") == "\\xff");
  BOOST_TEST(printable("\xc3") == "\\xc3");                   // cut off
  BOOST_TEST(printable("\xc3(") == "\\xc3(");                 // not followed by the rest
  BOOST_TEST(printable("\xc0\xaf") == "\\xc0\\xaf");          // longer than needed
  BOOST_TEST(printable("\xc1\x9b") == "\\xc1\\x9b");          // ESC would be hidden so
  BOOST_TEST(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80"); // half of a pair of UTF-16
  BOOST_TEST(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
  BOOST_TEST(printable("\x80µ") == "\\x80µ");
}

BOOST_AUTO_TEST_CASE(nesting_is_counted_outside_strings) {
  BOOST_TEST(json_nesting("") == 0u);
  BOOST_TEST(json_nesting("[1, {\"a\": [2]}, []]") == 3u);
  BOOST_TEST(json_nesting(R"(["[[[[", "\"[[", "\\", [1]])") == 2u);
  BOOST_TEST(json_nesting(std::string(200000, '[')) == 200000u);
  BOOST_TEST(json_nesting("]]]}[") == 1u);
  BOOST_TEST(json_nesting("\"\\") == 0u);
}

BOOST_AUTO_TEST_CASE(only_files_are_read) {
  const test::Folder folder;
  folder.write("text", "a\nb");
  BOOST_TEST(read_text_file(folder.path() / "text") == "a\nb");
  BOOST_TEST(mkfifo((folder.path() / "pipe").c_str(), 0600) == 0);
  expect_error<IoError>([&] { read_text_file(folder.path() / "pipe"); }, {"pipe: is a pipe"});
  expect_error<IoError>([&] { load_npy<float>(folder.path() / "pipe"); }, {"pipe: is a pipe"});
  expect_error<IoError>([&] { read_text_file(folder.path()); }, {"is a folder"});
  expect_error<IoError>([&] { read_text_file("/dev/zero"); }, {"/dev/zero: is a pipe or a device"});
  expect_error<IoError>([&] { read_text_file(folder.path() / "none"); }, {"none: cannot be read: No such file"});
}

BOOST_AUTO_TEST_SUITE_END()
