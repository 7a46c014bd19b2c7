#pragma once

/// A fuzz target: a function of bytes that must neither crash nor throw, whatever the bytes are. A target's file
/// defines it once:
///
///     TESSERA_FUZZ_TARGET(csv) { … data … size … }
///
/// With -DTESSERA_FUZZ=ON each target is a program of libFuzzer, which looks for new inputs. Otherwise all targets are
/// in one program, replay.cpp, which runs the inputs that are kept in corpus/.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace tessera::fuzz {

using Target = void (*)(const std::uint8_t* data, std::size_t size);

/// Remembers a target for replay.cpp. Returns true, because a constant calls it.
bool add_target(const char* name, Target target);

/// Ends the process if the library broke a promise.
inline void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what.c_str());
  std::abort();
}

} // namespace tessera::fuzz

#if defined(TESSERA_LIBFUZZER)
#define TESSERA_FUZZ_TARGET(name)                                                     \
  static void fuzz_##name(const std::uint8_t* data, std::size_t size);                \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);  \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    fuzz_##name(data, size);                                                          \
    return 0;                                                                         \
  }                                                                                   \
  static void fuzz_##name([[maybe_unused]] const std::uint8_t* data, std::size_t size)
#else
#define TESSERA_FUZZ_TARGET(name)                                                                  \
  static void fuzz_##name(const std::uint8_t* data, std::size_t size);                             \
  [[maybe_unused]] static const bool added_##name = tessera::fuzz::add_target(#name, fuzz_##name); \
  static void fuzz_##name([[maybe_unused]] const std::uint8_t* data, std::size_t size)
#endif
