/// The sources of the certificate and of .npy files that know element types, compiled with the stand-in's entry.

#include "extensions/checking/certificate/arguments.cpp"
#include "extensions/checking/certificate/types.cpp"
//
#include "extensions/io/checked_npy.cpp"
#include "extensions/io/npy_dictionary.cpp"
#include "extensions/io/npy_header.cpp"
