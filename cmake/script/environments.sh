# Environments for Python with pinned packages from PyPI, and what is made with them: wheels and the documentation.
# ./tessera sources this file. Set before: `root`.

# make_environment FOLDER PINNED OPTIONS...: an environment for Python with what PINNED lists, from PyPI. If that fails,
# there is no folder.
make_environment() {
  environment=$1
  pinned=$2
  shift 2
  cmp -s "$pinned" "$environment/made-from" && return 0
  python=/usr/bin/python3 # whose headers are installed
  [ -x $python ] || python=python3
  rm -rf "$environment"
  if with_progress "packages of PyPI" fill_environment "$@"; then
    cp "$pinned" "$environment/made-from"
  else
    rm -rf "$environment"
    return 1
  fi
}
fill_environment() {
  $python -m venv "$environment" &&
    "$environment/bin/python" -m pip --disable-pip-version-check --quiet install --retries 1 --timeout 20 \
      --no-compile "$@" -r "$pinned"
}

# What the Python package is built and tested with. Without it, for which PyPI must be reached, its test is skipped and
# says so.
python_environment=$root/build/python-environment

make_python_environment() {
  make_environment "$python_environment" "$root/tests/bindings/python/requirements.txt" ||
    say "no environment for the Python package (is PyPI out of reach?): its test will be skipped"
}

# wheels DIR: Python's packages, as src/bindings/python/wheels.py says. A source package has no presets: what they would
# say is in pyproject.toml and here. CMake reads the variables that name ccache.
wheels() {
  TESSERA_CUDA_ARCHITECTURES=${TESSERA_CUDA_ARCHITECTURES:-release}
  make_environment "$root/build/wheels/environment" "$root/src/bindings/python/wheel-requirements.txt" ||
    fail "the packages that src/bindings/python/wheel-requirements.txt lists cannot be installed; is PyPI out of reach?"
  if set_up_ccache; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
  fi
  with_progress "wheels" "$root/build/wheels/environment/bin/python" "$root/src/bindings/python/wheels.py" "$1" "$(cuda_definition)"
}

# documentation SITE: compiles nothing. docs/site/build.py says what is wrong with a comment, a link or a page.
documentation() {
  command -v doxygen >/dev/null || fail "doxygen is missing; install version 1.9.4 or later and start again"
  make_environment "$root/build/docs/environment" "$root/docs/site/requirements.txt" --no-deps ||
    fail "the packages that docs/site/requirements.txt lists cannot be installed; is PyPI out of reach?"
  export PYTHONDONTWRITEBYTECODE=1 # into the sources
  with_progress "documentation" "$root/build/docs/environment/bin/python" "$root/docs/site/build.py" "$root" \
    "$root/build/docs" "$1" || fail "the documentation is not complete; the lines above say where"
  say "open $1/index.html"
}
