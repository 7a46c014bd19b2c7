#pragma once

/// The memory of a trial: the operands and results, which the parent alone sees, and the page that it shares with the
/// child.

#include <cstddef>

#include "gemm_judge/channel.hpp"

namespace tessera::judge {

/// Sets the problem's regions and returns the bytes of the memory that holds them all. Each region starts at a page.
std::size_t lay_out(Problem& problem, std::size_t a_bytes, std::size_t b_bytes, std::size_t c_bytes);

/// The operands, and the results as they were when the kernel had returned. No other process maps this memory.
class PrivateMemory {
 public:
  /// Throws OutOfMemory.
  explicit PrivateMemory(std::size_t bytes);
  ~PrivateMemory();
  PrivateMemory(const PrivateMemory&) = delete;
  PrivateMemory& operator=(const PrivateMemory&) = delete;

  std::byte* data() const noexcept { return data_; }

 private:
  std::size_t bytes_;
  std::byte* data_ = nullptr;
};

/// The page of SharedHeader. Its size is sealed, so that the child cannot take it from the parent.
class SharedPage {
 public:
  /// Throws OutOfMemory.
  SharedPage();
  ~SharedPage();
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;

  SharedHeader& header() const noexcept { return *header_; }
  int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_ = -1;
  SharedHeader* header_ = nullptr;
};

} // namespace tessera::judge
