/// The C interface: every exception becomes a status and a text of the calling thread.

#include <tessera/tessera.h>

#include <cstdint>
#include <initializer_list>
#include <new>
#include <string>

#include <tessera/backend.hpp>
#include <tessera/complex.hpp>
#include <tessera/gemm.hpp>
#include <tessera/version.hpp>

#include "c_api.hpp"
#include "core/backends/registry.hpp"
#include "core/base/cut_text.hpp"

using tessera::Backend;
using tessera::ComplexGemmCall;
using tessera::DType;
using tessera::Executor;
using tessera::GemmCall;
using tessera::GemmOptions;
using tessera::InvalidArgument;
using tessera::Math;
using tessera::Op;
using namespace tessera::c_api;

namespace {

/// The text of tessera_last_error(), cut to its length. It is an array, because a string needs memory for its text, and
/// the C library ends the process where there is no memory to register the string's destructor.
thread_local char last_error[4096];

} // namespace

namespace tessera::c_api {

tessera_status failed(tessera_status status, const char* why) noexcept {
  cut_text(why, last_error);
  return status;
}

Epilogue epilogue_of(const tessera_epilogue* words) {
  if (words == nullptr) return {};
  if (words->size != sizeof(tessera_epilogue))
    throw InvalidArgument("epilogue.size = " + std::to_string(words->size) + ", but this library's is " +
                          std::to_string(sizeof(tessera_epilogue)) + "; start from tessera_default_epilogue()");
  return {.bias_per = checked(words->bias_per, BiasPer::Column, "epilogue.bias_per"),
          .bias = words->bias,
          .bias_step = words->bias_step,
          .activation = checked(words->activation, Activation::Gelu, "epilogue.activation"),
          .residual = words->residual,
          .ld_residual = words->ld_residual};
}

DType result_of(const tessera_options* words, DType operands) {
  if (words == nullptr || words->result == TESSERA_AS_OPERANDS) return operands;
  return checked_type(words->result, "options.result");
}

GemmOptions options_of(const tessera_options* words) {
  GemmOptions options;
  if (words == nullptr) return options;
  if (words->size != sizeof(tessera_options))
    throw InvalidArgument("options.size = " + std::to_string(words->size) + ", but this library's is " +
                          std::to_string(sizeof(tessera_options)) + "; start from tessera_default_options()");
  options.backend = checked(words->backend);
  options.math = checked(words->math, last_math, "options.math");
  if (words->kernel != nullptr) options.kernel = words->kernel;
  options.threads = words->threads;
  options.verify = checked(words->verification, last_verify, "options.verification");
  if (options.threads < 0)
    throw InvalidArgument("options.threads = " + std::to_string(options.threads) + " is negative");
  return options;
}

} // namespace tessera::c_api

namespace {

GemmCall call_of(DType type, tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k, double alpha,
                 const void* a, int64_t lda, const void* b, int64_t ldb, double beta, void* c, int64_t ldc,
                 const tessera_options* words, const GemmOptions& options) {
  return {{.type = type,
           .math = options.math,
           .op_a = checked(op_a, "op_a"),
           .op_b = checked(op_b, "op_b"),
           .m = m,
           .n = n,
           .k = k,
           .alpha = alpha,
           .a = a,
           .lda = lda,
           .b = b,
           .ldb = ldb,
           .beta = beta,
           .c = c,
           .ldc = ldc,
           .threads = options.threads},
          result_of(words, type),
          epilogue_of(words)};
}

template <class T>
tessera_status gemm_in_host_memory(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k, T alpha,
                                   const T* a, int64_t lda, const T* b, int64_t ldb, T beta, T* c, int64_t ldc,
                                   const tessera_options* options) noexcept {
  return guarded([&] {
    const GemmOptions chosen = options_of(options);
    const GemmCall call = call_of(tessera::dtype_of<T>, op_a, op_b, m, n, k, tessera::detail::exact_double(alpha), a,
                                  lda, b, ldb, tessera::detail::exact_double(beta), c, ldc, options, chosen);
    expect_same_result(options, call.type, "use tessera_gemm()");
    tessera::detail::gemm_raw(call, chosen);
  });
}

template <class T>
ComplexGemmCall complex_call_of(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k, const void* alpha,
                                const void* a, int64_t lda, const void* b, int64_t ldb, const void* beta, void* c,
                                int64_t ldc, const GemmOptions& options) {
  const auto known = [](tessera_op op, const char* what) { return checked(op, Op::ConjugateTranspose, what); };
  return {{.type = tessera::dtype_of<T>,
           .math = options.math,
           .op_a = known(op_a, "op_a"),
           .op_b = known(op_b, "op_b"),
           .m = m,
           .n = n,
           .k = k,
           .alpha = factor<T>(alpha, "alpha"),
           .a = a,
           .lda = lda,
           .b = b,
           .ldb = ldb,
           .beta = factor<T>(beta, "beta"),
           .c = c,
           .ldc = ldc,
           .threads = options.threads}};
}

template <class T>
tessera_status complex_gemm_in_host_memory(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                           const void* alpha, const void* a, int64_t lda, const void* b, int64_t ldb,
                                           const void* beta, void* c, int64_t ldc,
                                           const tessera_options* options) noexcept {
  return guarded([&] {
    expect_plain(options, tessera::dtype_of<T>, "complex products have neither");
    const GemmOptions chosen = options_of(options);
    tessera::detail::gemm_raw(complex_call_of<T>(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, chosen),
                              chosen);
  });
}

/// One side of a copy between host and executor: its argument's name, its address and its bytes from row to row.
struct CopySide {
  const char* name;
  const void* data;
  size_t pitch;
};

/// Throws InvalidArgument unless rows of `width` bytes can be copied from one side to the other.
void check_copy(std::initializer_list<CopySide> sides, size_t width, size_t rows) {
  const auto text = [](size_t number) { return std::to_string(number); };
  for (const CopySide& side : sides) {
    const std::string name = side.name;
    if (side.data == nullptr)
      throw InvalidArgument(name + " is null, but " + text(rows) + " rows of width = " + text(width) +
                            " bytes are to be copied; pass the address of the first row");
    if (side.pitch < width)
      throw InvalidArgument(name + "_pitch = " + text(side.pitch) + " is less than width = " + text(width) +
                            "; pass the bytes from one row to the next, at least width");
    if (side.pitch > static_cast<size_t>(PTRDIFF_MAX) / rows)
      throw InvalidArgument(text(rows) + " rows of " + name + "_pitch = " + text(side.pitch) +
                            " bytes overflow the address space");
  }
}

} // namespace

