#pragma once

/// The common part of the C interface's functions. An exception becomes a status, and a text of the calling thread.

#include <tessera/tessera.h>

#include <bit>
#include <complex>
#include <cstdint>
#include <new>
#include <string>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/gemm.hpp>

#include "core/backends/registry.hpp"

namespace tessera::c_api {

/// Keeps `why` for tessera_last_error() and returns `status`.
tessera_status failed(tessera_status status, const char* why) noexcept;

template <class Action>
tessera_status guarded(Action action) noexcept {
  try {
    action();
    return TESSERA_OK;
  } catch (const Error& error) {
    return failed(static_cast<tessera_status>(error.code()), error.what());
  } catch (const std::bad_alloc& error) {
    return failed(TESSERA_OUT_OF_MEMORY, text_of(error));
  } catch (const std::exception& error) {
    return failed(TESSERA_INTERNAL, error.what());
  } catch (...) {
    return failed(TESSERA_INTERNAL, "something that is not a std::exception was thrown");
  }
}

/// Converts a value of a C enumeration, which may hold any integer. Throws InvalidArgument unless it is in 0 … last.
template <class To, class From>
To checked(From value, To last, const char* what) {
  const int number = static_cast<int>(value);
  if (number < 0 || number > static_cast<int>(last))
    throw InvalidArgument(std::string(what) + " = " + std::to_string(number) + " is none of 0 … " +
                          std::to_string(static_cast<int>(last)));
  return static_cast<To>(number);
}
inline Backend checked(tessera_backend backend) { return checked(backend, last_backend(), "backend"); }
/// Converts an element type of matrices. Throws InvalidArgument for another value.
DType checked_type(tessera_dtype type, const char* what);
inline Op checked(tessera_op op, const char* what) { return checked(op, Op::Transpose, what); }

/// Convert the caller's structures; null stands for the defaults. They throw InvalidArgument.
GemmOptions options_of(const tessera_options* words);
Epilogue epilogue_of(const tessera_epilogue* words);
inline Epilogue epilogue_of(const tessera_options* words) {
  return epilogue_of(words == nullptr ? nullptr : words->epilogue);
}
DType result_of(const tessera_options* words, DType operands);

/// Throws InvalidArgument if a result of another type than the operands' is asked for. For functions that have only
/// that.
inline void expect_same_result(const tessera_options* words, DType operands, const char* instead) {
  if (const DType result = result_of(words, operands); result != operands)
    throw InvalidArgument("options.result = " + std::string(to_string(result)) + ", but c is of " +
                          std::string(to_string(operands)) + "; " + instead);
}
/// Throws InvalidArgument if another result type or an epilogue is asked for. For functions that have neither.
inline void expect_plain(const tessera_options* words, DType operands, const char* instead) {
  expect_same_result(words, operands, instead);
  if (words != nullptr && words->epilogue != nullptr)
    throw InvalidArgument(std::string("options.epilogue is set, but there is none here; ") + instead);
}

/// Rounds alpha or beta to the type that products of `type` are computed in. Most factors are floats already.
inline double as_scalar(const double& value, DType type) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t exponent = bits >> 52 & 0x7FF;
  const bool normal_float = (bits & 0x1FFFFFFF) == 0 && exponent > 0x380 && exponent < 0x47F;
  if (normal_float || bits == 0 || scalar_of(type) == DType::F64) return value;
  const detail::ContractArithmetic contract;
  return double{static_cast<float>(value)};
}

/// Reads alpha or beta of a complex product.
template <class T>
std::complex<double> factor(const void* address, const char* what) {
  if (address == nullptr) throw InvalidArgument(std::string(what) + " is null; pass the address of a complex number");
  return detail::exact_double(*static_cast<const std::complex<T>*>(address));
}

inline Executor& executor_of(tessera_executor* executor) {
  if (executor == nullptr) throw InvalidArgument("executor is null; get one with tessera_get_executor()");
  return *reinterpret_cast<Executor*>(executor);
}

} // namespace tessera::c_api
