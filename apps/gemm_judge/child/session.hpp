#pragma once

/// Carries out the parent's commands: opens the library and calls the kernel.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device.hpp"
#include "entry.hpp"
#include "floating_state.hpp"
#include "gemm_judge/channel.hpp"
#include "guarded_buffer.hpp"
#include "heap_check.hpp"

namespace tessera::judge {

void say(Reply& reply, ReplyKind kind, const char* text);

class Session {
 public:
  /// Throws BackendUnavailable, or OutOfMemory if there is no memory for the operands.
  Session(SharedHeader& header, const Problem& problem, Device device);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  /// Returns the memory in which the parent places the operands.
  std::uint64_t arena() const noexcept { return reinterpret_cast<std::uint64_t>(arena_); }
  /// Opens the library. The reply says Ready, or why the kernel cannot be called.
  Reply load(const std::string& library, Abi abi);
  /// Carries out a command other than Load.
  Reply carry_out(const Command& command);
  void wait_stage() noexcept { header_.stage = Stage::Waiting; }

 private:
  /// The operands of one call in the device's memory.
  struct Operands;

  GemmCall call_of(const void* a, const void* b, void* c) const;
  void place(const Command& command);
  Reply call(const Command& command);
  Reply collect(const Command& command);
  Reply watch(const Command& command);
  void collect_from_device(const Command& command, Reply& reply);
  bool inspect_old(const Operands& old, Reply& reply) const;

  SharedHeader& header_;
  const Problem problem_;
  const Device device_;
  Machine machine_;
  Executor& host_;
  void* arena_ = nullptr;
  std::unique_ptr<Entry> entry_;
  std::string changed_state_; ///< what the last call changed in the state of floating-point arithmetic
  std::optional<HeapCheck> heap_;

  std::unique_ptr<Operands> operands_, older_;
  std::vector<std::byte> first_; ///< C when the kernel had returned
  std::vector<std::byte>
      old_; ///< during a call, C of the call before it when that had returned; between calls, C of the last one
};

} // namespace tessera::judge
