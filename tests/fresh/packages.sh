#!/bin/sh
# The packages of `./tessera deb` on a bare Debian 12: installed with apt, used as the README says, chosen as the BLAS,
# purged, and looked at by lintian. It needs root, mmdebstrap, the network, and a Debian 12 to build on; it is skipped,
# with 77, without the first two or the last. It takes five minutes on two cores, half of them for the build.
# TESSERA_CUDA_ARCHITECTURES says what CUDA code is in the packages, and is none by default. Options:
#
#   --packages DIR     takes the packages in DIR and builds none
#   --keep             leaves the machine where it is, and says where
set -eu

script=$0
. "$(dirname "$0")/machine.sh"

# --- inside ---------------------------------------------------------------------------------------------------------

install='DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends'

make_machine() {
  start_machine && cp -r "$work/debs" "$machine/srv/debs" && chmod -R a+rX "$machine/srv" &&
    cp -r "$root/tests/system/install/outside" "$root/apps/examples/product.cpp" "$root/tests/bindings/blas/numpy_script.py" \
      "$root/apps/examples/kernels/cpu_tessera.cpp" "$root/docs/blas.md" \
      "$root/tests/fresh/blas_files.py" "$root/tests/fresh/netlib_all.sh" "$machine/srv" &&
    inside_as root 'useradd --create-home --shell /bin/sh user'
}

install_tools() {
  inside_as root "$install /srv/debs/libtessera0_*.deb /srv/debs/tessera-tools_*.deb"
}

# Products run on every backend of the processor. tessera_info says which package is missing for the backend for GPUs,
# or that these packages have none.
run_tools() {
  inside_as user 'gemm_compare --cpu --sizes 64 --no-progress >table && cat table && tessera_info --no-kernels >info &&
    cat info && grep -Eq "libtessera-cuda0 is not installed; sudo apt install|packages were built without CUDA" info &&
    for backend in reference openmp tbb; do grep -q "^ *$backend .* pass" table || { echo "no $backend"; exit 1; }; done'
}

# The lens compiles a rung with what its package has; no other headers of Tessera are there.
use_lens() {
  inside_as root "$install g++" && inside_as user '[ ! -e /usr/include/tessera ]
    gemm_compare --lens float4 --shape 40x30x20 >seen && grep "^product: right$" seen'
}

# The backend for GPUs is found, where it was packed. Without a driver it says that this is missing.
install_cuda() {
  inside_as root "$install /srv/debs/libtessera-cuda0_*.deb" &&
    inside_as user 'tessera_info --no-kernels >info && cat info && ! grep "no libtessera_cuda.so" info'
}

# Without the loader, which the package recommends, the backend says that this is missing; with it and PoCL it computes.
install_opencl() {
  inside_as root "$install /srv/debs/libtessera-opencl0_*.deb" &&
    inside_as user 'tessera_info --no-kernels >info && cat info && grep "no OpenCL loader" info' &&
    inside_as root "$install ocl-icd-libopencl1 pocl-opencl-icd" &&
    inside_as user 'gemm_compare --backend opencl --sizes 64 --no-progress >table && cat table &&
      grep "^ *opencl .* pass" table'
}

install_development() { inside_as root "$install /srv/debs/libtessera-dev_*.deb g++ cmake make pkg-config"; }

# Both programs print a norm for each backend that the packages have. The judge compiles a kernel with the headers.
build_programs() {
  inside_as user 'set -e
    cmake -S /srv/outside -B found -D EXAMPLE=/srv/product.cpp && cmake --build found
    g++ /srv/product.cpp -o by_pkg_config $(pkg-config --cflags --libs tessera)
    for program in found/product ./by_pkg_config; do
      $program >printed && cat printed && grep -q "openmp: .c. = [0-9]" printed && grep -q "tbb: .c. = [0-9]" printed
    done
    gemm_compare --kernel /srv/cpu_tessera.cpp --abi tessera --sizes 64 --no-progress >judged && grep "^external .* pass" judged'
}

