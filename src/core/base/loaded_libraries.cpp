#include "loaded_libraries.hpp"

#include <link.h>
#include <new>

namespace tessera {
namespace {

int add(dl_phdr_info* info, std::size_t, void* names) noexcept try {
  if (info->dlpi_name != nullptr && *info->dlpi_name != '\0')
    static_cast<std::vector<std::string>*>(names)->emplace_back(info->dlpi_name);
  return 0;
} catch (const std::bad_alloc&) {
  return 1;
}

} // namespace

std::vector<std::string> loaded_library_names() {
  std::vector<std::string> names;
  if (dl_iterate_phdr(add, &names) != 0) throw std::bad_alloc();
  return names;
}

} // namespace tessera
