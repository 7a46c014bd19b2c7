// Throws an exception of the library that was made with the same macros.
#include <tessera/status.hpp>

int main() try { throw tessera::InvalidArgument("wrong"); } catch (const tessera::Error&) {
  return 0;
}
