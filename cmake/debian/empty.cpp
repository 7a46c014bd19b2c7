// Libraries of this source hold nothing themselves; CMakeLists.txt says which other libraries they name.
