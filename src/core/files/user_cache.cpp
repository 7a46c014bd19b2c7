#include <tessera/detail/floating_point.hpp>
#include <tessera/files.hpp>

#include <tessera/backend/environment.hpp>

namespace tessera {

std::filesystem::path user_cache_folder() {
  const detail::ContractArithmetic contract; // libstdc++ computes with double where it joins paths
  if (const char* cache = trusted_variable("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return std::filesystem::path(cache) / "tessera";
  if (const char* home = trusted_variable("HOME"); home != nullptr && *home == '/')
    return std::filesystem::path(home) / ".cache" / "tessera";
  return {};
}

} // namespace tessera
