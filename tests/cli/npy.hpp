#pragma once

/// .npy files made by hand, so that reading is not tested by our own writing.

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::test {

/// The bytes that NumPy would write: `shape` as in "(2, 3)", elements in the order of the file.
template <class T>
std::string npy_bytes(const std::string& descr, bool fortran_order, const std::string& shape,
                      const std::vector<T>& elements) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': " + (fortran_order ? "True" : "False") +
                       ", 'shape': " + shape + ", }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xFF);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  return bytes + std::string(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T));
}

} // namespace tessera::test
