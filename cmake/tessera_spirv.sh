#!/bin/sh
# tessera_spirv.sh SETTINGS COMMAND...: compiles or links the device code of user kernels in SPIR-V. CMake runs it in
# place of the command for the host's compiler (TesseraKernels.cmake), so that clang gets every definition, folder of
# headers and option that changes types with which the host's code of the program is compiled, wherever the project has
# set them. A file is compiled twice: by clang, as HIP for SPIR-V, of which llvm-spirv makes the module; and by the
# host's compiler, which makes the table of the functors and takes the module in. SETTINGS has lines `word value`:
# clang, translator, compile (a flag of clang), program, and elsewhere (a definition that one source of the host has, and
# the source).
set -eu

settings=$1
shift
stop() { echo "tessera_add_kernels($program): $*" >&2; exit 1; }
values() { sed -n "s/^$1 //p" "$settings"; }
program=$(values program)
count=$#

source=
for word; do case $word in *tessera_kernels/*.cu.cpp) source=$word ;; esac; done

if [ -z "$source" ]; then
  case " $* " in *" -c "*) exec "$@" ;; esac # a source that a linked target brings
  # To link: the objects of device code, and nothing of the program's libraries.
  output=
  before=
  first=1
  while [ "$count" -gt 0 ]; do
    word=$1
    shift
    count=$((count - 1))
    [ "$before" != -o ] || output=$word
    case $word in
      @*) for object in $(tr ' ' '\n' <"${word#@}" | grep 'tessera_kernels/.*[.]cu[.]cpp[.]o$'); do set -- "$@" "$object"; done ;;
      *tessera_kernels/*.cu.cpp.o) set -- "$@" "$word" ;;
      -flto* | -fno-lto | -ffat-lto*) ;;
      -f* | -m* | -O* | -g* | --sysroot=* | -stdlib=* | -shared) set -- "$@" "$word" ;;
      *) [ -z "$first" ] || set -- "$@" "$word" ;; # the host's compiler
    esac
    before=$word
    first=
  done
  # Libraries of a bundle lie beside it, or in the folder above.
  if ! "$@" -shared -Wl,-rpath,'$ORIGIN:$ORIGIN/..' -o "$output" 2>"$output.errors"; then
    cat "$output.errors" >&2
    if grep -q 'multiple definition of .tessera_user_kernels_spirv' "$output.errors"; then
      stop "more than one of its .cu files has TESSERA_CUDA_KERNELS: list the functors of all files in one of them"
    fi
    exit 1
  fi
  cat "$output.errors" >&2
  rm -f "$output.errors"
  exit
fi

# A function has arguments of its own, so that both compilations begin with the host's command.
object=
depfile=
compile_for_device() {
  count=$#
  pending=
  standard=c++20
  while [ "$count" -gt 0 ]; do
    word=$1
    shift
    count=$((count - 1))
    flag=$pending
    pending=
    case $flag in
      -D | -U | -I | -isystem | -include | -iquote | -idirafter | -imacros | -isysroot)
        set -- "$@" "$flag" "$word"
        continue
        ;;
      -o) object=$word ;;
      -MF) depfile=$word ;;
    esac
    [ -z "$flag" ] || continue
    case $word in
      -D | -U | -I | -isystem | -include | -iquote | -idirafter | -imacros | -isysroot | -o | -MF | -MT | -MQ | -x | \
        -Xclang | --param | -arch | -target) pending=$word ;;
      -D* | -U* | -I* | -isystem* | -iquote* | -idirafter* | --sysroot=* | -nostdinc* | -funsigned-char | -fsigned-char | \
        -fshort-enums | -fshort-wchar | -fpack-struct*) set -- "$@" "$word" ;;
      -std=*2[3b6c]) standard=c++2b ;; # without GNU's types of 128 bits, which SPIR-V lacks
      @*) stop "the host's compiler gets options in the file ${word#@}, which clang for SPIR-V is not given" ;;
    esac
  done
  [ -n "$depfile" ] || depfile=$object.d
  case $object in *[\"\\]*) stop "a path with a quote or a backslash cannot be taken in: $object" ;; esac
  expect_definitions "$@"
  while read -r name value; do
    [ "$name" != compile ] || set -- "$@" "$value"
  done <"$settings"
  # Loops and calls are optimised by the device's compiler: what clang's passes write, llvm-spirv need not know.
  "$(values clang)" "$@" -x hip --offload=spirv64 --cuda-device-only -nogpulib -nogpuinc -std=$standard -O1 \
    -Xclang -disable-llvm-passes -ffp-contract=off -fno-math-errno -DTESSERA_SPIRV_KERNELS \
    -include tessera/detail/user_kernel/spirv_math.cuh -MD -MT "$object" -MF "$depfile.device" -emit-llvm -c "$source" -o "$object.bc" ||
    stop "clang compiles $(sed -n 's/^#include "\(.*\)"$/\1/p' "$source") for SPIR-V not as it is; leave out what is CUDA's alone" \
      "(#if defined(__CUDACC__)), or set TESSERA_KERNELS_OPENCL=OFF"
  "$(values translator)" --spirv-max-version=1.0 -spirv-fp-contract=off "$object.bc" -o "$object.spv" ||
    stop "llvm-spirv cannot translate it; TESSERA_KERNELS_OPENCL=OFF leaves SPIR-V out"
  rm -f "$object.bc"
}

# A definition that one source of the host has and this one lacks, in a file that this one includes, is found after the
# compilation.
known=
expect_definitions() {
  before=
  for word; do
    case $before in -D) word=-D$word ;; esac
    before=$word
    case $word in -D*=*) word=${word#-D} ;; -D?*) word=${word#-D}=1 ;; *) continue ;; esac
    known="$known#define ${word%%=*} ${word#*=}
"
  done
}

compile_for_host() {
  count=$#
  while [ "$count" -gt 0 ]; do
    word=$1
    shift
    count=$((count - 1))
    case $word in -flto* | -ffat-lto* | -fno-rtti) ;; *) set -- "$@" "$word" ;; esac
  done
  "$@" "-DTESSERA_SPIRV_FILE=\"$object.spv\"" # the names of kernels come from typeid
}

compile_for_device "$@"
compile_for_host "$@"
[ ! -f "$depfile" ] || cat "$depfile.device" >>"$depfile"

tab=$(printf '\t')
values elsewhere | while IFS=$tab read -r definition host; do
  name=${definition%%=*}
  case $definition in *=*) ;; *) definition=$name=1 ;; esac
  case $known in *"#define $name ${definition#*=}
"*) continue ;; esac
  sed -e 's/^[^:]*://' -e 's/\\$//' "$depfile.device" | sed 's/\\ /\t/g' | tr ' ' '\n' | tr '\t' ' ' | grep . | while read -r file; do
    case $file in /usr/*) continue ;; esac
    if [ -f "$file" ] && grep -qw -- "$name" "$file"; then
      rm -f "$object"
      stop "$host is compiled with $definition, a property of that source alone, and $file, which names $name, is" \
        "compiled for the device without it: set it with target_compile_definitions(), or for the .cu as well"
    fi
  done || exit 1
done
