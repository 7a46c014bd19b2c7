#include "default_backend.hpp"

#include <atomic>
#include <cstdlib>
#include <string>

#include <tessera/backend.hpp>
#include <tessera/status.hpp>

#include "registry.hpp"

namespace tessera {
namespace {

std::string words_of_available_backends() {
  std::string words(to_string(Backend::Auto));
  for (const BackendInfo& info : available_backends())
    if (info.available) words.append(" ").append(to_string(info.backend));
  return words;
}

} // namespace

Backend backend_of_environment() {
  // It is not a static variable's initializer, because parse_backend() may load a plug-in: the child of a fork in
  // another thread would wait for ever for the end of that initialization.
  constexpr int not_read = -1;
  static constinit std::atomic<int> known = not_read;
  if (const int value = known.load(std::memory_order_relaxed); value != not_read) return static_cast<Backend>(value);
  const char* const word = std::getenv("TESSERA_BACKEND");
  Backend named = Backend::Auto;
  if (word != nullptr && *word != '\0') try {
      named = parse_backend(word);
    } catch (const InvalidArgument& why) {
      throw InvalidArgument("TESSERA_BACKEND=" + std::string(word) + ": " + why.what());
    }
  known.store(static_cast<int>(named), std::memory_order_relaxed);
  return named;
}

Executor* executor_of_environment() {
  const Backend named = backend_of_environment();
  if (named == Backend::Auto) return nullptr;
  try {
    return &named_executor(named);
  } catch (const BackendUnavailable& why) {
    throw BackendUnavailable("TESSERA_BACKEND=" + std::string(to_string(named)) + ": " + why.what() +
                             "; set one of the available ones (" + words_of_available_backends() +
                             "), or unset the variable");
  }
}

} // namespace tessera
