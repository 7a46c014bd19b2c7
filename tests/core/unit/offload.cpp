/// The decision whether a device is faster: the model, the measurement, and the file that processes share. The device
/// is a stand-in.

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include <tessera/performance/offload.hpp>

#include "fake_device.hpp"
#include "support/borrowing_executor.hpp"
#include "support/expect.hpp"
#include "support/files.hpp"

using namespace tessera;
using tessera::test::FakeDevice;
using tessera::test::Folder;

namespace {

constexpr OffloadProbe small{32, 16};

bool plausible(const OffloadRates& rates) {
  return rates.latency > 0 && rates.bytes_per_second > 0 && rates.device_flops > 0 && rates.host_flops > 0;
}

OffloadRates rates_in(const std::filesystem::path& file, Executor& device, DType type = DType::F32) {
  return offload_rates(device, executor(Backend::Reference), type, file, small).value();
}

/// A host inside a parallel region, which may use one of its four threads.
struct ConfinedHost : tessera::test::BorrowingExecutor {
  ConfinedHost() : BorrowingExecutor(Backend::OpenMP) { capabilities_.threads = 4; }
  int threads_here() const noexcept override { return threads; }
  int threads = 1;
};

} // namespace

BOOST_AUTO_TEST_SUITE(offload)

BOOST_AUTO_TEST_CASE(the_trip_pays_from_some_size_on) {
  const OffloadRates rates{.latency = 30e-6, .bytes_per_second = 10e9, .device_flops = 40e12, .host_flops = 200e9};
  BOOST_TEST(!rates.pays(64, 64, 64, 4));
  BOOST_TEST(!rates.pays(100, 100, 100, 4));
  BOOST_TEST(rates.pays(1000, 1000, 1000, 4));
  BOOST_TEST(!rates.pays(1, 100000, 100, 4)); // only two operations for each element: the copies take longer
  BOOST_TEST(!OffloadRates({.latency = 0, .bytes_per_second = 1e12, .device_flops = 1e9, .host_flops = 1e12})
                  .pays(9000, 9000, 9000, 4)); // a device slower than the host
}

BOOST_AUTO_TEST_CASE(every_number_is_measured_and_nothing_left_behind) {
  FakeDevice device;
  for (const DType type : {DType::F32, DType::F64})
    BOOST_TEST(plausible(measure_offload(device, executor(Backend::Reference), type, small)));
  BOOST_TEST(device.blocks() == 0u);
  BOOST_TEST(device.copies_in > 0);
  BOOST_TEST(device.copies_out > 0);
}

BOOST_AUTO_TEST_CASE(a_machine_is_measured_once) {
  const Folder folder;
  const auto file = folder.path() / "cache" / "offload.json";
  FakeDevice device;
  const OffloadRates first = rates_in(file, device);
  const int copies = device.copies_in;
  const OffloadRates second = rates_in(file, device);
  BOOST_TEST(device.copies_in == copies);
  BOOST_TEST(second.host_flops == first.host_flops);
  BOOST_TEST(second.latency == first.latency);
  BOOST_TEST(plausible(rates_in(file, device, DType::F64))); // another entry of the file
  BOOST_TEST(device.copies_in > copies);
  BOOST_TEST(rates_in(file, device).device_flops == first.device_flops);
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_used_are_made_anew) {
  const Folder folder;
  FakeDevice device;
  for (const char* text : {"", "{", "[]", "{}", R"({"schema": "tessera.offload/1", "machines": 3})",
                           R"({"schema": "tessera.offload/1", "machines": [7, {"key": 1}]})"}) {
    folder.write("offload.json", text);
    const OffloadRates rates = rates_in(folder.path() / "offload.json", device);
    BOOST_TEST(plausible(rates));
    const int copies = device.copies_in;
    BOOST_TEST(rates_in(folder.path() / "offload.json", device).latency == rates.latency);
    BOOST_TEST(device.copies_in == copies);
  }
}

BOOST_AUTO_TEST_CASE(a_file_of_another_version_and_what_is_no_file_stay) {
  const Folder folder;
  const auto file = folder.path() / "offload.json";
  FakeDevice device;
  const std::string later = R"({"schema": "tessera.offload/2", "machines": []})";
  folder.write("offload.json", later);
  BOOST_TEST(plausible(rates_in(file, device)));
  BOOST_TEST(folder.read("offload.json") == later);
  std::filesystem::remove(file);
  BOOST_TEST(mkfifo(file.c_str(), 0600) == 0);
  BOOST_TEST(plausible(rates_in(file, device)));
  BOOST_TEST(std::filesystem::is_fifo(file));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_nested_too_deep_is_replaced) {
  const Folder folder;
  FakeDevice device;
  folder.write("offload.json", R"({"schema": "tessera.offload/1", "machines": )" + std::string(200000, '[') +
                                   std::string(200000, ']') + "}");
  BOOST_TEST(plausible(rates_in(folder.path() / "offload.json", device)));
  BOOST_TEST(folder.read("offload.json").size() < 10000u);
}

BOOST_AUTO_TEST_CASE(a_device_that_fails_is_an_error_and_a_file_that_cannot_be_written_is_none) {
  FakeDevice device;
  Executor& host = executor(Backend::Reference);
  BOOST_TEST(plausible(rates_in("/proc/no/such/offload.json", device)));
  device.broken = true;
  tessera::test::expect_error<DeviceError>([&] { measure_offload(device, host, DType::F32, small); }, {"broken"});
  device.broken = false;
  device.out_of_memory = true;
  tessera::test::expect_error<OutOfMemory>([&] { measure_offload(device, host, DType::F32, small); }, {"memory"});
  BOOST_TEST(device.blocks() == 0u);
}

/// In a parallel region the host would be measured with too few threads, and every later program would use the rates.
BOOST_AUTO_TEST_CASE(nothing_is_measured_in_a_parallel_region) {
  const Folder folder;
  const auto file = folder.path() / "offload.json";
  FakeDevice device;
  ConfinedHost host;
  BOOST_TEST(!offload_rates(device, host, DType::F32, file, small).has_value());
  BOOST_TEST(device.copies_in == 0);
  BOOST_TEST(folder.names().empty());
  host.threads = 4;
  const double latency = offload_rates(device, host, DType::F32, file, small).value().latency;
  host.threads = 1; // rates in the file are used in a parallel region too
  BOOST_TEST(offload_rates(device, host, DType::F32, file, small).value().latency == latency);
}

BOOST_AUTO_TEST_SUITE_END()
