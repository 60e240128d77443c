# Of use to every check. Each runs as root in a fresh Debian system, with these folders:
#
#   /dist       what `make dist` built
#   /check      this folder
#   /opt/rust   Rust's toolchain
#   /wheels     maturin

# Installs packages, by name or by file.
install() {
  [ -n "${updated-}" ] || apt-get update -qq
  updated=true
  # The system is thrown away after the check, so no file has to reach the disk.
  apt-get install --yes -qq --no-install-recommends -o Dpkg::Options::=--force-unsafe-io "$@"
}

# Fails unless two texts are the same.
same() {
  [ "$1" = "$2" ] || {
    printf 'expected:\n%s\nfound:\n%s\n' "$2" "$1" >&2
    exit 1
  }
}

# Makes a directory tree to read.
make_tree() {
  mkdir -p /tmp/tree/a/b
  printf '%5000s' x >/tmp/tree/a/file
  printf 'y' >/tmp/tree/a/b/other
  ln -s a /tmp/tree/link
}

# Fails if a command succeeds.
fails() {
  if "$@"; then
    echo "succeeded, and should not: $*" >&2
    exit 1
  fi
}
