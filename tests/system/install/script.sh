#!/bin/sh
# Tests ./tessera on a machine where a package is missing. It must name the package, install nothing that it may not,
# and stop with 2.
# Usage: script.sh PATH-OF-TESSERA FOLDER-TO-WORK-IN
set -eu

tessera=$1
work=$2
rm -rf "$work"
mkdir -p "$work"
cd "$work"

# The machine has a shell and a dpkg that knows every package but libfmt-dev. It has no apt-get.
for tool in sh awk cat dirname grep id sed sleep sort date tr; do ln -s "$(command -v $tool)" .; done
cat >dpkg-query <<'END'
#!/bin/sh
for package; do
  case $package in
    libfmt-dev | -*) ;;
    *=*) ;;
    *) echo "$package=installed" ;;
  esac
done
END
chmod +x dpkg-query

# run COMMAND... runs the command on that machine.
run() {
  status=0
  output=$(env -i PATH="$work" "$@" 2>&1 </dev/null) || status=$?
}
# expect PART... checks that the status was 2 and that every part was printed.
expect() {
  [ "$status" = 2 ] || { echo "status $status, expected 2: $output"; exit 1; }
  for part; do
    case $output in
      *"$part"*) ;;
      *) echo "this is missing: $part; printed was: $output"; exit 1 ;;
    esac
  done
}

run "$tessera" compare --list
expect "missing packages: libfmt-dev" "apt-get install libfmt-dev"

# A mistyped word is refused first.
run "$tessera" compare --cpu --szes 256
expect "unknown option of gemm_compare '--szes'; did you mean '--sizes'?"
run "$tessera" info --al
expect "unknown option of tessera_info '--al'"
run "$tessera" comapre
expect "unknown command 'comapre'; did you mean 'compare'?"
run "$tessera" test --all
expect "test takes -R, -E and -L" "./tessera check"
run "$tessera" check quik
expect "check takes quick, all or nothing, and not quik"

# The Debian packages are built with packages of their own.
run "$tessera" deb
expect "deb needs the folder for the packages"
sed -i 's/libfmt-dev/dpkg-dev/' dpkg-query
run "$tessera" deb "$work/packages"
expect "missing packages: dpkg-dev"
sed -i 's/dpkg-dev/libfmt-dev/' dpkg-query

# The documentation needs packages of its own and no library.
run "$tessera" docs
expect "doxygen is missing"

printf '#!/bin/sh\necho "apt-get was called: $*"\nexit 100\n' >apt-get
printf '#!/bin/sh\nexit 1\n' >sudo
chmod +x apt-get sudo
run TESSERA_INSTALL=no "$tessera" build
expect "missing packages: libfmt-dev"
case $output in *"was called"*) echo "TESSERA_INSTALL=no, but apt-get was called"; exit 1 ;; esac

# One user is not root, and sudo asks for a password that no person is there to type. The other is root, and apt-get
# fails.
rm id
printf '#!/bin/sh\necho 1000\n' >id
chmod +x id
run "$tessera" build
expect "missing packages: libfmt-dev"
printf '#!/bin/sh\necho 0\n' >id
ln -s "$(command -v env)" .
run "$tessera" build
expect "installing libfmt-dev" "apt-get was called: update" "apt-get failed"

# This machine is not Debian.
rm dpkg-query
run "$tessera" build
expect "c++ is missing" "debian-packages.txt"

run "$tessera" no-such-command
expect "unknown command 'no-such-command'" "./tessera help"
echo "the script says what is missing"
