#pragma once

/// A certificate for a product that anything computed: is C a product of A and B as a math mode may round it?
///
///     Certificate answer = check(a, b, c);                        // matrices or views, C := A·B
///     Certificate answer = check(a, b, c, {.math = Math::Tf32});  // as matrix units may round f32 operands
///     if (!answer.right()) std::cout << to_text(answer);
///
/// Rows of C are sampled and compared element by element with a reference in higher precision (compare.hpp), and all
/// rows are tested by Freivalds' check (freivalds.hpp); small products are compared whole. Both allow for exactly the
/// errors that are proven for the mode, in any order of additions, so that a right product of any library passes.
/// docs/certificate.md says what is found, and what is missed with which probability; for large products the check
/// costs some 5 % of the product.
///
/// Matrices are in host memory; matrices of Tessera are brought there. Nothing is written. Complex products have no
/// reference here, and are refused.
///
/// Source: the two headers above; Freivalds (1977), Higham.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/detail/element_types.h>
#include <tessera/checking/compare.hpp>
#include <tessera/detail/export.hpp>
#include <tessera/epilogue.hpp>
#include <tessera/matrix.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// Types of elements that the check reads. Each has the value of its DType. The values are part of the C interface; the
/// enumerators are made of the list of detail/element_types.h.
enum class CheckedType : int { TESSERA_ELEMENT_TYPES(TESSERA_AS_ENUMERATOR) };

/// The facts about a type that the check reads.
struct CheckedTypeInfo {
  CheckedType type;            ///< the value that names it
  std::string_view name;       ///< on the command line and in JSON, such as "f32", "e4m3" and "i8"
  std::string_view array_name; ///< in NumPy, ml_dtypes and other array libraries
  std::size_t bytes;           ///< bytes of one element
};

/// Returns the types that the check reads.
TESSERA_API std::span<const CheckedTypeInfo> checked_types() noexcept;
/// Returns the facts about a type. Throws InvalidArgument for a value that names none.
TESSERA_API const CheckedTypeInfo& checked_type(CheckedType type);
/// Returns the type of this name or name in array libraries. An unknown word throws InvalidArgument, which names the
/// nearest known one.
TESSERA_API CheckedType parse_checked_type(std::string_view word);

/// A matrix in host memory of the caller: `rows` stored rows of `cols` elements, `ld` elements from one to the next.
/// op = Transpose reads the transpose of what is stored.
struct CheckedMatrix {
  CheckedType type = CheckedType::F32; ///< type of the elements
  const void* data = nullptr;          ///< the first stored element
  Index rows = 0;                      ///< stored rows
  Index cols = 0;                      ///< elements of a stored row
  Index ld = 0;                        ///< elements from one stored row to the next, at least cols
  Op op = Op::None;                    ///< None or Transpose; ConjugateTranspose of complex numbers
  bool is_complex = false;             ///< elements are pairs of `type`, the real part first; for check_solve() alone

  /// Returns the rows as they are read.
  Index logical_rows() const noexcept { return op == Op::None ? rows : cols; }
  /// Returns the columns as they are read.
  Index logical_cols() const noexcept { return op == Op::None ? cols : rows; }
};

/// The operands of one product. The memory must stay as it is while a Certifier exists.
struct CheckedProduct {
  CheckedMatrix a;                            ///< m×k as it is read
  CheckedMatrix b;                            ///< k×n as it is read
  std::optional<CheckedMatrix> c_before = {}; ///< C as it was before the product, m×n; needed where beta ≠ 0
  std::optional<CheckedMatrix> bias = {};     ///< of C's type: 1×n for the columns, or m×1 for the rows
  std::optional<CheckedMatrix> residual = {}; ///< of C's type, m×n
};

/// The choices of a check.
struct CheckOptions {
  Math math = Math::Strict;                 ///< how the product may round
  double alpha = 1;                         ///< is rounded to the type that is computed in; whole for C of int32
  double beta = 0;                          ///< is rounded as alpha is
  Activation activation = Activation::None; ///< is applied after the bias
  std::uint64_t seed = 1;                   ///< decides the signs and the sampled rows
  Index rows = 0;  ///< rows of C, of all products together, to compare element by element; 0: as many as are cheap
  int vectors = 0; ///< random vectors, a multiple of 16 after rounding up; 0: 16; −1: no Freivalds' check
  int threads = 0; ///< 0: default_threads()
};

