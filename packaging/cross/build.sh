#!/usr/bin/env bash
# Builds the wheel of another platform on Linux; zig, which `make wheels` installs, links, and for macOS rustup's lld:
# packaging/cross/build.sh TARGET FOLDER [ARGUMENTS OF MATURIN]
#
# With the standard library of the target where `rustup target add` put it. Where rustup has no such library, Debian's
# packages alone are enough (rustc-web, cargo-web, rust-web-src): they are unpacked into FOLDER and installed nowhere, and
# the standard library is compiled from its sources.
set -euo pipefail
target=$1 folder=$(mkdir -p "$2" && realpath "$2")
shift 2
cd "$(dirname "$0")/../.."

# The wheel for both kinds of Mac is two builds in one.
one=${target/universal2/aarch64}
if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$one/lib" ]; then
    root=$folder/root
    packages=(rustc-web cargo-web rust-web-src libstd-rust-web-dev libstd-rust-web-1.96 libllvm22 libgit2-1.5
        libhttp-parser2.9 libmbedcrypto7 libmbedtls14 libmbedx509-1 libssh2-1)
    if [ ! -x "$root/usr/bin/rustc" ]; then
        mkdir -p "$folder/packages"
        (cd "$folder/packages" && apt-get download -q "${packages[@]}")
        for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$root"; done
    fi
    export PATH=$root/usr/bin:$PATH
    export LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu RUSTC=$root/usr/bin/rustc RUSTDOC=$root/usr/bin/rustdoc
    export RUSTC_BOOTSTRAP=1 CARGO_UNSTABLE_BUILD_STD=std,panic_unwind
fi
export PATH=$PWD/.venv/bin:$PATH CARGO_TARGET_DIR=$folder/target
. packaging/steady/environment.sh
# A platform whose Python is not at hand is described by its version alone.
export PYO3_CROSS_PYTHON_VERSION=${PYO3_CROSS_PYTHON_VERSION:-3.10}

linker=(--zig)
case $target in
    *-windows-gnullvm)
        # maturin asks zig only for Linux and macOS; here it is the linker that cargo calls.
        linker=()
        name=${target//-/_} && name=CARGO_TARGET_${name^^}_LINKER
        export "$name=$PWD/packaging/cross/zig-linker" ZIG_TARGET=${target%%-*}-windows-gnu
        ;;
    *-apple-darwin)
        # zig's linker for macOS shows every function of Rust's library; this one needs no Mac either. SDKROOT is not looked into.
        linker=()
        export CARGO_TARGET_X86_64_APPLE_DARWIN_LINKER=$PWD/packaging/cross/mac-linker SDKROOT=$folder
        export CARGO_TARGET_AARCH64_APPLE_DARWIN_LINKER=$PWD/packaging/cross/mac-linker
        ;;
esac
out=$folder/dist/$target${PYO3_PYTHON:+-$(basename "$PYO3_PYTHON")}
rm -rf "$out"
maturin build --release --locked "${linker[@]}" --target "$target" --out "$out" "$@"
python packaging/steady/settle.py "$out"/*.whl
python packaging/steady/symbols.py "$out"/*.whl
