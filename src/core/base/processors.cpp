#include <tessera/detail/processors.hpp>

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>
#include <algorithm>
#include <bit>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include <tessera/detail/found_once.hpp>

#include "loaded_libraries.hpp"

namespace tessera::detail {
namespace {

constexpr int word_bits = sizeof(unsigned long) * CHAR_BIT;

void drop_zeros(std::vector<unsigned long>& words) {
  while (!words.empty() && words.back() == 0) words.pop_back();
}

/// Does the environment tell OpenMP runtimes to bind their threads?
bool environment_binds() noexcept {
  for (const char* variable : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"})
    if (const char* text = std::getenv(variable); text != nullptr && *text != '\0') return true;
  return false;
}

/// The functions of an OpenMP runtime that say which processors its places have.
struct OpenMpPlaces {
  int (*count)() = nullptr;
  int (*size)(int place) = nullptr;
  void (*processors)(int place, int* numbers) = nullptr;
};

/// Finds the runtime's functions in one loaded library, if it is a runtime. No library is loaded.
bool find_places(const char* file, OpenMpPlaces& found) noexcept {
  const std::string_view path(file);
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.find("gomp") == name.npos && name.find("omp5") == name.npos && name.find("libomp") == name.npos)
    return false;
  void* const library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  const auto find = [&](const char* symbol, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
    return function != nullptr;
  };
  const bool has_all = find("omp_get_num_places", found.count) && find("omp_get_place_num_procs", found.size) &&
                       find("omp_get_place_proc_ids", found.processors);
  dlclose(library); // the program keeps it loaded
  return has_all;
}

/// The processors of all places of the runtimes that are loaded. GOMP_CPU_AFFINITY may name processors that no machine
/// has.
ProcessorMask processors_of_places() {
  ProcessorMask all;
  for (const std::string& file : loaded_library_names()) {
    OpenMpPlaces places;
    if (!find_places(file.c_str(), places)) continue;
    for (int place = 0; place < places.count(); ++place) {
      std::vector<int> numbers(static_cast<std::size_t>(std::max(0, places.size(place))));
      if (numbers.empty()) continue;
      places.processors(place, numbers.data());
      for (const int number : numbers)
        if (number < sysconf(_SC_NPROCESSORS_CONF)) all.add(number);
    }
  }
  return all;
}

/// What the process had when libtessera was loaded.
struct AtStart {
  bool binds = environment_binds();
  ProcessorMask processors = find_processors(binds);

  static ProcessorMask find_processors(bool binds) {
    ProcessorMask first_thread = ProcessorMask::of_thread(getpid());
    if (!binds || first_thread.count() == sysconf(_SC_NPROCESSORS_ONLN)) return first_thread;
    ProcessorMask places = processors_of_places();
    return first_thread.is_within(places) ? places : first_thread;
  }
};

const AtStart& at_start() {
  static constinit FoundOnce<const AtStart> found;
  return found.get([] { return std::make_unique<const AtStart>(); });
}

/// Makes the loader ask. Where memory is short then, the first call asks.
[[maybe_unused]] const bool has_asked = [] {
  try {
    at_start();
  } catch (const std::bad_alloc&) {
  }
  return true;
}();

} // namespace

ProcessorMask ProcessorMask::of_thread(int thread) {
  ProcessorMask mask;
  // The system's own mask may be of any length; it answers EINVAL where it is longer than the buffer.
  for (std::size_t words = 16; words <= (std::size_t{1} << 16); words *= 2) {
    mask.words_.assign(words, 0);
    if (sched_getaffinity(thread, words * sizeof(unsigned long), reinterpret_cast<cpu_set_t*>(mask.words_.data())) == 0)
      break;
    mask.words_.clear();
    if (errno != EINVAL) break;
  }
  drop_zeros(mask.words_);
  return mask;
}

int ProcessorMask::count() const noexcept {
  int sum = 0;
  for (const unsigned long word : words_) sum += std::popcount(word);
  return sum;
}

int ProcessorMask::first() const noexcept {
  for (std::size_t i = 0; i < words_.size(); ++i)
    if (words_[i] != 0) return static_cast<int>(i) * word_bits + std::countr_zero(words_[i]);
  return -1;
}

void ProcessorMask::add(int processor) {
  if (processor < 0) return;
  const auto word = static_cast<std::size_t>(processor / word_bits);
  if (words_.size() <= word) words_.resize(word + 1);
  words_[word] |= 1ul << (processor % word_bits);
}

bool ProcessorMask::is_within(const ProcessorMask& other) const noexcept {
  if (words_.size() > other.words_.size()) return false;
  for (std::size_t i = 0; i < words_.size(); ++i)
    if ((words_[i] & ~other.words_[i]) != 0) return false;
  return true;
}

void ProcessorMask::use_here() const noexcept { static_cast<void>(give_to(0)); }

bool ProcessorMask::give_to(int thread) const noexcept {
  return !words_.empty() && sched_setaffinity(thread, words_.size() * sizeof(unsigned long),
                                              reinterpret_cast<const cpu_set_t*>(words_.data())) == 0;
}

int processors_of_process() {
  const AtStart& start = at_start();
  const int count = start.binds ? start.processors.count() : ProcessorMask::of_thread(getpid()).count();
  return std::max(1, count);
}

void leave_inherited_place() noexcept try {
  const AtStart& start = at_start();
  if (!start.binds) return;
  const ProcessorMask here = ProcessorMask::of_thread(0);
  if (here != start.processors && here.is_within(start.processors)) start.processors.use_here();
} catch (const std::bad_alloc&) { // the thread stays where it is
}

KeptProcessors::KeptProcessors() : before_(at_start().binds ? ProcessorMask::of_thread(0) : ProcessorMask()) {}

KeptProcessors::~KeptProcessors() {
  try {
    if (before_.count() > 0 && ProcessorMask::of_thread(0) != before_) before_.use_here();
  } catch (const std::bad_alloc&) {
    before_.use_here();
  }
}

} // namespace tessera::detail