const char* tessera_version(void) { return TESSERA_VERSION; }

const char* tessera_last_error(void) { return last_error; }

const char* tessera_backend_name(tessera_backend backend) {
  const int number = static_cast<int>(backend);
  if (number < 0 || number > static_cast<int>(tessera::last_backend())) return nullptr;
  return to_string(static_cast<Backend>(number)).data();
}

const char* tessera_math_name(tessera_math math) {
  const int number = static_cast<int>(math);
  if (number < 0 || number > static_cast<int>(tessera::last_math)) return nullptr;
  return to_string(static_cast<Math>(number)).data();
}

tessera_status tessera_find_backend(const char* name, tessera_backend* backend) {
  return guarded([&] {
    if (name == nullptr) throw InvalidArgument("name is null; pass the name of a backend");
    if (backend == nullptr) throw InvalidArgument("backend is null; pass the address of a tessera_backend");
    *backend = static_cast<tessera_backend>(tessera::parse_backend(name));
  });
}

tessera_status tessera_backend_available(tessera_backend backend) {
  return guarded([&] {
    if (const Backend asked = checked(backend); asked == Backend::Auto)
      tessera::executor(asked);
    else
      tessera::named_executor(asked); // executor() would make it the backend that the program chose
  });
}

tessera_options tessera_default_options(void) {
  return {sizeof(tessera_options), TESSERA_AUTO, TESSERA_STRICT,     nullptr, 0,
          TESSERA_AS_OPERANDS,     nullptr,      TESSERA_VERIFY_NONE};
}

tessera_epilogue tessera_default_epilogue(void) {
  return {sizeof(tessera_epilogue), TESSERA_NO_BIAS, nullptr, 1, TESSERA_NO_ACTIVATION, nullptr, 0};
}

tessera_status tessera_gemm(tessera_dtype type, tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k,
                            double alpha, const void* a, int64_t lda, const void* b, int64_t ldb, double beta, void* c,
                            int64_t ldc, const tessera_options* options) {
  return guarded([&] {
    const GemmOptions chosen = options_of(options);
    const DType element = checked_type(type, "type");
    tessera::detail::gemm_raw(call_of(element, op_a, op_b, m, n, k, as_scalar(alpha, element), a, lda, b, ldb,
                                      as_scalar(beta, element), c, ldc, options, chosen),
                              chosen);
  });
}

tessera_status tessera_gemm_f32(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k, float alpha,
                                const float* a, int64_t lda, const float* b, int64_t ldb, float beta, float* c,
                                int64_t ldc, const tessera_options* options) {
  return gemm_in_host_memory(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, options);
}

tessera_status tessera_gemm_f64(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k, double alpha,
                                const double* a, int64_t lda, const double* b, int64_t ldb, double beta, double* c,
                                int64_t ldc, const tessera_options* options) {
  return gemm_in_host_memory(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, options);
}