/// What a certificate says.
enum class Verdict : int {
  Right = 0,   ///< nothing that was looked at is beyond its bound
  Wrong = 1,   ///< an element or a row is beyond its bound: no correct kernel of this mode computes this C
  Unknown = 2, ///< nothing could be judged, because NaN, Inf or overflow may reach every row
};
/// Returns "right", "wrong" or "unknown".
TESSERA_API std::string_view to_string(Verdict verdict) noexcept;

/// An element beyond its bound, or the worst ones of a right product.
struct CheckedElement {
  Index product = 0;    ///< of the batch
  WorstElement element; ///< its place, the computed and the exact value, and the bound
};

/// A row that Freivalds' check found.
struct RowBeyond {
  Index product = 0;     ///< of the batch
  Index row = 0;         ///< of C
  double over_bound = 0; ///< |(C·x)_i − …| / w_i, the largest of all vectors; infinite for NaN and Inf
};

/// What wrong elements look like. Each kind was tested on the elements that are reported as wrong, and holds for all of
/// those, within the bound.
enum class Diagnosis : int {
  NotWritten = 0,       ///< the wrong elements are zero
  Stale = 1,            ///< they are C as it was before the product
  BetaIgnored = 2,      ///< beta·C₀ is missing
  AddedToC = 3,         ///< C₀ was added although beta = 0
  TransposedA = 4,      ///< A was read transposed, or was not
  TransposedB = 5,      ///< B was read transposed, or was not
  TransposedBoth = 6,   ///< both were
  TransposedC = 7,      ///< C is the transpose of the product: a column-major result, for example
  MissingTail = 8,      ///< the last products of the sums are missing
  Factor = 9,           ///< all are off by one constant factor
  LowPrecision = 10,    ///< the errors are as large as a mode or type of less precision makes them
  MissingBias = 11,     ///< the bias was not added
  MissingResidual = 12, ///< the residual was not added
  OtherActivation = 13, ///< another activation, or none, was applied
  NonFinite = 14,       ///< NaN or Inf where there should be none, or the reverse
};
/// Returns the word for a diagnosis in JSON, such as "missing_tail".
TESSERA_API std::string_view to_string(Diagnosis diagnosis) noexcept;

/// A diagnosis and what it says.
struct Finding {
  Diagnosis diagnosis = Diagnosis::NotWritten; ///< the kind
  std::string text;                            ///< one sentence with the numbers
  double value = 0; ///< k up to which the sums go (MissingTail), or the factor (Factor); else 0
};

/// The answer of a check.
struct Certificate {
  Verdict verdict = Verdict::Right;        ///< what it says
  Math math = Math::Strict;                ///< the mode that decided the bounds
  CheckedType type_a = CheckedType::F32;   ///< type of A
  CheckedType type_b = CheckedType::F32;   ///< type of B
  CheckedType type_c = CheckedType::F32;   ///< type of C
  Index products = 1;                      ///< number of products
  Index m = 0;                             ///< rows of the first C
  Index n = 0;                             ///< columns of the first C
  Index k = 0;                             ///< length of the first product's sums
  Index rows = 0;                          ///< of all C
  Index rows_compared = 0;                 ///< element by element: the sample, and rows that were found
  Index rows_sampled = 0;                  ///< the sample alone
  Index rows_judged = 0;                   ///< by Freivalds' check
  int vectors = 0;                         ///< random vectors of Freivalds' check; 0: it was left out
  double row_over_bound = 0;               ///< largest |(C·x)_i − …| / w_i
  std::vector<RowBeyond> rows_beyond = {}; ///< rows that Freivalds' check found, in ascending order
  /// Errors of the compared rows. differing_bits, row_column and norm_product are 0: they are for kernels of Tessera.
  GemmError error = {};
  std::vector<CheckedElement> worst = {}; ///< by |Δ| / bound, the worst first
  std::vector<Finding> findings = {};     ///< what the wrong elements look like
  /// Products for which a C of zeros would pass as well: all bounds that were looked at are larger than the elements,
  /// as where k·u is near 1. Their verdict says little; f64 or a smaller k has smaller bounds.
  Index blind_products = 0;
  double probability_missed = 1; ///< that errors in a judged row, one of them beyond w_i, were missed: 2^-vectors

