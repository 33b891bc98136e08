#!/usr/bin/env bash
# Makes a CPython for musl, which no package index has: packaging/cross/musl-python.sh x86_64|aarch64 FOLDER
#
# From the sources that Debian testing has of Python 3.13 and of zlib, and a crate that has those of libffi, by zig, which
# brings musl's headers along; with the loader of Debian stable's package (1.2.5: NumPy's wheels hold relocations that older
# ones cannot read). The one for x86-64 runs on this machine as it is, and builds the one for aarch64. All stays in FOLDER;
# the program is FOLDER/PROCESSOR/python. It has no TLS, bz2, lzma or SQLite, for want of their libraries.
set -euo pipefail
processor=$1 folder=$(mkdir -p "$2" && realpath "$2") version=3.13
cd "$(dirname "$0")/../.."
tree=$PWD here=$folder/$processor
[ ! -x "$here/python" ] || exit 0
[ "$processor" = x86_64 ] || bash packaging/cross/musl-python.sh x86_64 "$folder"
rm -rf "$here"
mkdir -p "$here"

. packaging/pythons/sources.sh
case $processor in x86_64) architecture=amd64 ;; aarch64) architecture=arm64 ;; esac
unpack_package musl "$architecture" "$here/root"
loader=$here/root/usr/lib/$processor-linux-musl/libc.so

zig="$PWD/.venv/bin/python -m ziglang" flags="-O1 -g0 -fPIC -fno-sanitize=undefined -Wno-date-time"
export CC="$zig cc -target $processor-linux-musl" AR="$zig ar" RANLIB="$zig ranlib"

unpack_sources zlib "$here/zlib"
cd "$here/zlib"
# shellcheck disable=SC2086
$CC $flags -DHAVE_UNISTD_H -DHAVE_STDARG_H -c ./*.c
$AR rcs libz.a ./*.o

quietly() { "$@" >> "$here/build.log" 2>&1 || { tail -20 "$here/build.log" && exit 1; }; }
# Debian's sources of libffi want its tools for configuration; those in the crate bring theirs along.
mkdir -p "$here/libffi/src"
cd "$here/libffi"
printf '%s\n' '[package]' 'name = "libffi"' 'version = "0.0.0"' '[workspace]' '[dependencies]' 'libffi-sys = "=3.3.2"' > Cargo.toml
touch src/lib.rs
quietly cargo vendor vendored
cd vendored/libffi-sys/libffi
quietly bash ./configure --host="$processor-linux-musl" --prefix="$here/libffi/installed" --disable-shared --disable-docs \
    --with-pic CFLAGS="$flags"
quietly make install
cd "$tree"

unpack_sources "python$version" "$here/build"
cd "$here/build"
# Nothing of this machine's own libraries is for musl.
arguments=(--prefix="$here/installed" --without-ensurepip --disable-test-modules PKG_CONFIG=false
    ZLIB_CFLAGS="-I$here/zlib" ZLIB_LIBS="$here/zlib/libz.a"
    LIBFFI_CFLAGS="-I$here/libffi/installed/include" LIBFFI_LIBS="$here/libffi/installed/lib/libffi.a" CFLAGS="$flags")
if [ "$processor" = x86_64 ]; then
    # The loader is where it was unpacked, and not in /lib.
    arguments+=(LDFLAGS="-dynamic -Wl,--dynamic-linker=$loader")
else
    arguments+=(LDFLAGS=-dynamic --host="$processor-linux-musl" --build=x86_64-linux-gnu
        --with-build-python="$folder/x86_64/python" ac_cv_file__dev_ptmx=yes ac_cv_file__dev_ptc=no ac_cv_buggy_getaddrinfo=no)
fi
quietly ./configure "${arguments[@]}"
# The names that extensions in wheels for musl have.
abi=cpython-${version/./}-$processor-linux-musl
quietly make -j"${JOBS:-$(nproc)}" SOABI="$abi" EXT_SUFFIX=".$abi.so" install
cd "$tree"
rm -rf "$here/build" "$here/zlib" "$here/libffi"

# A program under the interpreter's own name, so that it can start itself for tests that do so.
emulator=
[ "$processor" = "$(uname -m)" ] || emulator=qemu-$processor-static
cat > "$here/python.part" << EOF
#!/bin/sh
exec $emulator $loader --argv0 "\$0" $here/installed/bin/python$version "\$@"
EOF
chmod +x "$here/python.part"
"$here/python.part" -c 'import sys, ctypes, zlib; print(sys.version)'
mv "$here/python.part" "$here/python"
