// Uses nothing that the library exports.
#include <tessera/half.hpp>
#include <tessera/ulp.hpp>

int main() { return static_cast<float>(tessera::f16(2.0F)) == 2.0F ? 0 : 1; }
