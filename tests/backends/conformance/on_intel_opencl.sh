#!/bin/sh
# Runs a program on Intel's OpenCL runtime for processors: on_intel_opencl.sh FOLDER PROGRAM [ARGUMENT...]
#
# FOLDER is where the loader is told of that runtime alone. The runtime is in the folder that TESSERA_TEST_INTEL_OPENCL
# names, or in a Python environment beside FOLDER; the exit status is 77, skipped, where it is in neither.
set -eu
folder=$1
shift
library=
for place in "${TESSERA_TEST_INTEL_OPENCL:-}" "$folder/venv/lib"; do
  if [ -e "$place/libintelocl.so" ]; then
    library=$place/libintelocl.so
    break
  fi
done
if [ -z "$library" ]; then
  echo "SKIPPED: no libintelocl.so in '${TESSERA_TEST_INTEL_OPENCL:-}' (TESSERA_TEST_INTEL_OPENCL) or $folder/venv/lib;" \
    "python3 -m venv $folder/venv && $folder/venv/bin/pip install intel-opencl-rt intel-cmplr-lib-rt"
  exit 77
fi
# That folder holds a loader of Intel's own, which would be found first.
loader=$(ldconfig -p | sed -n 's/.*libOpenCL\.so\.1.*=> //p' | head -n 1)
if [ -z "$loader" ]; then
  echo "SKIPPED: no libOpenCL.so.1; install one (Debian: ocl-icd-libopencl1)"
  exit 77
fi
mkdir -p "$folder/vendors"
echo "$library" >"$folder/vendors/intel.icd"
unset TESSERA_OPENCL_DEVICE
export OCL_ICD_VENDORS="$folder/vendors" OPENCL_VENDOR_PATH="$folder/vendors" TESSERA_OPENCL_LIBRARY="$loader"
export LD_LIBRARY_PATH="${library%/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$@"
