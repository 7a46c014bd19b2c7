#pragma once

/// An argument of many matrices: an array of three dimensions, a sequence, or one matrix for all products.

#include <Python.h>

#include <cstdint>
#include <deque>

#include "array.hpp"
#include "errors.hpp"

namespace tessera::python {

class Matrices {
 public:
  /// Throws TypeError and InvalidArgument that name the argument.
  Matrices(PyObject* object, const char* name);

  const char* name() const { return name_; }
  bool shared() const { return shared_; }
  bool stacked() const { return stacked_; }
  Index count() const { return count_; }
  bool even() const { return even_; } ///< the i-th is i·step() bytes behind the first
  Index step() const { return step_; }
  /// Is there a first one, or, of a stack of none, what it would be?
  bool has_shape() const { return !items_.empty(); }
  const Array& at(Index i) const { return items_[static_cast<std::size_t>(shared_ || even() ? 0 : i)]; }

  /// Addresses from the first byte to behind the last, of a stack or of a shared one; of a list nothing.
  struct Range {
    std::uintptr_t begin = 0, end = 0;
    bool meets(const Range& other) const { return begin < other.end && other.begin < end; }
  };
  Range range() const;

 private:
  void add(PyObject* object);
  void add_all(PyObject* object);
  void add_items(PyObject* object, Index count);
  void add_shape_alone(PyObject* object);
  bool are_in_buffer(PyObject* object) const;

  const char* name_;
  bool shared_ = false, stacked_ = false;
  Index count_ = 1;
  bool even_ = false;
  Index step_ = 0; ///< bytes
  std::deque<Reference> objects_;
  std::deque<Array> items_; // which do not move
};

} // namespace tessera::python
