# Configures and compiles, with the CUDA code that serves the purpose. ./tessera sources this file. Set before: `root`.

# The compiler of CUDA code, where there is one, in CUDACXX: that is where CMake looks.
find_nvcc() {
  if ! command -v nvcc >/dev/null && [ -z "${CUDACXX:-}" ] && [ -x /usr/local/cuda/bin/nvcc ]; then
    export CUDACXX=/usr/local/cuda/bin/nvcc
  fi
}

# cuda_definition: CMake's definition for what TESSERA_CUDA_ARCHITECTURES names.
cuda_definition() {
  case $TESSERA_CUDA_ARCHITECTURES in
    none) echo TESSERA_CUDA=OFF ;;
    *) echo "TESSERA_CUDA_ARCHITECTURES=$TESSERA_CUDA_ARCHITECTURES" ;;
  esac
}

# set_up_ccache: fails where there is none. A clone in another folder takes what this one has compiled: paths below the
# root count relative to the build.
set_up_ccache() {
  command -v ccache >/dev/null || return 1
  export CCACHE_BASEDIR="${CCACHE_BASEDIR:-$root}"
  export CCACHE_NOHASHDIR=1
  export CCACHE_SLOPPINESS=pch_defines,time_macros # precompiled headers
  export CCACHE_DEPEND=1                           # no second run of the preprocessor
}

# warnings_as_errors: ON with the compiler that every change is compiled with before it lands, so that all builds with it
# have the same options, and ccache compiles a file once. Another compiler may know other warnings.
warnings_as_errors() {
  case $("${CXX:-c++}" --version 2>/dev/null) in
    *"(Debian 12."*) echo ON ;;
    *) echo OFF ;;
  esac
}

# configure PRESET OPTIONS...: build/PRESET, configured once for the preset of CMakePresets.json and these options, which
# say what this machine alone knows; Ninja notices when CMake files change. What CMake prints is in configure.log.
configure() {
  preset=$1
  build=$root/build/$1
  shift
  find_nvcc
  [ -z "${TESSERA_CUDA_ARCHITECTURES:-}" ] || set -- "$@" "-D$(cuda_definition)"
  if set_up_ccache; then
    set -- "$@" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache
  fi
  wanted="$root $* ${CXX:-} ${CUDACXX:-} $(cat "$root/CMakePresets.json")"
  if [ ! -f "$build/build.ninja" ] || [ "$(cat "$build/configured-for" 2>/dev/null)" != "$wanted" ]; then
    mkdir -p "$build"
    cmake --fresh -S "$root" --preset "$preset" "$@" >"$build/configure.log" 2>&1 || {
      cat "$build/configure.log" >&2
      fail "CMake could not configure $build; what it needs is listed in $packages"
    }
    sed -nE 's/^-- Tessera: with (OPENMP|TBB): OFF/tessera: the \1 backend is left out: its package was not found/p' \
      "$build/configure.log" >&2
    printf '%s\n' "$wanted" >"$build/configured-for"
  fi
}

# preset_names: the names of the presets that configure, one a line.
preset_names() { sed -n 's/.*"configurePreset": "\([a-z]*\)".*/\1/p' "$root/CMakePresets.json" | sort -u; }

# in_root COMMAND...: where CMake and CTest look for presets.
in_root() (cd "$root" && "$@")

# compile [TARGET...]: these targets of what was configured last, or what its build preset names.
compile() {
  [ $# -eq 0 ] || set -- --target "$@"
  NINJA_STATUS=$ninja_status with_progress "compiling" in_root cmake --build --preset "$preset" "$@"
}

# The compute capabilities of the GPUs here, one a line.
gpus() {
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | grep -x '[0-9][0-9]*\.[0-9]' | sort -u || true
}

# architectures_of CAPABILITIES: what CMake has to compile for these GPUs, as far as nvcc knows them. Hopper's own
# instructions need the name 90a. A GPU that is newer than nvcc translates the PTX of 8.0 when it loads it.
architectures_of() {
  nvcc=${CUDACXX:-nvcc}
  known=$("$nvcc" --list-gpu-code 2>/dev/null) || known=
  for capability in $1; do
    number=${capability%.*}${capability#*.}
    if [ "$number" -lt 75 ]; then
      say "a GPU of compute capability $capability is left out: Tessera needs 7.5 or later"
      continue
    fi
    case $number,$known in
      90,*) echo 90a-real ;;
      *,*sm_"$number"*) echo "$number-real" ;;
      *)
        say "$nvcc does not know compute capability $capability: the GPU compiles PTX of 8.0 when it loads it"
        echo 80-virtual
        ;;
    esac
  done | sort -u | paste -s -d ';' -
}

