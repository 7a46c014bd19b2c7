#pragma once

/// The name until 0.2 of <tessera/beyond_memory/file_product.hpp>.

#include <tessera/beyond_memory/file_product.hpp>
