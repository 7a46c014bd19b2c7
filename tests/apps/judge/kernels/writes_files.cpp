/// Writes a file into its scratch folder, which it may, and one into the folder above it, and connects to the network,
/// which it may not. It puts -1 into C(0, 0) if something went otherwise.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cstdlib>
#include <string>

#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  product(a, b, c, m, n, k);
  const std::string scratch = std::getenv("TMPDIR");
  const auto writes = [](const std::string& path) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file >= 0) close(file);
    return file >= 0;
  };
  if (!writes(scratch + "/allowed")) c[0] = -1;
  if (writes(scratch + "/../tessera_not_allowed")) c[0] = -1;
  if (socket(AF_INET, SOCK_STREAM, 0) >= 0) c[0] = -1;
}