  /// Is the verdict Right?
  bool right() const noexcept { return verdict == Verdict::Right; }
  /// Would a C of zeros pass for one of the products? A test should fail then, because it could not fail otherwise.
  bool zero_would_pass() const noexcept { return blind_products > 0; }
};

/// Returns some lines of text: the verdict, the worst elements, the norms, what was looked at, and the findings.
TESSERA_API std::string to_text(const Certificate& certificate);
/// Returns the certificate as JSON with the schema "tessera.certificate/1". Numbers that JSON does not have are the
/// strings "inf", "-inf" and "nan". Throws Error with the code Unavailable where the library was built without
/// nlohmann_json.
TESSERA_API std::string to_json(const Certificate& certificate, int indent = 2);

/// The operands of one product or of a batch, to check any number of computed results with. The right-hand sides of
/// Freivalds' check and the reference of the sampled rows are computed once.
class TESSERA_API Certifier {
 public:
  /// Takes the operands and the type of C. They are read again by each check. Throws InvalidArgument for shapes, types
  /// and modes that do not fit, KernelRejected for a mode that the type does not have, and OutOfMemory.
  Certifier(std::vector<CheckedProduct> products, CheckedType result, const CheckOptions& options = {});
  /// Frees the right-hand sides.
  ~Certifier();
  /// Takes the other certifier, which can then only be assigned to or destroyed.
  Certifier(Certifier&&) noexcept;
  /// Takes the other certifier, which can then only be assigned to or destroyed.
  Certifier& operator=(Certifier&&) noexcept;

  /// Checks one C for each product. Each element is read about once. Throws InvalidArgument for shapes and types that
  /// do not fit, and if C overlaps an operand in memory.
  Certificate check(std::span<const CheckedMatrix> c) const;
  /// Returns w_i, the bound of a row under Freivalds' check; −1 if the row is not judged.
  double row_bound(Index product, Index row) const;

  struct State; ///< the library's own

 private:
  std::unique_ptr<const State> state_;
};

/// Checks one product; see Certifier.
TESSERA_API Certificate check(const CheckedProduct& product, const CheckedMatrix& c, const CheckOptions& options = {});
/// Checks a batch: each product with its C. Throws what Certifier throws, and InvalidArgument for lists of different
/// lengths.
TESSERA_API Certificate check_batch(std::span<const CheckedProduct> products, std::span<const CheckedMatrix> c,
                                    const CheckOptions& options = {});

/// Returns product number `index` of a strided batch: the operands of the first one, moved on by `index` strides, which
/// count elements.
TESSERA_API CheckedMatrix moved(const CheckedMatrix& first, Index stride, Index index);

/// The elements of a .npy file, with the matrices that they are: one, or `count` of them in an array of three
/// dimensions.
struct CheckedFile {
  std::vector<char> bytes; ///< the elements as they are in the file
  CheckedMatrix first;     ///< the first matrix, which points into `bytes`
  Index count = 1;         ///< number of matrices
  Index stride = 0;        ///< elements from one matrix to the next
  bool is_batch = false;   ///< the array has three dimensions
};

/// Reads a .npy file of a type that the check reads. NumPy saves the types of ml_dtypes as bytes without a type, of
/// which those with two are bfloat16; `opaque` says what those with one byte are. Throws IoError, which names the file:
/// it cannot be read, is truncated, is no .npy file, holds another type, or is no array of two or three dimensions.
TESSERA_API CheckedFile load_checked_npy(const std::filesystem::path& path,
                                         std::optional<CheckedType> opaque = std::nullopt);

namespace detail {
TESSERA_API CheckedMatrix checked_operand(const Operand& operand);
} // namespace detail

/// Describes a matrix or a view of Tessera, whose elements are brought to the host. It must stay alive.
template <MatrixLike M>
CheckedMatrix checked(const M& matrix) {
  return detail::checked_operand(matrix.view().operand());
}

/// Checks C := A·B with alpha and the activation of the options. beta must be 0; CheckedProduct takes C₀.
template <MatrixLike A, MatrixLike B, MatrixLike C>
Certificate check(const A& a, const B& b, const C& c, const CheckOptions& options = {}) {
  return check(CheckedProduct{checked(a), checked(b)}, checked(c), options);
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
