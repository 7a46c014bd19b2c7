#include "brought.hpp"

#include <dlfcn.h>
#include <algorithm>
#include <cstring>
#include <string_view>

namespace tessera::blas {
namespace {

/// Code that the dynamic linker runs while the LAPACK is loaded may ask, too: it is in the thread that holds the mutex.
std::recursive_mutex bringing;
/// Kept until the process ends, when threads may still ask.
const std::vector<std::string>* brought = nullptr;

/// Calls the function with the texts of the dynamic section that have the tag.
template <class Function>
void for_texts(const link_map& library, ElfW(Sxword) tag, Function function) {
  const char* strings = nullptr;
  for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_STRTAB) {
      const ElfW(Addr) value = entry->d_un.d_ptr; // an address, or an offset where the C library leaves it as it is
      const std::uintptr_t address = value < library.l_addr ? value + library.l_addr : value;
      strings = reinterpret_cast<const char*>(address); // NOLINT(performance-no-int-to-ptr)
    }
  for (const ElfW(Dyn)* entry = library.l_ld; strings != nullptr && entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == tag) function(std::string_view(strings + entry->d_un.d_val));
}

/// Is this the library that others need under the name?
bool answers_to(const link_map& library, std::string_view name) {
  const std::string_view path = library.l_name;
  bool found = path.substr(path.rfind('/') + 1) == name;
  for_texts(library, DT_SONAME, [&](std::string_view soname) { found = found || soname == name; });
  return found;
}

} // namespace

Bringing::Bringing() : lock_(bringing) {
  const auto visit = [](dl_phdr_info* info, std::size_t, void* list) {
    static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(visit, &before_);
}

void Bringing::remember(const link_map& lapack) const {
  const link_map* first = &lapack;
  while (first->l_prev != nullptr) first = first->l_prev;
  std::vector<const link_map*> needed{&lapack};
  for (std::size_t i = 0; i < needed.size(); ++i)
    for_texts(*needed[i], DT_NEEDED, [&](std::string_view name) {
      for (const link_map* x = first; x != nullptr; x = x->l_next)
        if (answers_to(*x, name) && std::find(needed.begin(), needed.end(), x) == needed.end()) needed.push_back(x);
    });
  auto* const paths = new std::vector<std::string>;
  for (const link_map* const x : needed)
    if (std::find(before_.begin(), before_.end(), x->l_name) == before_.end()) paths->emplace_back(x->l_name);
  brought = paths;
}

bool came_with_lapack(const char* library) {
  for (const char* const symbol : {"tessera_blas_brought", "tessera_blas_brought64_"}) {
    void* const found = dlsym(RTLD_DEFAULT, symbol); // none where the program is not linked with that library
    if (found != nullptr && reinterpret_cast<int (*)(const char*)>(found)(library) != 0) return true;
  }
  return false;
}

} // namespace tessera::blas

int TESSERA_BLAS_NAME(tessera_blas_brought)(const char* library) {
  const std::lock_guard lock(tessera::blas::bringing);
  const std::vector<std::string>* const paths = tessera::blas::brought;
  return paths != nullptr && std::find(paths->begin(), paths->end(), library) != paths->end() ? 1 : 0;
}
