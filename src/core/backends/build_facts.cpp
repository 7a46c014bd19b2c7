/// What CMake knew when it configured this libtessera. CMakeLists.txt defines the words.

#include "missing_plugin.hpp"

namespace tessera {

BuildFacts this_build() {
  return {TESSERA_OPENMP_WAS, TESSERA_TBB_WAS,      TESSERA_CUDA_WAS,
          TESSERA_PACKAGING,  TESSERA_CUDA_PACKAGE, TESSERA_LIBRARY_PACKAGE};
}

} // namespace tessera
