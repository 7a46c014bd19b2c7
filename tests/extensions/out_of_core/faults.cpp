/// What can go wrong with files, disks and executors, and what is left behind.

#include <boost/test/unit_test.hpp>

#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <fstream>
#include <stop_token>

#include "operands.hpp"
#include "support/expect.hpp"
#include "system_calls.hpp"

namespace tessera::test {
namespace {

using Names = std::vector<std::string>;

const Names operands_alone{"a.npy", "b.npy"};
const Names unfinished{".c.npy.tessera-journal", ".c.npy.tessera-product", "a.npy", "b.npy"};

/// 9 blocks, on one executor so that the order of calls is always the same.
struct Case : Operands<float> {
  Case() : Operands(150, 130, 2100, 1.0, 0.0, 0) {
    product.memory_limit = least_limit();
    product.executors = {&executor(Backend::Reference)};
  }
  /// The output's old contents are there, and nothing else.
  void expect_nothing_new() const {
    BOOST_TEST(names() == operands_alone, boost::test_tools::per_element());
    BOOST_TEST(folder.read("a.npy").size() > 1000u);
  }
  FileProductReport finish() const {
    const FileProductReport report = gemm_files(product);
    BOOST_TEST(differing() == 0);
    BOOST_TEST(names() == (Names{"a.npy", "b.npy", "c.npy"}), boost::test_tools::per_element());
    return report;
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(faults)

BOOST_AUTO_TEST_CASE(a_full_disk_shows_before_anything_is_computed) {
  const Case x;
  const Fault full(Call::Reserve, 1, ENOSPC);
  expect_error<IoError>([&] { gemm_files(x.product); }, {"c.npy", "cannot be reserved", "No space left on device"});
  x.expect_nothing_new();
}

/// The file system reserves no space, and is full after some blocks. When there is space again, the others follow.
BOOST_AUTO_TEST_CASE(a_disk_that_fills_up) {
  const Case x;
  const std::uint64_t all = plan_files(x.product).bytes_to_read;
  {
    const Fault unknown(Call::Reserve, 1, EOPNOTSUPP), full(Call::Write, 200, ENOSPC);
    expect_error<IoError>([&] { gemm_files(x.product); }, {"c.npy", "cannot be written", "No space left on device"});
  }
  BOOST_TEST(x.names() == unfinished, boost::test_tools::per_element());
  const FileProductReport report = x.finish();
  BOOST_TEST(report.plan.blocks_done > 0);
  BOOST_TEST(report.plan.blocks_done < report.plan.blocks);
  BOOST_TEST(report.bytes_read == report.plan.bytes_to_read);
  BOOST_TEST(report.bytes_read < all);
}

BOOST_AUTO_TEST_CASE(a_disk_that_is_full_at_once) {
  const Case x;
  const Fault unknown(Call::Reserve, 1, EOPNOTSUPP), full(Call::Write, 1, ENOSPC);
  expect_error<IoError>([&] { gemm_files(x.product); }, {"c.npy", "No space left on device"});
  x.expect_nothing_new();
}

BOOST_AUTO_TEST_CASE(blocks_that_do_not_reach_the_disk_are_not_done) {
  const Case x;
  {
    const Fault broken(Call::Sync, 1, EIO);
    expect_error<IoError>([&] { gemm_files(x.product); }, {"c.npy", "brought to the disk", "Input/output error"});
  }
  x.expect_nothing_new();
  BOOST_TEST(x.finish().plan.blocks_done == 0);
}

BOOST_AUTO_TEST_CASE(read_errors) {
  const Case x;
  const long header_reads = 2;
  {
    const Fault broken(Call::Read, header_reads + 1, EIO);
    expect_error<IoError>([&] { gemm_files(x.product); }, {".npy", "cannot be read", "Input/output error"});
  }
  x.expect_nothing_new();
  long reads = 0;
  {
    const Fault none(Call::Read, 0, 0);
    x.finish();
    reads = calls(Call::Read);
  }
  std::filesystem::remove(x.product.out);
  {
    const Fault late(Call::Read, reads * 3 / 4, EIO);
    expect_error<IoError>([&] { gemm_files(x.product); }, {".npy", "cannot be read", "Input/output error"});
  }
  BOOST_TEST(x.names() == unfinished, boost::test_tools::per_element());
  BOOST_TEST(x.finish().plan.blocks_done > 0);
}

/// A file that gets shorter or is written to in the middle is noticed before a block that was read from it counts.
BOOST_AUTO_TEST_CASE(files_that_change_while_they_are_read) {
  const Case x;
  const std::string whole = x.folder.read("a.npy");
  {
    const Fault cut(Call::Read, 2000, 0, [&] { truncate(x.product.a.c_str(), 4096); });
    expect_error<IoError>([&] { gemm_files(x.product); }, {"a.npy"});
  }
  BOOST_TEST(!std::filesystem::exists(x.product.out));
  x.folder.write("a.npy", whole);
  // What was done before belongs to the file that was there: both values are named.
  if (x.names() == unfinished)
    expect_error<InvalidArgument>([&] { gemm_files(x.product); },
                                  {"c.npy", "a was ", " when the product began and is "});
  FileProduct anew = x.product;
  anew.start_over = true;
  {
    const Fault touched(Call::Read, 2000, 0, [&] {
      std::fstream file(x.product.b, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(-4, std::ios::end);
      file.write("\1\2\3\4", 4);
    });
    expect_error<IoError>([&] { gemm_files(anew); }, {"b.npy", "was changed while it was read", "time of change"});
  }
  BOOST_TEST(!std::filesystem::exists(x.product.out));
}

BOOST_AUTO_TEST_CASE(another_product_under_the_same_name) {
  const Case x;
  {
    const Fault full(Call::Write, 200, ENOSPC);
    expect_error<IoError>([&] { gemm_files(x.product); }, {"No space"});
  }
  const std::string journal = x.folder.read(".c.npy.tessera-journal");
  const auto refused = [&](auto change, std::initializer_list<std::string_view> parts) {
    FileProduct other = x.product;
    change(other);
    expect_error<InvalidArgument>([&] { gemm_files(other); }, parts);
    BOOST_TEST(x.folder.read(".c.npy.tessera-journal") == journal);
  };
  refused([](FileProduct& p) { p.alpha = 2; }, {"alpha was 1 ", "is 2 now", "start over"});
  refused([](FileProduct& p) { p.kernel = "canonical"; }, {"kernel was any ", "canonical now"});
  refused([](FileProduct& p) { p.result = DType::F16; }, {"type of the result was f32", "f16"});
  FileProduct smaller = x.product;
  smaller.executors.push_back(&executor(Backend::Cuda, 0)); // whose slices the limit leaves no room for
  expect_error<OutOfMemory>([&] { gemm_files(smaller); }, {"memory_limit"});
  smaller.memory_limit *= 4;
  BOOST_TEST(plan_files(smaller).blocks_done > 0);
  FileProduct anew = x.product;
  anew.alpha = 2;
  anew.start_over = true;
  BOOST_TEST(gemm_files(anew).plan.blocks_done == 0);
  BOOST_TEST(x.names() == (Names{"a.npy", "b.npy", "c.npy"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(journals_that_were_tampered_with) {
  const Case x;
  {
    const Fault full(Call::Write, 200, ENOSPC);
    expect_error<IoError>([&] { gemm_files(x.product); }, {"No space"});
  }
  const std::string name = ".c.npy.tessera-journal", journal = x.folder.read(name);
  const auto refused = [&](const std::string& text, std::initializer_list<std::string_view> parts) {
    x.folder.write(name, text);
    expect_error<InvalidArgument>([&] { gemm_files(x.product); }, parts);
  };
  refused("", {name, "it is empty"});
  refused("something else\n", {name, "its first line is 'something else'"});
  refused(journal + "done 99\n", {"block 99 is done, and there are 9"});
  refused(journal + "done x\n", {name, "'done x' names no block"});
  // A line without an end was being written when the program was killed.
  x.folder.write(name, journal + "done 8");
  const Index before = plan_files(x.product).blocks_done;
  BOOST_TEST(before < 8);
  truncate((x.folder.path() / ".c.npy.tessera-product").c_str(), 1000);
  expect_error<IoError>([&] { gemm_files(x.product); }, {"size and the header", "start over"});
  std::filesystem::remove(x.folder.path() / ".c.npy.tessera-product");
  BOOST_TEST(x.finish().plan.blocks_done == 0);
}

BOOST_AUTO_TEST_CASE(a_request_to_stop) {
  const Case x;
  FileProduct stopped = x.product;
  std::stop_source source;
  stopped.stop = source.get_token();
  stopped.progress = [&](const FileProductProgress& now) {
    if (now.blocks_done > 0) source.request_stop();
  };
  BOOST_TEST(gemm_files(stopped).stopped);
  BOOST_TEST(x.names() == unfinished, boost::test_tools::per_element());
  const FileProductReport report = x.finish();
  BOOST_TEST(!report.stopped);
  BOOST_TEST(report.plan.blocks_done > 0);
  BOOST_TEST(report.plan.blocks_done < report.plan.blocks);
}

BOOST_AUTO_TEST_CASE(a_request_to_stop_before_the_first_block) {
  const Case x;
  FileProduct stopped = x.product;
  std::stop_source source;
  source.request_stop();
  stopped.stop = source.get_token();
  BOOST_TEST(gemm_files(stopped).stopped);
  x.expect_nothing_new();
}

BOOST_AUTO_TEST_CASE(one_program_at_a_time) {
  const Case x;
  FileProduct outer = x.product;
  bool tried = false;
  outer.progress = [&](const FileProductProgress&) {
    if (std::exchange(tried, true)) return;
    expect_error<IoError>([&] { gemm_files(x.product); }, {"c.npy", "another program is computing it"});
  };
  gemm_files(outer);
  BOOST_TEST(tried);
  BOOST_TEST(x.differing() == 0);
}

BOOST_AUTO_TEST_CASE(arguments_that_are_wrong) {
  const Case x;
  x.folder.write("text.npy", "1,2,3\n");
  write_matrix(x.folder, "double.npy", Matrix<double>(2100, 3));
  write_matrix(x.folder, "small.npy", Matrix<float>(3, 4));
  const auto in_folder = [&](const char* name) { return x.folder.path() / name; };
  const Names before = x.names();
  const auto refused = [&]<class Expected>(std::type_identity<Expected>, auto change,
                                           std::initializer_list<std::string_view> parts) {
    FileProduct other = x.product;
    change(other);
    expect_error<Expected>([&] { gemm_files(other); }, parts);
    BOOST_TEST(x.names() == before, boost::test_tools::per_element());
  };
  constexpr std::type_identity<InvalidArgument> invalid;
  constexpr std::type_identity<IoError> io;
  refused(invalid, [](FileProduct& p) { p.memory_limit = 0; }, {"memory_limit = 0"});
  refused(invalid, [](FileProduct& p) { p.beta = 1; }, {"beta = 1", "file of C"});
  refused(invalid, [&](FileProduct& p) { p.c = in_folder("small.npy"); }, {"read only if beta"});
  refused(invalid, [](FileProduct& p) { p.alpha = 0.1; }, {"alpha = 0.1", "f32"});
  refused(invalid, [](FileProduct& p) { p.threads = -1; }, {"threads = -1"});
  refused(invalid, [](FileProduct& p) { p.result = DType::F64; }, {"f64", "f32"});
  refused(invalid, [](FileProduct& p) { p.op_a = Op::ConjugateTranspose; }, {"conjugate"});
  refused(invalid, [&](FileProduct& p) { p.b = in_folder("double.npy"); }, {"double.npy holds f64", "a.npy holds f32"});
  refused(invalid, [&](FileProduct& p) { p.b = in_folder("small.npy"); }, {"150×2100", "3×4", "2100 ≠ 3"});
  refused(invalid,
          [&](FileProduct& p) {
            p.beta = 1;
            p.c = in_folder("small.npy");
          },
          {"c is 3×4", "150×130"});
  refused(invalid, [](FileProduct& p) { p.out = p.a; }, {"is the file of a"});
  refused(invalid, [](FileProduct& p) { p.out = p.b; }, {"is the file of b"});
  refused(io, [&](FileProduct& p) { p.a = in_folder("text.npy"); }, {"text.npy", "not a .npy file"});
  refused(io, [&](FileProduct& p) { p.a = in_folder("none.npy"); }, {"none.npy", "No such file"});
  refused(io, [&](FileProduct& p) { p.out = "/dev/full"; }, {"/dev/full", "regular file"});
  refused(io, [&](FileProduct& p) { p.out = in_folder("no/folder.npy"); }, {"folder.npy", "No such file"});
  refused(std::type_identity<InvalidArgument>{}, [](FileProduct& p) { p.kernel = "nothing"; }, {"nothing"});
  std::filesystem::create_symlink("a.npy", in_folder("link.npy"));
  FileProduct linked = x.product;
  linked.out = in_folder("link.npy");
  expect_error<InvalidArgument>([&] { gemm_files(linked); }, {"is the file of a"});
}

BOOST_AUTO_TEST_CASE(files_and_folders_without_permission) {
  if (geteuid() == 0) { // root may read and write everything
    BOOST_TEST_MESSAGE("skipped: root may read and write everything");
    return;
  }
  const Case x;
  chmod(x.product.a.c_str(), 0);
  expect_error<IoError>([&] { gemm_files(x.product); }, {"a.npy", "Permission denied"});
  chmod(x.product.a.c_str(), 0600);
  chmod(x.folder.path().c_str(), 0500);
  expect_error<IoError>([&] { gemm_files(x.product); }, {"c.npy", "Permission denied"});
  chmod(x.folder.path().c_str(), 0700);
  x.expect_nothing_new();
}

/// The device breaks after some copies: the error names it, and what was done by then stays.
BOOST_AUTO_TEST_CASE(an_executor_that_breaks) { // SMALL_DEVICE_BREAKS is 1:15
  Case x;
  x.product.executors = {&executor(Backend::Cuda, 1)};
  x.product.memory_limit = x.least_limit();
  expect_error<DeviceError>([&] { gemm_files(x.product); }, {"cuda:1 (small device)", "fell off the bus"});
  BOOST_TEST(x.names() == unfinished, boost::test_tools::per_element());
  x.product.executors = {&executor(Backend::Cuda, 0)};
  x.product.memory_limit *= 2;
  BOOST_TEST(x.finish().plan.blocks_done > 0);
}

BOOST_AUTO_TEST_CASE(the_target_keeps_its_mode) {
  const Case x;
  x.folder.write("c.npy", "old");
  chmod(x.product.out.c_str(), 0640);
  {
    const Fault full(Call::Write, 200, ENOSPC);
    expect_error<IoError>([&] { gemm_files(x.product); }, {"No space"});
    BOOST_TEST((x.folder.read("c.npy") == "old"));
  }
  x.finish();
  struct stat now {};
  stat(x.product.out.c_str(), &now);
  BOOST_TEST((now.st_mode & 0777) == 0640u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