# choose_device_code PURPOSE: sets `device_options` to CMake's options for CUDA code, where the preset's are not for this
# machine, and `device_targets` to the target that has it. What the caller names in TESSERA_CUDA_ARCHITECTURES is
# obeyed. Otherwise the code is for the GPUs that
# are here. Where there is none, it is left out, except for a list: a list needs the rungs, and they need not be fast.
choose_device_code() {
  device_options='' device_targets=tessera_cuda
  [ "${TESSERA_CUDA_ARCHITECTURES:-}" != none ] || device_targets=
  [ -z "${TESSERA_CUDA_ARCHITECTURES:-}" ] || return 0
  if path_is_not_for_nvcc; then
    leave_out "$why_not"
    return 0
  fi
  find_nvcc
  capabilities=$(gpus | paste -s -d ' ' -)
  has_nvcc=yes
  command -v "${CUDACXX:-nvcc}" >/dev/null || has_nvcc=
  architectures=
  [ -z "$has_nvcc" ] || architectures=$(architectures_of "$capabilities")
  if [ -n "$architectures" ]; then
    device_options="-DTESSERA_CUDA_ARCHITECTURES=$architectures"
  elif [ -n "$capabilities" ] && [ -z "$has_nvcc" ]; then
    leave_out "there is a GPU of compute capability $capabilities, but no nvcc: install CUDA 12.8 or later to use it"
  elif [ -z "$capabilities" ] && { [ -e /dev/nvidiactl ] || [ -e /dev/dxg ]; } && [ -n "$has_nvcc" ]; then
    say "nvidia-smi does not say which GPU is here: CUDA code is compiled for 7.5, 8.0 and 9.0"
  elif [ "$1" = list ] && [ -n "$has_nvcc" ]; then
    say "no NVIDIA GPU that can be used is here: CUDA code is compiled for lists alone, and is not optimised"
    device_options="-DTESSERA_CUDA_ARCHITECTURES=90a-real -DTESSERA_OPTIMIZE_DEVICE_CODE=OFF"
  else
    leave_out "no NVIDIA GPU that can be used is here (with nvcc of CUDA 12.8 or later," \
      "TESSERA_CUDA_ARCHITECTURES=90a-real compiles it all the same)"
  fi
}

# path_is_not_for_nvcc: sets `why_not`.
path_is_not_for_nvcc() {
  why_not="nvcc finds no header in a path with a quote; move the clone out of $root"
  case $root in *\'*) return 0 ;; *) return 1 ;; esac
}

leave_out() {
  say "the CUDA backend is left out:" "$@"
  device_options=-DTESSERA_CUDA=OFF device_targets=
}

# choose_release_code: leaves CUDA code out where there is no nvcc; TESSERA_CUDA_ARCHITECTURES is none then. Otherwise it
# is compiled for what the caller names in that variable, or for every architecture of a release, as the presets say. Bundle, Debian packages and wheels are built in folders two
# below their sources, so that ccache compiles the device code for the first of them, and the others take it.
choose_release_code() {
  if [ "${TESSERA_CUDA_ARCHITECTURES:-none}" = none ] && path_is_not_for_nvcc; then
    leave_out "$why_not"
    TESSERA_CUDA_ARCHITECTURES=none
  fi
  find_nvcc
  if [ "${TESSERA_CUDA_ARCHITECTURES:-}" != none ] && ! command -v "${CUDACXX:-nvcc}" >/dev/null; then
    [ -z "${TESSERA_CUDA_ARCHITECTURES:-}" ] ||
      fail "TESSERA_CUDA_ARCHITECTURES=$TESSERA_CUDA_ARCHITECTURES asks for CUDA code, but there is no nvcc:" \
        "install CUDA 12.8 or later, or say TESSERA_CUDA_ARCHITECTURES=none"
    say "there is no nvcc: the CUDA backend is left out (CUDA 12.8 or later brings nvcc)"
    TESSERA_CUDA_ARCHITECTURES=none
  fi
}

# programs TARGET...: builds these targets with the CUDA code that choose_device_code chose.
programs() {
  # shellcheck disable=SC2086  # one word an option
  configure programs "-DTESSERA_WERROR=$(warnings_as_errors)" $device_options
  compile "$@" || fail "the build failed"
}

# debian_packages FOLDER: every backend of the processor is in them, or the build fails.
debian_packages() {
  configure deb
  compile || fail "the build failed"
  rm -rf "$build/packages"
  with_progress "packages" cpack --config "$build/CPackConfig.cmake" -B "$build/packages" || fail "cpack failed"
  mkdir -p "$1" && cp "$build"/packages/*.deb "$1" || fail "the packages in $build/packages cannot be copied to $1"
  say "$(cd "$build/packages" && echo ./*.deb) are in $1"
}
