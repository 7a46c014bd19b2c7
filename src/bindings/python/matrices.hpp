#pragma once

/// An argument with many matrices: an array of three dimensions, a sequence, or one matrix for all products.

#include <Python.h>

#include <cstdint>
#include <deque>
#include <optional>

#include "array.hpp"
#include "errors.hpp"

namespace tessera::python {

class Matrices {
 public:
  /// Throws TypeError and InvalidArgument, which name the argument.
  Matrices(PyObject* object, const char* name);

  /// Throws InvalidArgument if results that are written into the matrices would not reach the object, because it makes
  /// new ones each time that it is asked for them.
  void expect_own_matrices() const;

  const char* name() const { return name_; }
  bool shared() const { return shared_; }
  bool stacked() const { return stacked_; }
  Index count() const { return count_; }
  bool even() const { return even_; } ///< matrix i lies i·step() bytes after matrix 0
  Index step() const { return step_; }
  /// Is there a first matrix, or a stack without matrices that has their shape and type?
  bool has_shape() const { return !items_.empty(); }
  const Array& at(Index i) const { return items_[static_cast<std::size_t>(shared_ || even() ? 0 : i)]; }

  /// Returns the addresses of the first byte of all matrices and of the byte after their last one; nothing if they are
  /// empty.
  struct Range {
    std::uintptr_t begin = 0, end = 0;
    bool meets(const Range& other) const { return begin < other.end && other.begin < end; }
  };
  Range range() const;

 private:
  void add(PyObject* object);
  void expect_real_on_host(const Array& array) const;
  void add_all();
  void add_from_buffer();
  void add_shape_alone();

  PyObject* object_;
  const char* name_;
  std::optional<Buffer> buffer_; ///< of a stack that exports one
  bool shared_ = false, stacked_ = false;
  Index count_ = 1;
  bool even_ = false;
  Index step_ = 0; ///< bytes
  std::deque<Reference> objects_;
  std::deque<Array> items_; // a deque does not move its items
};

} // namespace tessera::python
