#!/usr/bin/env bash
# Builds the wheel of another platform, from Debian's packages and the tools of `make wheels` alone:
# packaging/cross/build.sh TARGET FOLDER [ARGUMENTS OF MATURIN]
#
# The standard library of the target is compiled from its sources (packages rustc-web, cargo-web, rust-web-src), since
# rustup's are not to be had everywhere; zig links. They are unpacked into FOLDER and installed nowhere.
set -euo pipefail
target=$1 folder=$(mkdir -p "$2" && realpath "$2")
shift 2
cd "$(dirname "$0")/../.."

root=$folder/root
packages=(rustc-web cargo-web rust-web-src libstd-rust-web-dev libstd-rust-web-1.96 libllvm22 libgit2-1.5
    libhttp-parser2.9 libmbedcrypto7 libmbedtls14 libmbedx509-1 libssh2-1)
if [ ! -x "$root/usr/bin/rustc" ]; then
    mkdir -p "$folder/packages"
    (cd "$folder/packages" && apt-get download -q "${packages[@]}")
    for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$root"; done
fi

export PATH=$root/usr/bin:$PWD/.venv/bin:$PATH
export LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu RUSTC=$root/usr/bin/rustc RUSTDOC=$root/usr/bin/rustdoc
. packaging/steady/environment.sh
export RUSTC_BOOTSTRAP=1 CARGO_UNSTABLE_BUILD_STD=std,panic_unwind CARGO_TARGET_DIR=$folder/target
# A platform whose Python is not at hand is described by its version alone.
export PYO3_CROSS_PYTHON_VERSION=${PYO3_CROSS_PYTHON_VERSION:-3.10}

linker=(--zig)
case $target in
    *-windows-gnullvm)
        # maturin asks zig only for Linux and macOS; here it is the linker that cargo calls.
        linker=()
        name=${target//-/_} && name=CARGO_TARGET_${name^^}_LINKER
        export "$name=$PWD/packaging/cross/zig-linker-${target%%-*}"
        ;;
esac
out=$folder/dist/$target${PYO3_PYTHON:+-$(basename "$PYO3_PYTHON")}
rm -rf "$out"
maturin build --release --locked "${linker[@]}" --target "$target" --out "$out" "$@"
python packaging/steady/settle.py "$out"/*.whl
