# Installs the Debian packages that a command needs. ./tessera sources this file. Set before: `root`.

packages=$root/cmake/debian-packages.txt

# missing_packages STAGE...: the packages of these stages that are not installed, each followed by a space.
missing_packages() {
  wanted=$(awk -v stages=" $* " '!/^#/ && NF && index(stages, " " $2 " ") && !named[$1]++ { print $1 }' "$packages")
  # shellcheck disable=SC2086  # one word a package
  installed=$(dpkg-query -W -f '${Package}=${db:Status-Status}\n' $wanted 2>/dev/null || true)
  for package in $wanted; do
    case "
$installed
" in
      *"
$package=installed
"*) ;;
      *) printf '%s ' "$package" ;;
    esac
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif [ -t 0 ]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

can_install() {
  [ "${TESSERA_INSTALL:-yes}" != no ] && command -v apt-get >/dev/null || return 1
  [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; }
}

install_packages() {
  as_root apt-get update -q &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$@"
}

# need_packages STAGE...: installs what is missing, or stops. On other systems than Debian the packages have other names:
# CMake then says what it does not find.
need_packages() {
  if ! command -v dpkg-query >/dev/null; then
    for tool in c++ cmake ninja; do
      command -v $tool >/dev/null || fail "$tool is missing, and this is not Debian; install what $packages lists"
    done
    return 0
  fi
  missing=$(missing_packages "$@")
  missing=${missing% }
  [ -n "$missing" ] || return 0
  if ! can_install; then
    say "missing packages: $missing"
    fail "install them (as root: apt-get install $missing) and start again"
  fi
  say "installing $missing"
  # shellcheck disable=SC2086  # one word a package
  with_progress "packages" install_packages $missing ||
    fail "apt-get failed; install these packages yourself and start again: $missing"
}
