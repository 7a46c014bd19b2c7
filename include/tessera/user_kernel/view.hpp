#pragma once

/// Views: what a functor reads and writes. A view is a pointer, two sizes and two strides, so that blocks and
/// transposes need no copies. It is trivially copyable, and host and device code use it alike:
///
///     struct Saxpy {
///       static constexpr char name[] = "saxpy";
///       tessera::In<float> x;
///       tessera::InOut<float> y;
///       float a;
///       TESSERA_FN void operator()(Index i, Index j) const { y(i, j) = tessera::fma(a, x(i, j), y(i, j)); }
///     };
///
/// x(i, j) is element (i, j). x(i) is element i of a vector: (i, 0) of a view of one column, else (0, i). Elements of
/// f16 and bf16 are read as float, which is exact, and a write rounds once. No index is checked. Strides count
/// elements.
///
/// A view owns nothing and keeps nothing alive: the matrix or the memory must live until the work is done. run.hpp
/// makes views (`read`, `write`, `update`).
///
/// Source: Kokkos's View and std::mdspan; here the layout is a pair of strides that is known at run time.

#include <cstdint>
#include <type_traits>

#include <tessera/half.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

/// Marks the call operator of a functor, and functions that it calls: they are compiled for host and device, and are
/// inlined, so that the compiler makes vector code of the loop around them.
#if defined(__CUDACC__)
#define TESSERA_FN __host__ __device__ __forceinline__
#elif defined(TESSERA_SPIRV_KERNELS)
#define TESSERA_FN __attribute__((host, device, always_inline)) inline
#else
#define TESSERA_FN __attribute__((always_inline)) inline
#endif

namespace tessera {

namespace detail {

/// What a functor may do with the elements of a view.
enum class Access : unsigned { In = 0, Out = 1, InOut = 2 };

/// The members of every view. The check before a launch finds the views of a functor by their tags.
struct ViewRecord {
  const void* data;
  Index rows;
  Index cols;
  Index row_stride;
  Index col_stride;
  std::uint64_t tag;
};

/// A tag is a mark of 40 bits, by which a view is told from other members of a functor, the bytes of an element (4
/// bits), two bits that say which accesses take a stride other than 1, the access (2 bits), and the backend (16 bits).
inline constexpr std::uint64_t view_mark = std::uint64_t{0x7E55E8A4D1} << 24;
inline constexpr std::uint64_t view_mark_bits = ~std::uint64_t{0} << 24;
inline constexpr std::uint64_t strided_vector = std::uint64_t{1} << 18; ///< x(i) and x(i + 1) are not neighbours
inline constexpr std::uint64_t strided_rows = std::uint64_t{1} << 19;   ///< x(i, j) and x(i, j + 1) are not neighbours

/// Returns the stride of x(i).
constexpr Index vector_stride(Index rows, Index cols, Index row_stride, Index col_stride) noexcept {
  return cols == 1 && rows != 1 ? row_stride : col_stride;
}
constexpr std::uint64_t view_tag(std::size_t element, Access access, Backend backend, bool vector_is_strided,
                                 bool rows_are_strided) noexcept {
  return view_mark | std::uint64_t{element} << 20 | (rows_are_strided ? strided_rows : 0) |
         (vector_is_strided ? strided_vector : 0) | std::uint64_t{static_cast<unsigned>(access)} << 16 |
         (static_cast<std::uint64_t>(backend) & 0xFFFF);
}
constexpr bool is_view_tag(std::uint64_t tag) noexcept { return (tag & view_mark_bits) == view_mark; }
constexpr std::size_t element_of_tag(std::uint64_t tag) noexcept { return tag >> 20 & 0xF; }
constexpr Access access_of_tag(std::uint64_t tag) noexcept { return static_cast<Access>(tag >> 16 & 0x3); }
constexpr Backend backend_of_tag(std::uint64_t tag) noexcept { return static_cast<Backend>(tag & 0xFFFF); }

/// Is this word the tag of a view with this bit? A loop that is compiled for strides of 1 tells the compiler that no
/// word of its functor is; see host_loop.hpp. It is one comparison, so that the compiler finds it again in place().
TESSERA_FN bool is_tag_with(std::uint64_t word, std::uint64_t bit) {
  return (word & (view_mark_bits | bit)) == (view_mark | bit);
}

/// The types that views may have: element types of matrices, and whole numbers in the caller's memory.
template <class T>
inline constexpr bool is_view_element =
    ElementNumber<T> || std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>;
template <class T>
inline constexpr bool is_16_bit_number = std::is_same_v<T, f16> || std::is_same_v<T, bf16>;

/// An element that is written only: `y(i, j) = value`. Reading it does not compile.
template <class T>
class WrittenElement {
 public:
  TESSERA_FN explicit WrittenElement(T* place) : place_(place) {}
  template <class S>
  TESSERA_FN void operator=(S value) const {
    *place_ = static_cast<T>(value);
  }

