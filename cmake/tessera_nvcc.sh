#!/bin/sh
# tessera_nvcc.sh SETTINGS COMMAND...: compiles or links the device code of user kernels. CMake runs it in place of the
# command for the host's compiler (TesseraKernels.cmake), so that nvcc gets every definition, folder of headers and
# option with which the host's code of the program is compiled, wherever the project has set them. SETTINGS has lines
# `word value`: nvcc, launcher, compile (a flag of compilations), link (a flag of links), kind (of the host's compiler),
# program, and elsewhere (a definition that one source of the host has, and the source).
set -eu

settings=$1
shift
stop() { echo "tessera_add_kernels($program): $*" >&2; exit 1; }
values() { sed -n "s/^$1 //p" "$settings"; }
program=$(values program)
kind=$(values kind)
count=$#

# run_nvcc WORD ARGUMENT...: runs it with the flags that have this word in SETTINGS, too.
run_nvcc() {
  word=$1
  shift
  while read -r name value; do
    [ "$name" != "$word" ] || set -- "$@" "$value"
  done <"$settings"
  set -- "$(values nvcc)" "$@"
  while read -r name value; do
    [ "$name" != launcher ] || set -- "$value" "$@"
  done <"$settings"
  "$@"
}
# nvcc runs its tools with a shell and splits lists at commas.
list_item() { printf '%s' "$1" | sed 's/,/\\,/g'; }
plain() {
  case $1 in *[\"\'\$\`\\]*) stop "nvcc finds nothing in a path with a quote, a dollar or a backslash: $1" ;; esac
  list_item "$1"
}
to_host() { # an option for the host's compiler, which nvcc runs as its preprocessor too
  case $1 in *[\"\'\$\`\\\ ]*) stop "nvcc cannot hand on an option with a blank, a quote, a dollar or a backslash: $1" ;; esac
  printf -- '-Xcompiler=%s' "$(list_item "$1")"
}

source=
for word; do case $word in *tessera_kernels/*.cu.cpp) source=$word ;; esac; done

if [ -z "$source" ]; then
  case " $* " in *" -c "*) exec "$@" ;; esac # a source that a linked target brings
  # To link: the objects of device code, and nothing of the program's libraries.
  output=
  before=
  while [ "$count" -gt 0 ]; do
    word=$1
    shift
    count=$((count - 1))
    [ "$before" != -o ] || output=$word
    case $word in
      @*) for object in $(tr ' ' '\n' <"${word#@}" | grep 'tessera_kernels/.*[.]cu[.]cpp[.]o$'); do set -- "$@" "$object"; done ;;
      *tessera_kernels/*.cu.cpp.o) set -- "$@" "$word" ;;
    esac
    before=$word
  done
  # In a tree that carries the compiler's libraries they lie beside the plug-in or above it.
  if ! run_nvcc link "$@" -shared -cudart static -Xlinker -rpath -Xlinker '$ORIGIN:$ORIGIN/..' -o "$output" 2>"$output.errors"; then
    cat "$output.errors" >&2
    if grep -q 'multiple definition of .tessera_user_kernels' "$output.errors"; then
      stop "more than one of its .cu files has TESSERA_CUDA_KERNELS: list the functors of all files in one of them"
    fi
    exit 1
  fi
  cat "$output.errors" >&2
  rm -f "$output.errors"
  exit
fi

# To compile
definitions=
object=
depfile=
pending=
# A definition that nvcc's shell would spoil goes to a header, and so does what later words say of the same name.
goes_to_header() {
  name=${1%%=*}
  case $1 in *[!A-Za-z0-9_=.+:/-]*) return 0 ;; esac
  case $definitions in *"#define $name "*) return 0 ;; esac
  return 1
}
define() { # -D or -U, and its word
  name=${2%%=*}
  definitions="$definitions#undef ${name%%(*}
"
  value=1
  case $2 in *=*) value=${2#*=} ;; esac
  [ "$1" = -U ] || definitions="$definitions#define $name $value
"
}
shift # the host's compiler
count=$((count - 1))
while [ "$count" -gt 0 ]; do
  word=$1
  shift
  count=$((count - 1))
  flag=$pending
  pending=
  if [ -z "$flag" ]; then
    flag=$word
    case $word in
      -D | -U | -I | -isystem | -include | -iquote | -idirafter | -imacros | -isysroot | -o | -MF | -MT | -MQ | -x | -Xclang | --param | -arch | -target)
        pending=$word
        continue
        ;;
      -D* | -U* | -I*) flag=$(printf %.2s "$word") word=${word#-?} ;;
      -isystem*) flag=-isystem word=${word#-isystem} ;;
      -iquote*) flag=-iquote word=${word#-iquote} ;;
      -idirafter*) flag=-idirafter word=${word#-idirafter} ;;
    esac
  fi
  case $flag in
    -D | -U)
      if goes_to_header "$word"; then define "$flag" "$word"; else set -- "$@" "$flag$word"; fi
      ;;
    # An assignment fails where its command does, and a word of another command would not.
    -I) word=$(plain "$word"); set -- "$@" "-I$word" ;;
    -isystem | -include) word=$(plain "$word"); set -- "$@" "$flag" "$word" ;;
    -iquote | -idirafter | -imacros | -isysroot) word=$(to_host "$word"); set -- "$@" "-Xcompiler=$flag" "$word" ;;
    -o) object=$word ;;
    -MF) depfile=$word ;;
    -std=*23 | -std=*2b | -std=*26 | -std=*2c) ;; # later than nvcc knows: the newest that it knows
    -std=*20 | -std=*2a) ;;
    -std=*) stop "its C++ standard is ${flag#-std=}, and the headers of Tessera need C++20" ;;
    -funsigned-char | -fshort-enums | -fshort-wchar | -fpack-struct*)
      stop "nvcc does not know $flag, with which the host's code is compiled: the device would read other types" ;;
    @*) stop "the host's compiler gets options in the file ${flag#@}, which nvcc does not read" ;;
    -Wp,*) word=$(to_host "$flag"); set -- "$@" "$word" ;;
    -ffp-contract=* | -fvisibility* | -fPI[CE] | -fpi[ce] | -flto* | -fno-lto | -ffat-lto* | -f*sanitize* | -fprofile* | \
      -fcoverage* | -ftest-coverage | -fdiagnostics* | -fcolor* | -fmodule* | -fdeps*) ;; # not what the code means
    --sysroot=* | -pthread | -nostdinc*) word=$(to_host "$flag"); set -- "$@" "$word" ;;
    -f* | -m*)
      if [ "$kind" = GNU ]; then word=$(to_host "$flag"); set -- "$@" "$word"; fi
      ;;
  esac
done
[ -n "$depfile" ] || depfile=$object.d
if [ -n "$definitions" ]; then
  printf '%s' "$definitions" >"$object.definitions.h"
  set -- "$@" -include "$object.definitions.h"
fi
run_nvcc compile "$@" -std=c++20 -O3 -fmad=false -Xcompiler=-fPIC,-ffp-contract=off,-fvisibility=hidden \
  -MD -MT "$object" -MF "$depfile" -x cu -c "$source" -o "$object"

# A definition that one source of the host has and this one lacks, in a file that this one includes
tab=$(printf '\t')
toolkit=$(dirname "$(dirname "$(values nvcc)")")
values elsewhere | while IFS=$tab read -r definition host; do
  name=${definition%%=*}
  case $definition in *=*) ;; *) definition=$name=1 ;; esac
  known="$definitions"
  for word; do
    case $word in -D*=*) word=${word#-D} ;; -D*) word=${word#-D}=1 ;; *) continue ;; esac
    known="$known#define ${word%%=*} ${word#*=}
"
  done
  case $known in *"#define $name ${definition#*=}
"*) continue ;; esac
  sed -e 's/^[^:]*://' -e 's/\\$//' "$depfile" | sed 's/\\ /\t/g' | tr ' ' '\n' | tr '\t' ' ' | grep . | while read -r file; do
    case $file in /usr/* | "$toolkit"/* | *.definitions.h) continue ;; esac
    if [ -f "$file" ] && grep -qw -- "$name" "$file"; then
      rm -f "$object"
      stop "$host is compiled with $definition, a property of that source alone, and $file, which names $name, is" \
        "compiled for the device without it: set it with target_compile_definitions(), or for the .cu as well"
    fi
  done || exit 1
done
