#pragma once

/// A device that is in use: its context, and its compiled programs. A program is compiled when a kernel of it is first
/// launched, or read, if another process has kept it.

#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device.hpp"

namespace tessera::opencl {

/// The text of one file of kernels, embedded in the plug-in.
struct Source {
  const char* name;           ///< of the file, in messages
  std::string_view (*text)(); ///< made by cmake/TesseraEmbed.cmake
};

/// Code in an intermediate language, which a program's plug-in holds until the process ends.
struct Il {
  const char* name; ///< in messages
  const void* code; ///< the first byte; programs are known by it
  std::size_t bytes;
};

/// What a compiled kernel takes of its device.
struct KernelNeeds {
  std::size_t most_work_items = 0; ///< of a group, for which there are registers
  std::size_t private_bytes = 0;   ///< of a work-item's variables that are in memory
};

/// Kernels of one program. Arguments belong to a kernel object, so that two threads must not use one at the same time.
class Program {
 public:
  explicit Program(cl_program program) : program_(program) {}
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Gives a kernel object that no other thread uses, until give_back().
  Status take(const char* name, cl_kernel& kernel);
  void give_back(const char* name, cl_kernel kernel) noexcept;

  /// Says what the kernel takes of `device`, by the driver's word.
  Status needs(const char* name, cl_device_id device, KernelNeeds& needs);

 private:
  cl_program program_;
  std::mutex mutex_;
  std::map<std::string, std::vector<cl_kernel>, std::less<>> idle_;
  std::map<std::string, KernelNeeds, std::less<>> needs_;
};

class Context {
 public:
  static Status create(const Device& device, std::unique_ptr<Context>& context);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Device& device() const noexcept { return device_; }
  cl_context get() const noexcept { return context_; }

  /// Returns the program of `source` for these options ("-D REAL=float"), which is compiled at the first call. It lives
  /// as long as the context.
  Status program(const Source& source, const std::string& options, Program*& program) noexcept;

  /// Returns the program of `il`, which is compiled at the first call. Precondition: the device compiles SPIR-V.
  Status program(const Il& il, Program*& program) noexcept;

  /// Says whether strict products of this type have the contract's bits on this device. `check` finds out at the first
  /// call by a product whose bits are known, and its answer stays.
  Status strict(DType type, Status (*check)(Context&, Queue&, DType), Queue& queue) noexcept;

  /// Says whether functors have the bits of the host on this device; `check` finds out at the first call.
  template <class Check>
  Status rounds(Check check) noexcept {
    return known(rounding_, check);
  }

 private:
  Context(const Device& device, cl_context context) : device_(device), context_(context) {}
  struct Recipe;
  Status make(const Recipe& recipe, std::unique_ptr<Program>& program) const;
  Status compile(const Recipe& recipe, cl_program& program) const;

  struct Known {
    std::mutex mutex;
    bool is_known = false;
    Status status;
  };
  /// Returns what is known, or finds it out. Too little memory and a failing device are not the device's nature.
  template <class Check>
  static Status known(Known& known, Check check) noexcept try {
    const std::lock_guard lock(known.mutex);
    if (known.is_known) return known.status;
    Status status = check();
    if (status.code == StatusCode::OutOfMemory || status.code == StatusCode::DeviceError) return status;
    known.status = status;
    known.is_known = true;
    return status;
  } catch (const std::bad_alloc&) {
    return {StatusCode::OutOfMemory, {}};
  }

  Device device_;
  cl_context context_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Program>> programs_;
  std::map<const void*, std::unique_ptr<Program>> il_programs_; ///< by the code's first byte
  Known f32_, f64_, rounding_;
};

} // namespace tessera::opencl
