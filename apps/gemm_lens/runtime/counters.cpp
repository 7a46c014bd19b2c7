#include "counters.hpp"

#include <algorithm>

#include "finding.hpp"
#include "gemm_lens/device/include/tessera_lens/shared_memory.hpp"
#include "memory.hpp"
#include "shared.hpp"

namespace tessera::lens {
namespace {

extern "C" char _end;

/// One request that goes to one array.
struct Part {
  Allocation* allocation = nullptr;
  SharedArray* shared = nullptr;
  Request request;
};

Finding finding_of(const char* kind, EventKind access, std::uint32_t pc, const Thread& thread, std::uint64_t address,
                   unsigned size) {
  Finding made;
  made.kind = kind;
  made.pc = pc;
  made.access = access;
  made.size = size;
  made.thread = thread.index;
  made.block = block_index;
  made.offset = static_cast<std::int64_t>(address);
  return made;
}

void name_array(Finding& made, const Allocation* allocation, const SharedArray* shared, std::uint64_t address) {
  made.shared = shared != nullptr;
  if (allocation == nullptr && shared == nullptr) return;
  made.array = shared != nullptr ? shared->name : allocation->name;
  made.array_bytes = shared != nullptr ? shared->bytes : allocation->bytes;
  made.offset = static_cast<std::int64_t>(address - (shared != nullptr ? shared->begin : allocation->begin));
}

/// Checks an access that is inside its array for races, and in shared memory for words that are not written yet.
void look_at_words(EventKind kind, std::uint32_t pc, const Thread& thread, std::uint64_t address, unsigned size,
                   Allocation* allocation, SharedArray* shared) {
  const std::uint64_t begin = shared != nullptr ? shared->begin : allocation->begin;
  Cell* const cells = shared != nullptr ? shared->shadow.cells : allocation->shadow.cells;
  if (cells == nullptr) return;
  const bool store = kind != EventKind::Load;
  for (std::uint64_t at = address - begin, end = at + size; at < end;) {
    Cell& cell = cells[at / 4];
    const std::uint64_t in_word = at % 4, bytes = std::min<std::uint64_t>(end - at, 4 - in_word);
    const auto mask = static_cast<std::uint8_t>(((1u << bytes) - 1) << in_word);
    const Mark access{order.now, pc, static_cast<std::uint16_t>(thread.number), mask, kind == EventKind::Atomic};
    if (const std::optional<Race> race = race_with(cell, access, store, shared != nullptr)) {
      Finding made = finding_of("race", kind, pc, thread, address, size);
      name_array(made, allocation, shared, address);
      made.other_pc = race->earlier.pc;
      made.other_stores = race->stored;
      made.other_block = race->earlier.time < order.block;
      made.other_thread = {race->earlier.thread, 0, 0};
      findings().add(made);
    }
    if (shared != nullptr) {
      if (cell.written_in != order.block_number) {
        cell.written_in = order.block_number;
        cell.written = 0;
      }
      if ((kind == EventKind::Load || kind == EventKind::Atomic) && (cell.written & mask) != mask) {
        Finding made = finding_of("uninitialised", kind, pc, thread, address, size);
        name_array(made, allocation, shared, address);
        findings().add(made);
      }
      if (store) cell.written |= mask;
    }
    at += bytes;
  }
}

} // namespace

Site& Launch::site(std::uint32_t pc, EventKind kind, bool shared, const void* array, const std::string& array_name) {
  const std::uint64_t key =
      (static_cast<std::uint64_t>(pc) << 3 | static_cast<std::uint64_t>(kind)) * 0x9e3779b97f4a7c15u ^
      reinterpret_cast<std::uintptr_t>(array);
  const auto [at, is_new] = number_of.try_emplace(key, sites.size());
  if (is_new) {
    sites.emplace_back();
    Site& made = sites.back();
    made.pc = pc;
    made.kind = kind;
    made.shared = shared;
    made.array = array_name;
  }
  return sites[at->second];
}

void count_request(Launch& launch, EventKind kind, std::uint32_t pc, const Request& request, const Thread* threads) {
  std::array<Part, 4> parts; // a request seldom goes to more than one array
  std::size_t used = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((request.lanes >> lane & 1) == 0) continue;
    const std::uint64_t address = request.address[lane];
    Allocation* allocation = nullptr;
    SharedArray* shared = nullptr;
    bool outside = false;
    if (device_memory().holds(address)) {
      allocation = device_memory().find(address);
      outside = allocation == nullptr || allocation->freed || address < allocation->begin ||
                address + request.size > allocation->end();
    } else if (address - reinterpret_cast<std::uintptr_t>(&__executable_start) <
               static_cast<std::uint64_t>(&_end - &__executable_start)) {
      shared = shared_memory().find(address);
      if (shared == nullptr) continue; // a variable of the device, or a constant
      outside = address < shared->begin || address + request.size > shared->end();
    } else {
      outside = true;
    }
    if (outside) {
      Finding made = finding_of("out_of_bounds", kind, pc, threads[lane], address, request.size);
      name_array(made, allocation, shared, address);
      if (allocation != nullptr && allocation->freed) made.detail = "freed";
      findings().add(made);
    } else {
      look_at_words(kind, pc, threads[lane], address, request.size, allocation, shared);
    }
    if (address % request.size != 0) {
      Finding made = finding_of("misaligned", kind, pc, threads[lane], address, request.size);
      name_array(made, allocation, shared, address);
      findings().add(made);
    }
    std::size_t part = 0;
    while (part < used && (parts[part].allocation != allocation || parts[part].shared != shared)) ++part;
    if (part == parts.size()) continue;
    if (part == used) {
      parts[used++] = {allocation, shared, {}};
      parts[part].request.size = request.size;
    }
    parts[part].request.lanes |= 1u << lane;
    parts[part].request.address[lane] = address;
  }
  for (std::size_t number = 0; number < used; ++number) {
    const Part& part = parts[number];
    static const std::string no_array = "no array";
    const void* const array = part.shared != nullptr ? static_cast<const void*>(part.shared) : part.allocation;
    Site& site = launch.site(pc, kind, part.shared != nullptr, array,
                             part.shared != nullptr       ? part.shared->name
                             : part.allocation != nullptr ? part.allocation->name
                                                          : no_array);
    ++site.requests;
    const auto lanes = static_cast<unsigned>(__builtin_popcount(part.request.lanes));
    site.lanes += lanes;
    site.bytes_asked += std::uint64_t{lanes} * part.request.size;
    int cost = 0;
    if (part.shared != nullptr) {
      cost = wavefronts_of(part.request, part.shared->begin, site.words);
      site.wavefronts += static_cast<unsigned>(cost);
    } else {
      const Sectors sectors = sectors_of(part.request);
      cost = sectors.count;
      site.sectors += static_cast<unsigned>(cost);
      if (part.allocation != nullptr)
        for (int one = 0; one < sectors.count; ++one) {
          const std::uint64_t place = sectors.number[static_cast<std::size_t>(one)] - part.allocation->begin / 32;
          if (place < part.allocation->touched.size()) ++part.allocation->touched[place];
        }
    }
    if (cost > site.dearest_cost) {
      site.dearest_cost = cost;
      site.dearest = part.request;
      site.dearest_base = part.shared != nullptr       ? part.shared->begin
                          : part.allocation != nullptr ? part.allocation->begin
                                                       : 0;
    }
  }
}

} // namespace tessera::lens
