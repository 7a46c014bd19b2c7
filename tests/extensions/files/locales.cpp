/// Programs that have named a language with a decimal comma and with marks between thousands: files, texts and messages
/// of the library have a point and no marks.

#include <clocale>
#include <locale>
#include <string>

#include <boost/test/unit_test.hpp>

#include <tessera/checking/check.hpp>
#include <tessera/detail/number_text.hpp>
#include <tessera/interop/io.hpp>
#include <tessera/status.hpp>

#include "core/tools/summary_table.hpp"
#include "support/expect.hpp"
#include "support/files.hpp"

namespace tessera::test {
namespace {

class Commas final : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

/// While it lives, the locale of C++'s streams has commas, and so has C's locale, where the system has such a language.
class WithCommas {
 public:
  WithCommas() : before_(std::locale::global(std::locale(std::locale::classic(), new Commas))) {
    c_before_ = std::setlocale(LC_ALL, nullptr);
    for (const char* name : {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "pt_BR.UTF-8"})
      if (std::setlocale(LC_ALL, name) != nullptr) return;
    BOOST_TEST_MESSAGE("this machine has no language with a decimal comma, so that C's locale stays");
  }
  ~WithCommas() {
    std::setlocale(LC_ALL, c_before_.c_str());
    std::locale::global(before_);
  }
  WithCommas(const WithCommas&) = delete;
  WithCommas& operator=(const WithCommas&) = delete;

 private:
  std::locale before_;
  std::string c_before_;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(locales, Folder)

BOOST_AUTO_TEST_CASE(numbers_as_printf_writes_them_in_the_c_locale) {
  for (const double number : {0.0, 1.0, -1.5, 0.1, 1e-5, 123456789.0, 1e100, 4.9e-324, 1.7976931348623157e308, HUGE_VAL,
                              static_cast<double>(NAN)})
    for (const int digits : {1, 4, 6, 9, 17}) {
      char text[400];
      std::snprintf(text, sizeof text, "%.*g", digits, number);
      BOOST_TEST(detail::general_text(number, digits) == text);
      std::snprintf(text, sizeof text, "%.*f", digits, number);
      BOOST_TEST(detail::fixed_text(number, digits) == text);
    }
}

BOOST_AUTO_TEST_CASE(files) {
  const auto matrix = Matrix<double>::random(20, 30, Seed{1}, Distribution::Uniform, -1e5, 1e5);
  std::string text;
  {
    const WithCommas commas;
    save_csv(path() / "a.csv", matrix);
    BOOST_TEST((load_csv<double>(path() / "a.csv") == matrix));
    text = read("a.csv");
    save_npy(path() / "a.npy", Matrix<float>(1234, 1, 1.0f));
    BOOST_TEST(load_npy<float>(path() / "a.npy").rows() == 1234);
  }
  save_csv(path() / "b.csv", matrix);
  BOOST_TEST((text == read("b.csv")));
}

BOOST_AUTO_TEST_CASE(texts_and_messages) {
  const auto a = Matrix<float>::random(40, 1500, Seed{1}), b = Matrix<float>::random(1500, 30, Seed{2});
  auto c = gemm(a, b, Backend::Reference);
  c(3, 4) += 1000.5f;
  const Certificate certificate = check(a, b, c);
  const auto texts = [&] {
    std::string all = to_text(certificate) + to_json(certificate, 1);
    all += tools::summary_table({{"simd",
                                  tools::Kind::Product,
                                  "openmp",
                                  DType::F32,
                                  false,
                                  {.calls = 1234567, .host_seconds = 1234.5, .bytes = 1.5e9, .operations = 1e12}}});
    try {
      static_cast<void>(Matrix<double>::random(2, 2, Seed{1}, Distribution::Uniform, 1234.5, 0.25));
    } catch (const InvalidArgument& error) {
      all += error.what();
    }
    return all;
  };
  const std::string expected = texts();
  BOOST_TEST(contains(expected, "low = 1234.5, high = 0.25"));
  const WithCommas commas;
  BOOST_TEST(texts() == expected);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
