#pragma once

/// Files for tests: a temporary folder, and the bytes of .npy files, made without Tessera's own code.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::test {

/// A temporary folder. It is removed with the object.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tessera_test_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// Returns the names of everything in the folder, sorted.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      all.push_back(entry.path().filename().string());
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  std::filesystem::path path_;
};

/// A file in a folder of its own. Both are removed with the object.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& bytes) : path_(folder_.path() / name) {
    folder_.write(name, bytes);
  }
  std::string path() const { return path_.string(); }

 private:
  Folder folder_;
  std::filesystem::path path_;
};

/// Returns the bytes of a .npy file of format 1.0 with this dictionary as its header.
template <class T>
std::string npy_file(std::string header, const std::vector<T>& elements) {
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xFF);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  return bytes + std::string(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T));
}

/// Returns the bytes of a .npy file as NumPy writes it. `shape` is text such as "(2, 3)"; the elements are in the order
/// of the file.
template <class T>
std::string npy_bytes(const std::string& descr, bool fortran_order, const std::string& shape,
                      const std::vector<T>& elements) {
  return npy_file("{'descr': '" + descr + "', 'fortran_order': " + (fortran_order ? "True" : "False") +
                      ", 'shape': " + shape + ", }",
                  elements);
}

} // namespace tessera::test
