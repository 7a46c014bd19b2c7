#include "imports.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace tessera::blas {
namespace {

#if defined(__aarch64__)
constexpr std::uint32_t jump_slot = R_AARCH64_JUMP_SLOT, global_data = R_AARCH64_GLOB_DAT;
#else
constexpr std::uint32_t jump_slot = R_X86_64_JUMP_SLOT, global_data = R_X86_64_GLOB_DAT;
#endif

/// The entries of a library's dynamic section of which imports_of() needs the values.
struct Tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  struct Relocations {
    const ElfW(Rela) * begin = nullptr;
    std::size_t bytes = 0;
  } calls, data;
};

Tables tables_of(const link_map& library) {
  // glibc turns the section's offsets into addresses, and other C libraries leave them as they are.
  const auto at = [&](ElfW(Addr) value) { return value < library.l_addr ? value + library.l_addr : value; };
  Tables tables;
  for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
    const ElfW(Addr) value = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) tables.symbols = reinterpret_cast<const ElfW(Sym)*>(at(value));
    if (entry->d_tag == DT_STRTAB) tables.strings = reinterpret_cast<const char*>(at(value));
    if (entry->d_tag == DT_JMPREL) tables.calls.begin = reinterpret_cast<const ElfW(Rela)*>(at(value));
    if (entry->d_tag == DT_PLTRELSZ) tables.calls.bytes = value;
    if (entry->d_tag == DT_RELA) tables.data.begin = reinterpret_cast<const ElfW(Rela)*>(at(value));
    if (entry->d_tag == DT_RELASZ) tables.data.bytes = value;
  }
  return tables;
}

/// The pages of a library that are read-only after it was loaded.
struct ReadOnly {
  std::uintptr_t begin = 0, end = 0;

  bool has(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at >= begin && at < end;
  }
  bool protect(int access) const {
    return mprotect(reinterpret_cast<void*>(begin), end - begin, access) == 0; // NOLINT(performance-no-int-to-ptr)
  }
};

ReadOnly read_only_part(const link_map& library) {
  struct Search {
    const link_map& library;
    ReadOnly found;
  } search{library, {}};
  const auto visit = [](dl_phdr_info* info, std::size_t, void* address) {
    auto& wanted = *static_cast<Search*>(address);
    if (info->dlpi_addr != wanted.library.l_addr || std::strcmp(info->dlpi_name, wanted.library.l_name) != 0) return 0;
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = info->dlpi_phdr[i];
      if (part.p_type != PT_GNU_RELRO) continue;
      const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
      wanted.found = {begin / page * page, (begin + part.p_memsz) / page * page}; // as the dynamic linker rounds it
    }
    return 1;
  };
  dl_iterate_phdr(visit, &search);
  return search.found;
}

} // namespace

std::vector<Import> imports_of(const link_map& library) {
  const Tables tables = tables_of(library);
  std::vector<Import> imports;
  if (tables.symbols == nullptr || tables.strings == nullptr) return imports;
  for (const Tables::Relocations& list : {tables.calls, tables.data})
    for (std::size_t i = 0; i < list.bytes / sizeof *list.begin; ++i) {
      const ElfW(Rela)& relocation = list.begin[i];
      const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info));
      if (type != jump_slot && type != global_data) continue;
      const ElfW(Sym)& symbol = tables.symbols[ELF64_R_SYM(relocation.r_info)];
      const std::uintptr_t address = library.l_addr + relocation.r_offset;
      imports.push_back(
          {tables.strings + symbol.st_name, reinterpret_cast<void**>(address)}); // NOLINT(performance-no-int-to-ptr)
    }
  return imports;
}

std::string bind_imports(const link_map& library, const std::vector<Binding>& bindings) {
  const ReadOnly part = read_only_part(library);
  bool opened = false;
  for (const Binding& binding : bindings) opened = opened || part.has(binding.address);
  if (opened && !part.protect(PROT_READ | PROT_WRITE))
    return std::string("its table of functions cannot be written: ") + std::strerror(errno);
  for (const Binding& binding : bindings) __atomic_store_n(binding.address, binding.function, __ATOMIC_RELEASE);
  if (opened) part.protect(PROT_READ); // a failure leaves the table as open as without full RELRO
  return {};
}

} // namespace tessera::blas
