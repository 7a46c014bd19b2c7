/// A library in the driver's place that is old or shows no device. FAKE_DRIVER_VERSION sets its version (12040 is CUDA
/// 12.4) and FAKE_DRIVER_INIT the code of the driver API that cuInit() returns. The CUDA runtime opens it as it would
/// open the driver.

#include <cstdlib>

namespace {

int number(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::atoi(text);
}

} // namespace

extern "C" __attribute__((visibility("default"))) int cuDriverGetVersion(int* version) {
  *version = number("FAKE_DRIVER_VERSION");
  return 0;
}

extern "C" __attribute__((visibility("default"))) int cuInit(unsigned) { return number("FAKE_DRIVER_INIT"); }
