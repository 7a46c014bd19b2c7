/// Tests matrices in .npy files.

#include <cmath>
#include <cstdint>
#include <limits>

#include <boost/test/unit_test.hpp>

#include <tessera/interop/io.hpp>
#include <tessera/status.hpp>

#include "support/expect.hpp"
#include "support/files.hpp"

using namespace tessera;
using namespace tessera::test;
using Elements = std::tuple<float, double>;

BOOST_FIXTURE_TEST_SUITE(io_npy, Folder)

BOOST_AUTO_TEST_CASE_TEMPLATE(what_is_saved_is_loaded, T, Elements) {
  for (const auto& [rows, cols] :
       {std::pair<Index, Index>{1, 1}, {3, 5}, {17, 33}, {1, 40}, {40, 1}, {0, 4}, {4, 0}, {0, 0}}) {
    const Matrix<T> a = Matrix<T>::random(rows, cols, Seed{1});
    save_npy(path() / "a.npy", a);
    const NpyInfo info = inspect_npy(path() / "a.npy");
    BOOST_TEST((info.type == dtype_of<T>));
    BOOST_TEST(info.rows == rows);
    BOOST_TEST(info.cols == cols);
    BOOST_TEST(!info.fortran_order);
    const Matrix<T> b = load_npy<T>(path() / "a.npy");
    BOOST_TEST(b.rows() == rows);
    BOOST_TEST(b.cols() == cols);
    BOOST_TEST((a == b));
  }
  BOOST_TEST(names() == std::vector<std::string>{"a.npy"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(views_are_saved_as_they_look) {
  const Matrix<float> a = Matrix<float>::random(6, 7, Seed{1});
  save_npy(path() / "t.npy", a.transposed());
  BOOST_TEST((load_npy<float>(path() / "t.npy") == a.transposed()));
  save_npy(path() / "b.npy", a.block(1, 2, 3, 4));
  BOOST_TEST((load_npy<float>(path() / "b.npy") == a.block(1, 2, 3, 4)));
}

/// The bytes that numpy.save writes for numpy.array([[1, 2], [3, 4]], dtype='<f4').
BOOST_AUTO_TEST_CASE(the_file_has_numpys_layout) {
  save_npy(path() / "a.npy", Matrix<float>{{1, 2}, {3, 4}});
  const std::string bytes = read("a.npy");
  BOOST_TEST(bytes.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  BOOST_TEST((bytes.size() - 16) % 64 == 0u); // the header is padded, so that the elements are aligned
  BOOST_TEST(bytes.find("'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)") != std::string::npos);
  const std::string one("\x00\x00\x80\x3f", 4);
  BOOST_TEST(bytes.substr(bytes.size() - 16, 4) == one);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(fortran_order_gives_the_same_matrix, T, Elements) {
  const char* descr = sizeof(T) == 8 ? "<f8" : "<f4";
  write("f.npy", npy_bytes<T>(descr, true, "(2, 3)", {1, 4, 2, 5, 3, 6}));
  BOOST_TEST((load_npy<T>(path() / "f.npy") == Matrix<T>{{1, 2, 3}, {4, 5, 6}}));
  BOOST_TEST(inspect_npy(path() / "f.npy").fortran_order);
}

BOOST_AUTO_TEST_CASE(long_headers_and_later_versions_are_read) {
  std::string bytes = npy_bytes<float>("<f4", false, "(1, 2)" + std::string(150, ' '), {5, 6});
  write("long.npy", bytes);
  BOOST_TEST((load_npy<float>(path() / "long.npy") == Matrix<float>{{5, 6}}));
  bytes = npy_bytes<float>("<f4", false, "(1, 2)", {5, 6});
  bytes[6] = 2; // version 2.0: four bytes of length
  bytes.insert(10, 2, '\0');
  write("two.npy", bytes);
  BOOST_TEST((load_npy<float>(path() / "two.npy") == Matrix<float>{{5, 6}}));
}

BOOST_AUTO_TEST_CASE(keys_in_any_order) {
  write("k.npy", npy_file("{'shape': (1, 2), \"descr\": \"<f4\", 'fortran_order': False}", std::vector<float>{5, 6}));
  BOOST_TEST((load_npy<float>(path() / "k.npy") == Matrix<float>{{5, 6}}));
}

BOOST_AUTO_TEST_CASE(special_values_survive) {
  const double inf = std::numeric_limits<double>::infinity();
  Matrix<double> a{{inf, -inf}, {-0.0, 5e-324}};
  save_npy(path() / "a.npy", a);
  const Matrix<double> b = load_npy<double>(path() / "a.npy");
  BOOST_TEST((a == b));
  BOOST_TEST(std::signbit(b.at(1, 0)));
}

/// NumPy 2.4 wrote these files: np.save(file, np.array([[1, -2.5, 65504], [6e-8, np.inf, 0.1]], '<f2')), and np.save of
/// [[1, -2.5, 0.1]] in ml_dtypes.bfloat16.
BOOST_AUTO_TEST_CASE(sixteen_bits_as_numpy_writes_them) {
  const auto file = [](const char* descr, const char* shape, std::string_view elements) {
    std::string header = std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
    header.resize(117, ' ');
    return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + '\n' + std::string(elements);
  };
  const std::string halves = file("<f2", "(2, 3)", {"\x00\x3c\x00\xc1\xff\x7b\x01\x00\x00\x7c\x66\x2e", 12});
  write("f16.npy", halves);
  const auto a = load_npy<f16>(path() / "f16.npy");
  BOOST_TEST((a == Matrix<f16>{{1, -2.5f, 65504}, {6e-8f, HUGE_VALF, 0.1f}}));
  save_npy(path() / "again.npy", a);
  BOOST_TEST((read("again.npy") == halves));
  const std::string brains = file("<V2", "(1, 3)", {"\x80\x3f\x20\xc0\xcd\x3d", 6});
  write("bf16.npy", brains);
  const auto b = load_npy<bf16>(path() / "bf16.npy");
  BOOST_TEST((b == Matrix<bf16>{{1, -2.5f, 0.1f}}));
  save_npy(path() / "again.npy", transpose(b).transposed());
  BOOST_TEST((read("again.npy") == brains));
  expect_error<IoError>([&] { load_npy<bf16>(path() / "f16.npy"); }, {"f16.npy", "f16", "bf16"});
}

BOOST_AUTO_TEST_CASE(bad_files_are_named_with_what_is_wrong) {
  const auto expect = [&](const std::string& contents, std::initializer_list<std::string_view> parts) {
    write("bad.npy", contents);
    expect_error<IoError>([&] { load_npy<float>(path() / "bad.npy"); }, {"bad.npy"});
    expect_error<IoError>([&] { load_npy<float>(path() / "bad.npy"); }, parts);
  };
  const std::vector<float> six{1, 2, 3, 4, 5, 6};
  const std::string good = npy_bytes<float>("<f4", false, "(2, 3)", six);
  expect("", {"not a .npy file"});
  expect("1,2\n3,4\n", {"not a .npy file"});
  expect(good.substr(0, 9), {"truncated"});
  expect(good.substr(0, 50), {"truncated"});
  expect(good.substr(0, good.size() - 1), {"truncated", "2×3", "24 bytes", "23"});
  expect(npy_bytes<float>("<f8", false, "(1, 3)", six), {"f64", "f32"});
  expect(npy_bytes<float>("<i4", false, "(2, 3)", six), {"int32", "float32"});
  expect(npy_bytes<float>(">f4", false, "(2, 3)", six), {"big-endian float32"});
  expect(npy_bytes<float>("<f2", false, "(2, 3)", six), {"f16", "f32"});
  expect(npy_bytes<float>(">f2", false, "(2, 3)", six), {"big-endian float16"});
  expect(npy_bytes<float>("<f4", false, "(6,)", six), {"1 dimensions", "two"});
  expect(npy_bytes<float>("<f4", false, "()", six), {"0 dimensions"});
  expect(npy_bytes<float>("<f4", false, "(1, 2, 3)", six), {"3 dimensions"});
  expect(npy_bytes<float>("<f4", false, "(-2, 3)", six), {"shape"});
  expect(npy_bytes<float>("<f4", false, "2, 3", six), {"shape"});
  expect(npy_bytes<float>("<f4", false, "(4000000000, 4000000000)", six), {"4000000000", "overflows"});
  expect(npy_bytes<float>("<f4", false, "(4000000000, 4)", six), {"truncated"});
  expect(npy_bytes<float>("<f4", false, "(9223372036854775807, 0)", {}), {"9223372036854775807×0", "overflows"});
  expect(npy_bytes<float>("<f4", true, "(0, 9223372036854775807)", {}), {"0×9223372036854775807", "overflows"});
  expect(npy_file("{'descr': '<f4', 'shape': (2, 3)}", six), {"fortran_order"});
  expect(npy_file("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (6, 1)}", six), {"structured"});
  expect(std::string("\x93NUMPY\x09\x00", 8) + good.substr(8), {"version 9"});
}

BOOST_AUTO_TEST_CASE(missing_files_and_folders) {
  expect_error<IoError>([&] { load_npy<float>(path() / "none.npy"); }, {"none.npy", "No such file"});
  expect_error<IoError>([&] { load_npy<float>(path()); }, {"folder"});
}

BOOST_AUTO_TEST_CASE(a_failed_write_leaves_nothing_and_loses_nothing) {
  const Matrix<float> a(2, 2);
  expect_error<IoError>([&] { save_npy(path() / "no" / "a.npy", a); }, {"no/a.npy"});
  expect_error<IoError>([&] { save_npy(path(), a); }, {"folder"});
  expect_error<IoError>([&] { save_csv("/dev/full", Matrix<float>(100, 100)); }, {"/dev/full"});
  BOOST_TEST(names().empty());
  write("a.npy", "old");
  std::filesystem::create_directory(path() / "a.npy.d");
  BOOST_CHECK_NO_THROW(check_writable(path() / "a.npy"));
  BOOST_TEST(read("a.npy") == "old");
  save_npy(path() / "a.npy", a);
  BOOST_TEST(names() == (std::vector<std::string>{"a.npy", "a.npy.d"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_link_stays_a_link) {
  write("real.npy", "old");
  std::filesystem::create_symlink(path() / "real.npy", path() / "link.npy");
  save_npy(path() / "link.npy", Matrix<float>{{1}});
  BOOST_TEST(std::filesystem::is_symlink(path() / "link.npy"));
  BOOST_TEST(load_npy<float>(path() / "real.npy").at(0, 0) == 1);
}

BOOST_AUTO_TEST_SUITE_END()
