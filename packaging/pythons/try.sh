#!/usr/bin/env bash
# Runs the unit tests of the wheel in dist/ on a Python that Debian's next release has and this machine has not:
# packaging/pythons/try.sh VERSION FOLDER [ARGUMENTS OF PYTEST]
#
# As root on Debian, with the package debootstrap: a root of Debian testing is made in FOLDER (about 400 MB) and used by
# chroot; nothing is installed outside. The tests run there with the locked requirements and never see the sources.
set -euo pipefail
version=$1 folder=$(mkdir -p "$2" && realpath "$2")
shift 2
tree=$(realpath "$(dirname "$0")/../..")
root=$folder/testing here=/tests-$version
[ $# -gt 0 ] || set -- --ignore tests/unit/docs tests/unit

if [ ! -x "$root/usr/bin/python$version" ]; then
    index=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | sed -n 1p)
    rm -rf "$root"
    debootstrap --variant=minbase --include="python$version,python$version-venv,ca-certificates,procps" testing "$root" "$index"
fi
# Names are looked up and servers are trusted as they are here.
cp /etc/resolv.conf /etc/hosts "$root/etc"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
for place in proc dev; do
    mountpoint -q "$root/$place" || mount --bind "/$place" "$root/$place"
done
# What has just ended may still hold them open.
trap 'umount --lazy "$root/dev" "$root/proc"' EXIT

rm -rf "${root:?}$here"
mkdir "$root$here"
cp -r "$tree/tests" "$tree/README.md" "$tree/pyproject.toml" "$tree/requirements/dev.txt" "$tree"/dist/*.whl "$root$here"
chroot "$root" bash -euo pipefail -s "$version" "$here" "$@" << 'INSIDE'
version=$1 here=$2
shift 2
cd "$here"
export HOME=/root LANG=C.UTF-8
[ -x "/venv-$version/bin/pip" ] || "python$version" -m venv "/venv-$version"
pip=("/venv-$version/bin/python" -m pip install --quiet --disable-pip-version-check)
"${pip[@]}" --require-hashes -r dev.txt
"${pip[@]}" --no-deps --force-reinstall ./*.whl
"/venv-$version/bin/python" -VV
"/venv-$version/bin/python" -m simplexdp.demo
"/venv-$version/bin/python" -m pytest -q -p no:cacheprovider -m "not source_tree" "$@" < /dev/null
INSIDE
