# The source, built without a network.
# shellcheck shell=bash
install gcc libc6-dev xz-utils
tar --extract --directory=/tmp --file="$(echo /dist/ringwalk-*.tar.xz)"
cd /tmp/ringwalk-*/ || exit
unshare --net cargo build --offline --locked
make_tree
same "$(target/debug/ringwalk find /tmp/tree -s -name 'o*')" /tmp/tree/a/b/other
