${CXX:-c++} program.cpp -o program $(pkg-config --cflags --libs tessera)
${CC:-cc} program.c -o program_in_c $(pkg-config --cflags --libs tessera-c)
