#pragma once

/// What executors copy and allocate while an object lives, as a tool of the library sees it.

#include <atomic>
#include <cstdint>
#include <string_view>

#include <tessera/tools.hpp>

namespace tessera::test {

class CopiedBytes {
 public:
  CopiedBytes()
      : tool_(tools::register_tool({.name = "copied bytes",
                                    .kinds = tools::bit_of(tools::Kind::CopyIn) | tools::bit_of(tools::Kind::CopyOut) |
                                             tools::bit_of(tools::Kind::Allocate),
                                    .begin = hear,
                                    .data = this})) {}
  ~CopiedBytes() { tools::unregister_tool(tool_); }
  CopiedBytes(const CopiedBytes&) = delete;
  CopiedBytes& operator=(const CopiedBytes&) = delete;

  std::uint64_t in() const { return in_; }
  std::uint64_t out() const { return out_; }
  /// Returns how often host memory was allocated that copies need not wait for.
  int host_allocations() const { return host_allocations_; }

 private:
  static void hear(const tools::Operation& operation, void* data) noexcept {
    auto& all = *static_cast<CopiedBytes*>(data);
    if (operation.kind == tools::Kind::CopyIn) all.in_ += operation.bytes;
    if (operation.kind == tools::Kind::CopyOut) all.out_ += operation.bytes;
    if (std::string_view(operation.name) == "allocate_host") ++all.host_allocations_;
  }

  std::atomic<std::uint64_t> in_ = 0, out_ = 0;
  std::atomic<int> host_allocations_ = 0;
  tools::ToolId tool_;
};

} // namespace tessera::test
