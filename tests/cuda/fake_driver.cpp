/// A library in the driver's place that is old, or shows no device: what FAKE_DRIVER_VERSION (12040 is CUDA 12.4) and
/// FAKE_DRIVER_INIT (a code of the driver API) say. The CUDA runtime opens it as it would open the driver.

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
