#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A fresh Debian 13 with git and make, in build/debian13-fresh: what the README says builds the module
# for its kernel, and the tests on the host pass. As root, or by sudo; needs 3 GB.

set -euo pipefail
cd "$(dirname "$0")/../.."
[[ $EUID == 0 ]] || exec sudo "$0" "$@"

fresh=build/debian13-fresh
sources=build/apt13/sources.list
[[ -f $sources ]] || { echo "htbs: no $sources: run scripts/setup" >&2; exit 1; }

inside() {
	bwrap --bind $fresh / --proc /proc --dev /dev --tmpfs /run --ro-bind /etc/resolv.conf \
		/etc/resolv.conf --clearenv --setenv PATH /usr/sbin:/usr/bin --setenv HOME /tmp \
		--setenv DEBIAN_FRONTEND noninteractive --ro-bind /etc/ssl/certs/ca-certificates.crt \
		/run/machine.crt --setenv PIP_CERT /run/machine.crt "$@"
}

rm -rf $fresh
grep -v backports $sources >$fresh.list
mmdebstrap --quiet --variant=apt --include=ca-certificates,git,make trixie $fresh $fresh.list
git clone -q --bare . $fresh/srv/htbs.git
inside git clone -q /srv/htbs.git /srv/htbs
inside apt-get -q update >/dev/null
inside apt-get -qy --no-install-recommends install linux-image-amd64 linux-headers-amd64 gcc make \
	pahole python3 zstd >/dev/null
kver=$(ls $fresh/lib/modules)
inside make -C /srv/htbs KVER="$kver"
[[ -f $fresh/srv/htbs/build/$kver/htbs.ko ]]
inside make -C /srv/htbs test-host
rm -rf $fresh
echo "Debian 13: built for $kver, the tests on the host pass"
