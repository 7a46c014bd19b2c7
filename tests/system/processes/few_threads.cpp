/// A library to be loaded before a program: pthread_create is refused where the process has MOST_THREADS threads, as
/// under `ulimit -u`, from which root is exempt.

#include <dlfcn.h>
#include <pthread.h>
#include <cerrno>
#include <cstdlib>

#include "child.hpp"

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*start)(void*), void* argument) noexcept {
  static const auto system_create = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  static const int most = std::atoi(std::getenv("MOST_THREADS"));
  if (tessera::test::threads_of_this_process() < most) return system_create(thread, attributes, start, argument);
  return EAGAIN;
}