 private:
  T* place_;
};

/// A 16-bit element that is read as float and rounded when it is written.
template <class T>
class NarrowElement {
 public:
  TESSERA_FN explicit NarrowElement(T* place) : place_(place) {}
  TESSERA_FN operator float() const { return static_cast<float>(*place_); }
  template <class S>
  TESSERA_FN void operator=(S value) const {
    *place_ = static_cast<T>(value);
  }

 private:
  T* place_;
};

template <class T, Access access_>
class View {
  static_assert(is_view_element<T>, "a view's elements are float, double, f16, bf16, std::int32_t or std::int64_t");

 public:
  View() = default;
  View(const void* data, Index rows, Index cols, Index row_stride, Index col_stride, Backend backend)
      : data_(static_cast<T*>(const_cast<void*>(data))),
        rows_(rows),
        cols_(cols),
        row_stride_(row_stride),
        col_stride_(col_stride),
        tag_(view_tag(sizeof(T), access_, backend, vector_stride(rows, cols, row_stride, col_stride) != 1,
                      col_stride != 1)) {}

  TESSERA_FN Index rows() const { return rows_; }
  TESSERA_FN Index cols() const { return cols_; }
  TESSERA_FN Index size() const { return rows_ * cols_; }
  /// The backend in whose memory the elements are.
  Backend backend() const { return backend_of_tag(tag_); }

 protected:
#if defined(__CUDA_ARCH__)
  TESSERA_FN T* place(Index i, Index j) const { return data_ + (i * row_stride_ + j * col_stride_); }
  TESSERA_FN T* place(Index i) const { return data_ + i * (cols_ == 1 && rows_ != 1 ? row_stride_ : col_stride_); }
#else
  TESSERA_FN T* place(Index i, Index j) const {
    return is_tag_with(tag_, strided_rows) ? data_ + (i * row_stride_ + j * col_stride_) : data_ + i * row_stride_ + j;
  }
  TESSERA_FN T* place(Index i) const {
    return is_tag_with(tag_, strided_vector) ? data_ + i * vector_stride(rows_, cols_, row_stride_, col_stride_)
                                             : data_ + i;
  }
#endif

 private:
  T* data_ = nullptr;
  Index rows_ = 0;
  Index cols_ = 0;
  Index row_stride_ = 0;
  Index col_stride_ = 0;
  std::uint64_t tag_ = view_tag(sizeof(T), access_, Backend::Auto, false, false);
};

} // namespace detail

/// The type as which an element of T is read: float for 16-bit types, else T.
template <class T>
using ReadAs = std::conditional_t<detail::is_16_bit_number<T>, float, T>;

/// Elements that a functor reads.
template <class T>
class In : public detail::View<T, detail::Access::In> {
 public:
  using detail::View<T, detail::Access::In>::View;
  /// Returns element (i, j).
  TESSERA_FN ReadAs<T> operator()(Index i, Index j) const { return static_cast<ReadAs<T>>(*this->place(i, j)); }
  /// Returns element i of a vector.
  TESSERA_FN ReadAs<T> operator()(Index i) const { return static_cast<ReadAs<T>>(*this->place(i)); }
};

/// Elements that a functor writes and never reads.
template <class T>
class Out : public detail::View<T, detail::Access::Out> {
 public:
  using detail::View<T, detail::Access::Out>::View;
  /// Returns element (i, j), to be assigned to.
  TESSERA_FN detail::WrittenElement<T> operator()(Index i, Index j) const {
    return detail::WrittenElement<T>(this->place(i, j));
  }
  /// Returns element i of a vector, to be assigned to.
  TESSERA_FN detail::WrittenElement<T> operator()(Index i) const { return detail::WrittenElement<T>(this->place(i)); }
};

/// Elements that a functor reads and writes.
template <class T>
class InOut : public detail::View<T, detail::Access::InOut> {
 public:
  using detail::View<T, detail::Access::InOut>::View;
  /// T&, or for a 16-bit type an object that reads as float and rounds what is assigned to it.
  using Element = std::conditional_t<detail::is_16_bit_number<T>, detail::NarrowElement<T>, T&>;
  /// Returns element (i, j).
  TESSERA_FN Element operator()(Index i, Index j) const { return element(this->place(i, j)); }
  /// Returns element i of a vector.
  TESSERA_FN Element operator()(Index i) const { return element(this->place(i)); }

 private:
  TESSERA_FN static Element element(T* place) {
    if constexpr (detail::is_16_bit_number<T>)
      return Element(place);
    else
      return *place;
  }
};

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
