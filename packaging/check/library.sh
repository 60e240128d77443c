# The Debian packages of the C library: its examples are built, shared and static.
# shellcheck shell=bash
install gcc libc6-dev pkg-config /dist/libringwalk0_*.deb /dist/libringwalk-dev_*.deb
make_tree
# Each page has its function in the line of names, also where several functions share a page.
for page in ringwalk ringwalk_open ringwalk_close; do
  zcat "/usr/share/man/man3/$page.3.gz" | grep "\b$page\b.* \\\\- "
done
# fts leaves the starting point out.
declare -A expected
expected[nftw]=$(find /tmp/tree | wc -l)
expected[fts]=$(find /tmp/tree -mindepth 1 | wc -l)
for example in fts nftw; do
  zcat --force "/usr/share/doc/libringwalk-dev/examples/$example".c* >"/tmp/$example.c"
  # shellcheck disable=SC2046 # words, as the compiler takes them
  gcc "/tmp/$example.c" -o "/tmp/$example" $(pkg-config --cflags --libs ringwalk)
  # shellcheck disable=SC2046
  gcc "/tmp/$example.c" -static -o "/tmp/$example-static" \
    $(pkg-config --static --cflags --libs ringwalk)
  ldd "/tmp/$example" | grep libringwalk.so.0
  fails ldd "/tmp/$example-static"
  for program in "/tmp/$example" "/tmp/$example-static"; do
    same "$("$program" /tmp/tree | sed 's/ entries.*//')" "${expected[$example]}"
  done
done
apt-get purge --yes -qq libringwalk0
fails /tmp/fts /tmp/tree
