#include "other_programs.hpp"

#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace tessera::judge {
namespace {

/// Returns the processor time of this process.
double own_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Returns the seconds that these processors worked since the machine started, or that the machine below a virtual one
/// took from them. 0 if Linux does not tell.
double busy_seconds(const cpu_set_t& processors) {
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  double busy = 0;
  std::ifstream lines("/proc/stat");
  for (std::string name; lines >> name && name.starts_with("cpu");) {
    double user = 0, nice = 0, system = 0, idle = 0, disk = 0, interrupts = 0, soft = 0, stolen = 0;
    lines >> user >> nice >> system >> idle >> disk >> interrupts >> soft >> stolen;
    lines.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    if (name.size() == 3) continue; // the sum of all
    const auto number = std::stoul(name.substr(3));
    if (number < CPU_SETSIZE && CPU_ISSET(number, &processors))
      busy += (user + nice + system + interrupts + soft + stolen) / ticks;
  }
  return busy;
}

} // namespace

OtherPrograms::OtherPrograms() {
  CPU_ZERO(&processors_);
  sched_getaffinity(0, sizeof processors_, &processors_);
  before_ = count();
}

OtherPrograms::Counted OtherPrograms::count() const {
  return {watch_.seconds(), busy_seconds(processors_), own_seconds()};
}

double OtherPrograms::share_of(int threads, double own) const {
  const Counted now = count();
  const double passed = now.passed - before_.passed;
  const double others = now.busy - before_.busy - (now.judge - before_.judge) - own;
  const double all = passed * CPU_COUNT(&processors_);
  const double wanted = passed * std::min(threads, CPU_COUNT(&processors_));
  const double taken = others - (all - wanted);
  constexpr double resolution = 0.03;
  return wanted > 0 && taken > resolution ? std::min(1.0, taken / wanted) : 0;
}

} // namespace tessera::judge
