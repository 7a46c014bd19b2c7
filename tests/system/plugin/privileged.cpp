/// A program with more rights than its caller (setgid here, setuid alike) takes neither code nor files from the
/// caller's environment.

#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <boost/test/unit_test.hpp>

#include "support/expect.hpp"
#include "support/files.hpp"

namespace fs = std::filesystem;
using tessera::test::contains;
using tessera::test::Folder;

namespace {

const std::string planted_folder = std::string(PLUGIN_DIR) + "/works";

const std::string planted_variables = "TESSERA_PLUGIN_PATH='" + planted_folder +
                                      "' TESSERA_CBLAS=/nonexistent/libplanted.so "
                                      "TESSERA_TUNING=/nonexistent/planted.json "
                                      "TESSERA_OPENCL_LIBRARY=/nonexistent/libplanted_opencl.so "
                                      "XDG_CACHE_HOME=/nonexistent/cache HOME=/nonexistent";

/// Runs the program with variables that name code and files; returns what it printed.
std::string printed_by(const fs::path& program, const std::string& variables = planted_variables) {
  const std::string command = variables + " '" + program.string() + "' 2>&1";
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  BOOST_TEST_REQUIRE(pipe != nullptr);
  char bytes[4096];
  while (const std::size_t count = fread(bytes, 1, sizeof bytes, pipe)) text.append(bytes, count);
  pclose(pipe);
  return text;
}

/// Makes the program setgid with a group that this process does not act as. Returns false if that is refused.
bool give_rights(const fs::path& program) {
  std::vector<gid_t> groups(static_cast<std::size_t>(getgroups(0, nullptr)));
  groups.resize(static_cast<std::size_t>(std::max(0, getgroups(static_cast<int>(groups.size()), groups.data()))));
  groups.push_back(12345); // root may give a file to any group
  for (const gid_t group : groups)
    if (group != getegid() && chown(program.c_str(), static_cast<uid_t>(-1), group) == 0 &&
        chmod(program.c_str(), 02755) == 0)
      return true;
  return false;
}

/// A copy of the program that acts with another group's rights.
struct PrivilegedCopy : Folder {
  fs::path program = path() / "program";
  std::string printed;

  PrivilegedCopy() {
    fs::copy_file(PRIVILEGED_PROGRAM, program);
    fs::permissions(path(), fs::perms(0755));
    if (give_rights(program)) printed = printed_by(program);
  }
};

boost::test_tools::assertion_result programs_can_be_privileged(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(contains(PrivilegedCopy().printed, "privileged 1"));
  result.message() << "no program here gets more rights than its caller (one group, nosuid or no_new_privs)";
  return result;
}

} // namespace

BOOST_AUTO_TEST_SUITE(privileged)

BOOST_AUTO_TEST_CASE(the_environment_names_no_code_and_no_files,
                     *boost::unit_test::precondition(programs_can_be_privileged)) {
  // In a program without such rights the variables do their work, so that the test below can fail.
  const std::string plain = printed_by(PRIVILEGED_PROGRAM);
  for (const std::string& part : {std::string("privileged 0"), "tbb '" + planted_folder + "/libtessera_tbb.so'",
                                  std::string("cache '/nonexistent/cache/tessera'")})
    BOOST_TEST(contains(plain, part), plain);
  const std::string printed = PrivilegedCopy().printed;
  BOOST_TEST(!contains(printed, "nonexistent"), printed);
  BOOST_TEST(!contains(printed, planted_folder), printed);
  BOOST_TEST(contains(printed, "cache ''"), printed);
  if (contains(plain, "rows of TESSERA_CBLAS: 2")) { // this build has the OpenMP backend
    BOOST_TEST(contains(printed, "rows of TESSERA_CBLAS: 0"), printed);
    BOOST_TEST(contains(plain, "/nonexistent/planted.json"), plain);
    BOOST_TEST(contains(printed, "TESSERA_TUNING was not read"), printed);
  }
}

BOOST_AUTO_TEST_CASE(the_environment_names_no_tools, *boost::unit_test::precondition(programs_can_be_privileged)) {
  const PrivilegedCopy copy;
  for (const std::string variable : {"TESSERA_TOOLS=/nonexistent/planted_tool.so", "TESSERA_PROFILE=planted_tool"}) {
    const std::string plain = printed_by(PRIVILEGED_PROGRAM, variable), printed = printed_by(copy.program, variable);
    BOOST_TEST(contains(plain, "planted_tool"), plain);
    BOOST_TEST(!contains(printed, "planted_tool"), printed);
    BOOST_TEST(contains(printed, "TESSERA_TUNING was not read"), printed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
