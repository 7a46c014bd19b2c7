#pragma once

/// Looks whether the heap's own words are as malloc wrote them. A kernel that writes past its blocks destroys them, and
/// the process would fail much later, or not at all.

#include <cstddef>
#include <string>
#include <vector>

namespace tessera::judge {

/// Walks the chunks of glibc's main heap, each of which begins with its own size, and keeps blocks with known bytes
/// among them. Where the heap is no such heap (another malloc, a sanitizer) it looks at these blocks alone.
class HeapCheck {
 public:
  HeapCheck();
  ~HeapCheck();
  HeapCheck(const HeapCheck&) = delete;
  HeapCheck& operator=(const HeapCheck&) = delete;

  /// Returns what is damaged, or "" for a sound heap. It allocates nothing unless something is damaged.
  std::string damage() const;

 private:
  struct Canary {
    unsigned char* block = nullptr;
    std::size_t bytes = 0;
  };
  std::vector<Canary> canaries_;
  const char* heap_ = nullptr; ///< the first chunk; null: the heap is not walked
};

} // namespace tessera::judge