# expect_blas FOLDER: the alternative for libblas.so.3 that is in use.
expect_blas() {
  inside_as root "target=\$(readlink -f /usr/lib/*-linux-gnu/libblas.so.3); echo \"libblas.so.3 is \$target\"
    case \$target in */$1/*) ;; *) echo 'expected: $1'; exit 1 ;; esac"
}
choose() {
  inside_as root "multiarch=\$(gcc -print-multiarch) && update-alternatives --set libblas.so.3-\$multiarch \
    /usr/lib/\$multiarch/$1/libblas.so.3"
}

# numpy TESSERA-OR-NONE FILE-OF-DDOT: NumPy's products are right, and are Tessera's, as the log says, or are not; and the
# other routines are in the file.
numpy() {
  inside_as user "set -e
    TESSERA_LOG=dispatch python3 /srv/numpy_script.py 2>log
    runs=\$(grep -c '^tessera: [a-z]*gemm.* runs\$' log || :)
    echo \"\$runs products ran in Tessera\"; grep -m 3 ' runs\$' log || :
    if [ $1 = tessera ]; then [ \$runs -gt 0 ]; else [ \$runs = 0 ]; fi
    python3 /srv/blas_files.py $1 $2"
}

# preloaded_and_linked: docs/packages.md says how, for programs that are not to choose the alternative.
preloaded_and_linked() {
  inside_as user 'set -e
    LD_PRELOAD=libtessera_blas.so.0 TESSERA_LOG=dispatch python3 /srv/numpy_script.py 2>log
    grep -m 1 " runs\$" log
    awk "/^...c\$/ { on = 1; next } on && /^...\$/ { exit } on" /srv/blas.md >program.c # its first program in C
    gcc program.c -o program -l:libtessera_blas.so.0 && TESSERA_LOG=dispatch ./program 2>log && grep " runs\$" log'
}

# Installed beside the reference BLAS, the package changes nothing.
install_blas() {
  inside_as root "$install python3-numpy libblas-test" && expect_blas blas && numpy none blas/libblas.so.3 &&
    inside_as root "$install /srv/debs/libtessera-blas_*.deb" && expect_blas blas && numpy none blas/libblas.so.3 && preloaded_and_linked
}
choose_blas() { choose tessera-blas && expect_blas tessera-blas && numpy tessera blas/libblas.so.3; }
all_routines() { inside_as user 'sh /srv/netlib_all.sh'; }

# The choice stays when OpenBLAS, of a higher priority, is installed, and when the package is installed anew.
beside_openblas() {
  inside_as root "$install libopenblas0-pthread" && expect_blas tessera-blas && numpy tessera openblas-pthread/ &&
    inside_as root "$install --reinstall /srv/debs/libtessera-blas_*.deb" && expect_blas tessera-blas
}
remove_blas() {
  inside_as root 'apt-get remove -qy libtessera-blas' && expect_blas openblas-pthread && numpy none openblas-pthread/ &&
    inside_as root "$install /srv/debs/libtessera-blas_*.deb" && expect_blas openblas-pthread && numpy none openblas-pthread/
}

purge() {
  inside_as root 'set -e
    apt-get purge -qy "libtessera*" "tessera-tools"
    left=$(find / -xdev -iname "*tessera*" ! -path "/srv/*" ! -path "/home/*"
      grep -rl tessera /etc /var/lib/dpkg/info /var/lib/dpkg/alternatives || :)
    [ -z "$left" ] || { echo "left after the purge: $left"; exit 1; }
    ! dpkg-query -W "*tessera*" 2>/dev/null | grep . && echo "nothing is left"'
}

# Ranks of either MPI multiply. Both engines are there: each line ends with the number of differing bits.
install_mpi() {
  inside_as root "$install /srv/debs/libtessera-openmpi0_*.deb /srv/debs/libtessera-mpich0_*.deb \
    /srv/debs/libtessera-scalapack_*.deb openmpi-bin mpich"
}
run_ranks() {
  inside_as user 'set -e
    product="gemm_compare --distributed --sizes 64 --dtype f64 --grid 2x1 --threads 1 --repeat 1"
    mpirun.openmpi --oversubscribe -n 2 $product >openmpi
    mpirun.mpich -n 2 $product >mpich
    for table in openmpi mpich; do
      cat $table
      for engine in summa pblas; do grep "^ *$engine .* 0$" $table; done
    done'
}

look_with_lintian() {
  inside_as root "$install lintian" && inside_as user 'lintian --fail-on error,warning /srv/debs/*.deb'
}

if [ "${1:-}" = --inside ]; then
  work=$2
  machine=$work/machine
  step "mmdebstrap" make_base ca-certificates || exit 1
  step "a bare Debian" make_machine || exit 1
  step "apt install: library, tools" install_tools || exit 1
  step "gemm_compare, tessera_info" run_tools || :
  step "gemm_compare --lens" use_lens || :
  ! ls "$machine"/srv/debs/libtessera-cuda0_* >/dev/null 2>&1 || step "apt install: libtessera-cuda0" install_cuda || :
  step "apt install: libtessera-opencl0" install_opencl || :
  step "apt install: libtessera-dev" install_development || exit 1
  step "find_package and pkg-config" build_programs || :
  step "apt install: libtessera-blas" install_blas || exit 1
  step "update-alternatives, numpy" choose_blas || :
  step "every routine of the BLAS" all_routines || :
  step "beside OpenBLAS" beside_openblas || :
  ! ls "$machine"/srv/debs/libtessera-openmpi0_* >/dev/null 2>&1 ||
    { step "apt install: MPI, ScaLAPACK" install_mpi && step "ranks" run_ranks; } || :
  step "removed, installed again" remove_blas || :
  step "purged" purge || :
  step "lintian" look_with_lintian || :
  exit 0
fi

# --- outside --------------------------------------------------------------------------------------------------------

keep=no packages=
while [ $# -gt 0 ]; do
  case $1 in
    --packages) packages=${2:?--packages needs a folder} && shift ;;
    --keep) keep=yes ;;
    *) fail "unknown option $1; see the head of $0" ;;
  esac
  shift
done
need_machines
system=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
[ "$system" = bookworm ] || skip "packages that are built on '$system' need its libraries, and the machines are Debian 12"

prepare
mkdir "$work/debs"
if [ -n "$packages" ]; then
  cp "$packages"/*.deb "$work/debs"
else
  step "./tessera deb" env "TESSERA_CUDA_ARCHITECTURES=${TESSERA_CUDA_ARCHITECTURES:-none}" "$root/tessera" deb "$work/debs"
fi
run_inside "$work"
