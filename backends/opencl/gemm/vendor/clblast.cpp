/// clblast: the tuned library of OpenCL products, which the ladder is compared with. It is opened at run time and runs
/// by its name alone. The order of summation is its own, so that it does not keep the contract.
///
/// CLBlast takes buffers with offsets, which every block of the executor's memory has.

#include <dlfcn.h>

#include <cstdlib>
#include <new>
#include <string>

#include "opencl/device/status.hpp"
#include "opencl/gemm/ladder.hpp"
#include "opencl/queue/command_queue.hpp"

namespace tessera::opencl {
namespace {

/// Of clblast_c.h, which need not be installed. Its enumerations are passed as int.
template <class T>
using Gemm = int (*)(int layout, int op_a, int op_b, std::size_t m, std::size_t n, std::size_t k, T alpha, cl_mem a,
                     std::size_t a_offset, std::size_t lda, cl_mem b, std::size_t b_offset, std::size_t ldb, T beta,
                     cl_mem c, std::size_t c_offset, std::size_t ldc, cl_command_queue* queue, cl_event* event);

struct Library {
  Gemm<float> f32 = nullptr;
  Gemm<double> f64 = nullptr;
  std::string missing; ///< why the library cannot be used

  Library() {
    const char* const named = std::getenv("TESSERA_CLBLAST");
    const char* const file = named != nullptr && *named != '\0' ? named : "libclblast.so.1";
    void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* const why = dlerror();
      missing = std::string("CLBlast cannot be opened (") + (why == nullptr ? file : why) +
                "); install it (Debian: libclblast1), or set TESSERA_CLBLAST to its path";
      return;
    }
    f32 = reinterpret_cast<Gemm<float>>(dlsym(library, "CLBlastSgemm"));
    f64 = reinterpret_cast<Gemm<double>>(dlsym(library, "CLBlastDgemm"));
    if (f32 == nullptr || f64 == nullptr)
      missing = std::string(file) + " lacks CLBlastSgemm or CLBlastDgemm; it is no CLBlast with the C interface";
  }

  template <class T>
  Gemm<T> gemm() const {
    if constexpr (sizeof(T) == 8)
      return f64;
    else
      return f32;
  }
};

/// Never destroyed, and never unloaded: it keeps the programs that it has compiled.
const Library& library() {
  static const Library& one = *new Library;
  return one;
}

const char* reject(const GemmKernel&, const GemmCall&, const Capabilities&) noexcept try {
  return library().missing.empty() ? nullptr : library().missing.c_str();
} catch (const std::bad_alloc&) {
  return "no memory to look for CLBlast";
}

Status result_of(int code) {
  if (code == CL_SUCCESS) return {};
  if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES || code == CL_OUT_OF_HOST_MEMORY)
    return check(code, "CLBlast's product");
  return {StatusCode::DeviceError, "CLBlast's product: status " + std::to_string(code) + " (clblast_c.h)"};
}

template <class T>
Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept try {
  constexpr int row_major = 101, as_it_is = 111, transposed = 112;
  const auto op = [&](Op x) { return x == Op::None ? as_it_is : transposed; };
  const auto elements = [](std::size_t bytes) { return bytes / sizeof(T); };
  const auto size = [](Index x) { return static_cast<std::size_t>(x); };
  const DeviceMemory& memory = command_queue(queue).memory();
  Place a, b, c;
  if (Status status = memory.find(call.a, a); !status.ok()) return status;
  if (Status status = memory.find(call.b, b); !status.ok()) return status;
  if (Status status = memory.find(call.c, c); !status.ok()) return status;
  cl_command_queue commands = command_queue(queue).get();
  return result_of(library().gemm<T>()(
      row_major, op(call.op_a), op(call.op_b), size(call.m), size(call.n), size(call.k), static_cast<T>(call.alpha),
      a.buffer, elements(a.offset), size(call.lda), b.buffer, elements(b.offset), size(call.ldb),
      static_cast<T>(call.beta), c.buffer, elements(c.offset), size(call.ldc), &commands, nullptr));
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

template <class T>
constexpr GemmKernel rung{.name = "clblast",
                          .summary = "CLBlast, its own summation",
                          .source = "Nugteren: CLBlast (IWOCL 2018)",
                          .type = dtype_of<T>,
                          .reject = reject,
                          .run = run<T>,
                          .yardstick = true};

} // namespace

const GemmKernel clblast_f32 = rung<float>;
const GemmKernel clblast_f64 = rung<double>;

} // namespace tessera::opencl
