#pragma once

/// The version of these headers; tessera_version() of tessera.h returns the version of the library.

/// The first number of the version.
#define TESSERA_VERSION_MAJOR 0
/// The second number of the version. Before 1.0 a new one may change the interface.
#define TESSERA_VERSION_MINOR 1
/// The third number of the version.
#define TESSERA_VERSION_PATCH 0
/// The version as text, such as "0.1.0".
#define TESSERA_VERSION "0.1.0"
