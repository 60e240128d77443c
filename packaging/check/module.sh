# The DKMS package of the kernel module, built for this release's kernel.
# shellcheck shell=bash
headers=linux-headers-$(dpkg --print-architecture)
if ! { apt-get update -qq && apt-get install --yes -qq --no-install-recommends "$headers"; }; then
  echo "the package $headers cannot be installed"
  exit 77
fi
# A compiler for programs with the header: DKMS uses that of the kernel, which has another name.
install gcc libc6-dev /dist/ringwalk-dkms_*.deb
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' /usr/src/ringwalk-*/dkms.conf)
kernel=$(basename /usr/src/linux-headers-*[0-9]-"$(dpkg --print-architecture)" | sed s/linux-headers-//)
dkms status
dkms build "ringwalk/$version" -k "$kernel"
modinfo -F license /var/lib/dkms/ringwalk/"$version"/"$kernel"/*/module/ringwalk.ko*
[ "$(modinfo -F version /var/lib/dkms/ringwalk/"$version"/"$kernel"/*/module/ringwalk.ko*)" = "$version" ]
test -s /usr/lib/udev/rules.d/60-ringwalk.rules
echo '#include <linux/ringwalk.h>' | gcc -E -x c - >/dev/null
apt-get purge --yes -qq ringwalk-dkms
fails test -e "/usr/src/ringwalk-$version"
fails test -e /usr/include/linux/ringwalk.h
