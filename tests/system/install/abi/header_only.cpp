// Uses nothing that the library exports.
#include <tessera/checking/ulp.hpp>
#include <tessera/half.hpp>

int main() { return static_cast<float>(tessera::f16(2.0F)) == 2.0F ? 0 : 1; }
