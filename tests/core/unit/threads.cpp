#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/status.hpp>

#include "core/executor/cgroup_quota.hpp"
#include "support/expect.hpp"
#include "support/files.hpp"

using namespace tessera;
using tessera::test::Environment;
using tessera::test::expect_error;

namespace {

/// A folder in the place of "/", in which a process has groups.
class Groups {
 public:
  Groups(const std::string& membership, const std::string& mounts) {
    write("proc/self/cgroup", membership);
    write("proc/self/mountinfo", "22 1 0:21 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n" + mounts);
  }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    folder_.write(name, text);
  }
  int processors() const { return processors_by_quota(folder_.path()).value_or(0); }

 private:
  test::Folder folder_;
};

const std::string v2_mount = "31 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

} // namespace

BOOST_AUTO_TEST_SUITE(threads)

BOOST_AUTO_TEST_CASE(our_variable_comes_first) {
  const Environment openmp("OMP_NUM_THREADS", "5");
  const Environment ours("TESSERA_NUM_THREADS", "3");
  BOOST_TEST(default_threads() == 3);
}

BOOST_AUTO_TEST_CASE(then_that_of_openmp_and_its_first_level) {
  const Environment ours("TESSERA_NUM_THREADS", nullptr);
  const Environment openmp("OMP_NUM_THREADS", "5,2");
  BOOST_TEST(default_threads() == 5);
}

BOOST_AUTO_TEST_CASE(then_the_processors_that_the_process_may_use) {
  const Environment ours("TESSERA_NUM_THREADS", "");
  const Environment openmp("OMP_NUM_THREADS", nullptr);
  BOOST_TEST(default_threads() >= 1);
}

BOOST_AUTO_TEST_CASE(what_is_no_number_is_refused) {
  const Environment openmp("OMP_NUM_THREADS", nullptr);
  for (const char* garbage : {"garbage", "0", "-2", "2x", "1.5", " 4", "99999999999999", "0x4"}) {
    const Environment ours("TESSERA_NUM_THREADS", garbage);
    expect_error<InvalidArgument>([] { static_cast<void>(default_threads()); }, {"TESSERA_NUM_THREADS", garbage});
  }
}

BOOST_AUTO_TEST_CASE(openmps_variable_may_have_spaces) {
  const Environment ours("TESSERA_NUM_THREADS", nullptr);
  for (const char* three : {" 3", "3 ", "\t3 , 2"}) {
    const Environment openmp("OMP_NUM_THREADS", three);
    BOOST_TEST(default_threads() == 3, three);
  }
}

BOOST_AUTO_TEST_CASE(a_process_without_groups_has_no_quota) {
  BOOST_TEST(Groups("", "").processors() == 0);
  BOOST_TEST(Groups("0::/\n", v2_mount).processors() == 0);
}

BOOST_AUTO_TEST_CASE(the_smallest_quota_on_the_path_counts) {
  const Groups groups("0::/outer/middle/inner\n", v2_mount);
  groups.write("sys/fs/cgroup/outer/middle/inner/cpu.max", "max 100000\n");
  BOOST_TEST(groups.processors() == 0);
  groups.write("sys/fs/cgroup/outer/middle/cpu.max", "650000 100000\n");
  BOOST_TEST(groups.processors() == 7); // rounded up
  groups.write("sys/fs/cgroup/outer/cpu.max", "150000 50000\n");
  BOOST_TEST(groups.processors() == 3);
  groups.write("sys/fs/cgroup/cpu.max", "1000 100000\n");
  BOOST_TEST(groups.processors() == 1);
}

BOOST_AUTO_TEST_CASE(version_1_has_quotas_too) {
  const Groups groups("12:pids:/elsewhere\n4:cpu,cpuacct:/a b/job\n1:name=systemd:/init\n0::/user\n",
                      "33 32 0:29 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
                      "34 32 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n");
  const std::string parent = "sys/fs/cgroup/cpu,cpuacct/a b/";
  groups.write(parent + "job/cpu.cfs_quota_us", "-1\n");
  groups.write(parent + "job/cpu.cfs_period_us", "100000\n");
  BOOST_TEST(groups.processors() == 0);
  groups.write(parent + "cpu.cfs_quota_us", "250000\n");
  groups.write(parent + "cpu.cfs_period_us", "100000\n");
  BOOST_TEST(groups.processors() == 3);
}

BOOST_AUTO_TEST_CASE(a_container_sees_its_group_at_the_mount_point) {
  const std::string mount = "40 30 0:30 /docker/7f3a /sys/fs/cgroup/cpu\\040here ro - cgroup cgroup rw,cpu\n";
  for (const char* path : {"/docker/7f3a", "/", "/../another"}) {
    const Groups groups("4:cpu:" + std::string(path) + "\n", mount);
    groups.write("sys/fs/cgroup/cpu here/cpu.cfs_quota_us", "400000\n");
    groups.write("sys/fs/cgroup/cpu here/cpu.cfs_period_us", "100000\n");
    BOOST_TEST(groups.processors() == 4, path);
  }
}

BOOST_AUTO_TEST_CASE(of_openmps_variable_too) {
  const Environment ours("TESSERA_NUM_THREADS", nullptr);
  const Environment openmp("OMP_NUM_THREADS", "many");
  expect_error<InvalidArgument>([] { static_cast<void>(default_threads()); }, {"OMP_NUM_THREADS", "many"});
}

BOOST_AUTO_TEST_SUITE_END()
