#pragma once

/// Which thread wrote and read each word last, to find accesses that no barrier orders, and reads of what nobody wrote.
/// Source: S. Savage and others, "Eraser", 1997, and FastTrack, 2009, for the idea of one remembered write and read; a
/// block's barriers order all its threads, so that one number stands for a vector clock.

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tessera::lens {

/// An access that a word remembers.
struct Mark {
  std::uint32_t time; ///< 0: none
  std::uint32_t pc;
  std::uint16_t thread;
  std::uint8_t bytes; ///< of the word, a bit for each
  bool atomic;
};

struct Cell {
  Mark writer, reader, other_reader; ///< `other_reader` is of another thread than `reader`
  std::uint32_t written_in;          ///< number of the block that wrote it last
  std::uint8_t written;              ///< its bytes that this block has written, a bit for each
};

/// The cells of an array, one for each word of 4 bytes. Memory is used for the words that are accessed.
class ShadowMemory {
 public:
  ShadowMemory() = default;
  ShadowMemory(const ShadowMemory&) = delete;
  ShadowMemory& operator=(const ShadowMemory&) = delete;
  ~ShadowMemory();
  void reserve(std::size_t bytes);
  Cell* cells = nullptr;

 private:
  std::size_t size_ = 0;
};

/// The order that barriers make. Times count barriers, beginnings of blocks and launches, all together.
struct Order {
  std::uint32_t now = 1, launch = 1, block = 1, barrier = 1;
  std::uint32_t warp[32] = {}; ///< the last barrier of each warp
  std::uint32_t block_number = 0;

  void begin_launch() { launch = ++now; }
  void begin_block() {
    block = barrier = ++now;
    ++block_number;
  }
  void block_barrier() { barrier = ++now; }
  void warp_barrier(int number) { warp[number] = ++now; }
};
inline Order order;

struct Race {
  Mark earlier;
  bool stored; ///< the earlier access wrote
};

/// Notes an access to bytes of a word, and returns the earlier access that it races with. `shared`: each block has its
/// own.
std::optional<Race> race_with(Cell& cell, const Mark& access, bool store, bool shared);

} // namespace tessera::lens
