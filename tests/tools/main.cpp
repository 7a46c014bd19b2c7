#include "support/tested_backend.hpp"

int main(int argc, char** argv) { return tessera::test::main_for_tested_backend(argc, argv); }
