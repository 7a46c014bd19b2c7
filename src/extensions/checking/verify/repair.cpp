#include "repair.hpp"

#include <tessera/backend/out_of_memory.hpp>

#include "core/base/host_memory.hpp"

namespace tessera::verify {

HostCopy room_for(std::size_t bytes, const char* purpose) {
  HostCopy room(static_cast<char*>(allocate_host(bytes)), free_host);
  if (room == nullptr) throw HostMemoryShort(purpose, bytes);
  return room;
}

std::string on_backend(const Executor& executor) {
  return " (backend " + std::string(to_string(executor.capabilities().backend)) + ")";
}

std::string end_of_alarm(Verify verify) {
  return std::string(verify == Verify::Repair ? "; computing it again did not repair it" : "") +
         "; do not trust this machine before tessera_info --health finds it sound";
}

} // namespace tessera::verify
