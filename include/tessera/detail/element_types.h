#ifndef TESSERA_DETAIL_ELEMENT_TYPES_H
#define TESSERA_DETAIL_ELEMENT_TYPES_H

/** @file
 * The one list of element types, for C and C++. The enumerations of types.hpp, check.hpp, tessera.h and kernel_abi.h,
 * the facts of types.hpp, the words of the programs, the judge's types, the types that a certificate reads, and the
 * types of the Python package are made of it. The headers that include this file say which functions take which type.
 *
 * A new type is one entry: a line in a table below, and the header of its C++ class at the end of this file. The class
 * has the size that the line says, converts to float without rounding, and, if matrices hold it, is made of a float or
 * double by rounding once (half.hpp). Kernels for it are entries of their ladders; until there are some, products
 * reject the type by its name. Values are never changed and never used again, because programs have them compiled in.
 *
 * The columns:
 *   name      DType::name, CheckedType::name, TESSERA_KERNEL_name
 *   c_name    TESSERA_c_name, TESSERA_CHECKED_c_name; TESSERA_FP16 and TESSERA_BF16 are math modes
 *   value     DType, CheckedType, tessera_dtype, tessera_checked_type. The next free one is 7.
 *   kernel    TESSERA_KERNEL_name, or TESSERA_NO_KERNEL. That interface had int8 as its 4 before the certificate had
 *             e4m3 as its 4, and both are compiled into programs. The next free one is 5.
 *   class     the C++ type
 *   word      on the command line, in environment variables and in JSON
 *   array     the name in NumPy, ml_dtypes and other array libraries
 *   npy       the code in a .npy file without the byte order; "": NumPy saves bytes without a type
 *   bytes     of one element
 *   scalar    the type in which elements are computed with
 *   digits    of the significand in binary, with the leading one
 *   exponent  of the largest finite number, as a power of two
 *   math      the reduced mode that leaves such operands as they are; Strict if there is none
 *   result    the type of the exact products and sums; for types without rounding, else the type itself
 *   buffer    the format in Python's buffer protocol; "": no buffer has such elements
 *   dlpack    DLPack's code (DLDataTypeCode)
 *   torch     PyTorch's number (c10::ScalarType)
 *   what      what it is, for people
 */

/** The type has no number in kernel_abi.h: a kernel from outside is not judged with it. */
#define TESSERA_NO_KERNEL (-1)

/* clang-format off */
/* name, c_name, value, kernel, class, word, array, npy, bytes, scalar, digits, exponent, math, result, buffer, dlpack,
   torch, what */

/** Types of matrices, of kernels from outside, and of all operands of a certificate. */
#define TESSERA_MATRIX_TYPES(X) \
  X(F32, F32, 0, 0, float, "f32", "float32", "f4", 4, F32, 24, 127, Strict, F32, "f", 2, 6, "float") \
  X(F64, F64, 1, 1, double, "f64", "float64", "f8", 8, F64, 53, 1023, Strict, F64, "d", 2, 7, "double") \
  X(F16, FLOAT16, 2, 2, struct f16, "f16", "float16", "f2", 2, F32, 11, 15, Fp16, F16, "e", 2, 5, "IEEE binary16") \
  X(BF16, BFLOAT16, 3, 3, struct bf16, "bf16", "bfloat16", "V2", 2, F32, 8, 127, Bf16, BF16, "", 4, 15, "bfloat16")

/** Types of A and B that a certificate alone reads. */
#define TESSERA_NARROW_TYPES(X) \
  X(E4M3, E4M3, 4, TESSERA_NO_KERNEL, struct e4m3, "e4m3", "float8_e4m3fn", "", 1, F32, 4, 8, Strict, E4M3, "", 10, 24, \
    "OCP FP8 with 4 bits of exponent: largest number 448, NaN, no Inf; of A and B only") \
  X(E5M2, E5M2, 5, TESSERA_NO_KERNEL, struct e5m2, "e5m2", "float8_e5m2", "", 1, F32, 3, 15, Strict, E5M2, "", 12, 23, \
    "OCP FP8 with 5 bits of exponent: largest number 57344, NaN and Inf; of A and B only")

/** Types of A and B of kernels from outside and of certificates, whose products are exact in the column `result`. */
#define TESSERA_WHOLE_TYPES(X) \
  X(I8, I8, 6, 4, std::int8_t, "i8", "int8", "i1", 1, I8, 7, 6, Strict, I32, "b", 0, 1, "std::int8_t; of A and B only")

/** Types of the results of those. Reductions of whole numbers take them as well. */
#define TESSERA_WHOLE_RESULT_TYPES(X) \
  X(I32, I32, 64, TESSERA_NO_KERNEL, std::int32_t, "i32", "int32", "i4", 4, I32, 31, 30, Strict, I32, "i", 0, 3, \
    "std::int32_t; of C, where A and B are int8_t, and of sums of squares")
/* clang-format on */

/** Types of kernels from outside: those with a number in kernel_abi.h. */
#define TESSERA_KERNEL_TYPES(X) TESSERA_MATRIX_TYPES(X) TESSERA_WHOLE_TYPES(X)

/** All types. */
#define TESSERA_ELEMENT_TYPES(X) \
  TESSERA_MATRIX_TYPES(X)        \
  TESSERA_NARROW_TYPES(X)        \
  TESSERA_WHOLE_TYPES(X)         \
  TESSERA_WHOLE_RESULT_TYPES(X)

/** The enumerators that the headers make of an entry. */
#define TESSERA_AS_ENUMERATOR(name, c_name, value, ...) name = value,
/** The enumerator of tessera_dtype. */
#define TESSERA_AS_C_TYPE(name, c_name, value, ...) TESSERA_##c_name = value,
/** The enumerator of tessera_checked_type. */
#define TESSERA_AS_CHECKED_TYPE(name, c_name, value, ...) TESSERA_CHECKED_##c_name = value,
/** The enumerator of kernel_abi.h. */
#define TESSERA_AS_KERNEL_TYPE(name, c_name, value, kernel, ...) TESSERA_KERNEL_##name = kernel,
/** An entry as types.hpp has it. */
#define TESSERA_AS_ENTRY(name, c_name, value, kernel, class_, word, array, npy, bytes, scalar, digits, exponent, math, \
                         result, buffer, dlpack, torch, what)                                                          \
  , detail::ElementEntry<class_> {                                                                                     \
    {                                                                                                                  \
      DType::name, word, array, npy, bytes, DType::scalar, digits, exponent, Math::math, DType::result, kernel,        \
          buffer, dlpack, torch, what                                                                                  \
    }                                                                                                                  \
  }

#endif

/* The headers of the classes. half.hpp, which is what includes them, asks for this part. */
#ifdef TESSERA_ELEMENT_CLASSES
#include <tessera/fp8.hpp>
#include <tessera/half.hpp>
#undef TESSERA_ELEMENT_CLASSES
#endif