tessera_status tessera_gemm_complex_f32(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                        const void* alpha, const void* a, int64_t lda, const void* b, int64_t ldb,
                                        const void* beta, void* c, int64_t ldc, const tessera_options* options) {
  return complex_gemm_in_host_memory<float>(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, options);
}

tessera_status tessera_gemm_complex_f64(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                        const void* alpha, const void* a, int64_t lda, const void* b, int64_t ldb,
                                        const void* beta, void* c, int64_t ldc, const tessera_options* options) {
  return complex_gemm_in_host_memory<double>(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, options);
}

tessera_status tessera_get_executor(tessera_backend backend, tessera_executor** executor) {
  return guarded([&] {
    if (executor == nullptr) throw InvalidArgument("executor is null; pass the address of a tessera_executor*");
    *executor = nullptr;
    *executor = reinterpret_cast<tessera_executor*>(&tessera::executor(checked(backend)));
  });
}

tessera_backend tessera_executor_backend(const tessera_executor* executor) {
  if (executor == nullptr) return TESSERA_AUTO;
  return static_cast<tessera_backend>(reinterpret_cast<const Executor*>(executor)->capabilities().backend);
}

const char* tessera_executor_device(const tessera_executor* executor) {
  if (executor == nullptr) return nullptr;
  return reinterpret_cast<const Executor*>(executor)->capabilities().device.c_str();
}

tessera_status tessera_allocate(tessera_executor* executor, size_t bytes, void** memory) {
  return guarded([&] {
    if (memory == nullptr) throw InvalidArgument("memory is null; pass the address of a pointer");
    *memory = nullptr;
    throw_if_failed(executor_of(executor).allocate(bytes, *memory));
  });
}

void tessera_free(tessera_executor* executor, void* memory) {
  if (executor != nullptr && memory != nullptr) reinterpret_cast<Executor*>(executor)->free(memory);
}

tessera_status tessera_copy_in(tessera_executor* executor, void* device, size_t device_pitch, const void* host,
                               size_t host_pitch, size_t width, size_t rows) {
  return guarded([&] {
    Executor& target = executor_of(executor);
    if (width == 0 || rows == 0) return;
    check_copy({{"device", device, device_pitch}, {"host", host, host_pitch}}, width, rows);
    throw_if_failed(target.copy_in(target.default_queue(), device, device_pitch, host, host_pitch, width, rows));
  });
}

tessera_status tessera_copy_out(tessera_executor* executor, void* host, size_t host_pitch, const void* device,
                                size_t device_pitch, size_t width, size_t rows) {
  return guarded([&] {
    Executor& source = executor_of(executor);
    if (width == 0 || rows == 0) return;
    check_copy({{"host", host, host_pitch}, {"device", device, device_pitch}}, width, rows);
    throw_if_failed(source.copy_out(source.default_queue(), host, host_pitch, device, device_pitch, width, rows));
  });
}

tessera_status tessera_executor_gemm(tessera_executor* executor, tessera_dtype type, tessera_op op_a, tessera_op op_b,
                                     int64_t m, int64_t n, int64_t k, double alpha, const void* a, int64_t lda,
                                     const void* b, int64_t ldb, double beta, void* c, int64_t ldc,
                                     const tessera_options* options) {
  return guarded([&] {
    Executor& target = executor_of(executor);
    const GemmOptions chosen = options_of(options);
    const DType element = checked_type(type, "type");
    const GemmCall call = call_of(element, op_a, op_b, m, n, k, as_scalar(alpha, element), a, lda, b, ldb,
                                  as_scalar(beta, element), c, ldc, options, chosen);
    throw_if_failed(target.gemm(target.default_queue(), call, chosen.kernel));
  });
}

tessera_status tessera_executor_gemm_complex(tessera_executor* executor, tessera_dtype type, tessera_op op_a,
                                             tessera_op op_b, int64_t m, int64_t n, int64_t k, const void* alpha,
                                             const void* a, int64_t lda, const void* b, int64_t ldb, const void* beta,
                                             void* c, int64_t ldc, const tessera_options* options) {
  return guarded([&] {
    Executor& target = executor_of(executor);
    const GemmOptions chosen = options_of(options);
    const auto call = visit_scalar(checked(type, DType::F64, "type"),
                                   []<class T>(std::type_identity<T>) { return &complex_call_of<T>; });
    throw_if_failed(gemm(target, target.default_queue(),
                         call(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, chosen), chosen.kernel));
  });
}

tessera_status tessera_synchronize(tessera_executor* executor) {
  return guarded([&] { throw_if_failed(executor_of(executor).default_queue().synchronize()); });
}
