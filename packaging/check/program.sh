# The Debian package of the program.
# shellcheck shell=bash
install man-db /dist/ringwalk_*.deb
make_tree
same "$(ringwalk find /tmp/tree -s -type f -printf '%P %s\n')" $'a/b/other 1\na/file 5000'
same "$(ringwalk du -aB1 /tmp/tree | sort)" "$(du -aB1 /tmp/tree | sort)"
ringwalk count /tmp/tree
ringwalk doctor /tmp/tree
# Man pages and doctor name pages of the documentation, which are there as they are named.
pages=$(zcat /usr/share/man/man1/ringwalk*.1.gz | sed 's/\\-/-/g' |
  grep -o '/usr/share/doc/ringwalk/[a-z-]*\.md' | sort -u)
test -n "$pages"
for page in $pages /usr/share/doc/ringwalk/{kernel,systemd}.md; do test -s "$page"; done
ringwalk doctor /tmp/tree | tr -s '\n ' ' ' | grep 'see /usr/share/doc/ringwalk/kernel.md'
for page in ringwalk ringwalk-find ringwalk-du ringwalk-count ringwalk-snapshot ringwalk-doctor; do
  man "$page" | grep SYNOPSIS
done
bash -c '. /usr/share/bash-completion/completions/ringwalk && complete -p ringwalk'
test -s /usr/share/zsh/vendor-completions/_ringwalk
test -s /usr/share/fish/vendor_completions.d/ringwalk.fish
test -x /usr/lib/ringwalk/ringwalk-snapshots
test -s /usr/lib/systemd/system/ringwalk-snapshots@.timer
grep -q '^ExecStart=/usr/lib/ringwalk/ringwalk-snapshots ' \
  /usr/lib/systemd/system/ringwalk-snapshots@.service
fails grep @PREFIX@ /usr/lib/systemd/system/ringwalk-snapshots@.service
grep -q rustix /usr/share/doc/ringwalk/LICENSE-third-party.txt*
apt-get purge --yes -qq ringwalk
fails test -e /usr/bin/ringwalk
