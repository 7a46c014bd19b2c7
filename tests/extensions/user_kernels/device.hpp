#pragma once

namespace tessera::test {

/// Runs a functor on the stand-in device from a file that was built without tessera_add_kernels().
void run_without_plugin();

} // namespace tessera::test
