#include "given_processors.hpp"

#include <sched.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <thread>

#include <fmt/format.h>

namespace tessera::judge {
namespace {

/// Returns for how long each processor has idled since the machine started, in seconds.
std::map<int, double> idle_seconds() {
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  std::map<int, double> seconds;
  std::ifstream lines("/proc/stat");
  for (std::string name; lines >> name && name.starts_with("cpu");) {
    double user = 0, nice = 0, system = 0, idle = 0, disk = 0;
    lines >> user >> nice >> system >> idle >> disk;
    lines.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    if (name.size() > 3) seconds[std::stoi(name.substr(3))] = (idle + disk) / ticks;
  }
  return seconds;
}

/// Returns the lowest number of a processor on the core of this one.
int core_of(int processor) {
  std::ifstream list(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", processor));
  int lowest = processor;
  list >> lowest;
  return list ? lowest : processor;
}

} // namespace

GivenProcessors::GivenProcessors(int threads)
    : all_(look()), threads_(std::max(1, threads)), random_(std::random_device{}()) {
  if (threads_ < static_cast<int>(all_.size())) std::this_thread::sleep_for(std::chrono::milliseconds(30));
  choose_again();
}

std::vector<GivenProcessors::Processor> GivenProcessors::look() {
  const std::map<int, double> idle = idle_seconds();
  std::vector<Processor> found;
  const auto mine = tessera::detail::ProcessorMask::of_thread(0);
  for (int number = 0, left = mine.count(); left > 0; ++number) {
    tessera::detail::ProcessorMask one;
    one.add(number);
    if (!one.is_within(mine)) continue;
    --left;
    const auto at = idle.find(number);
    found.push_back({number, core_of(number), at == idle.end() ? 0 : at->second});
  }
  return found;
}

void GivenProcessors::choose_again() {
  const std::vector<Processor> now = look();
  std::vector<Processor> order = now;
  for (Processor& one : order) {
    const auto before = std::ranges::find(all_, one.number, &Processor::number);
    one.idle -= before == all_.end() ? 0 : before->idle;
  }
  std::ranges::shuffle(order, random_); // two judges that start at once take different ones, if they are lucky
  std::ranges::stable_sort(order, std::greater(), &Processor::idle);
  // The first processor of each core goes before the second one.
  std::map<int, int> taken;
  std::vector<std::pair<int, int>> ranks; // which processor of its core it is, and its number
  for (const Processor& one : order) ranks.emplace_back(taken[one.core]++, one.number);
  std::ranges::stable_sort(ranks, {}, &std::pair<int, int>::first);
  all_ = now;
  mask_ = {};
  for (const auto& [rank, number] : ranks) {
    if (mask_.count() == threads_) break;
    mask_.add(number);
  }
}

} // namespace tessera::judge
