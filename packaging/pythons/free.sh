#!/usr/bin/env bash
# Builds a CPython without its lock from the sources of Debian's next release, builds the wheel for it and runs tests:
# packaging/pythons/free.sh VERSION FOLDER [ARGUMENTS OF PYTEST]
#
# On Debian, with a C compiler; as glibc's headers are those of this machine, the Python is for this machine. Everything stays
# in FOLDER. PyO3 0.30 builds for Python without its lock from 3.14 on.
set -euo pipefail
version=$1 folder=$(mkdir -p "$2" && realpath "$2")
shift 2
cd "$(dirname "$0")/../.."
here=$folder/free-$version python=$folder/free-$version/installed/bin/python${version}t
[ $# -gt 0 ] || set -- tests/unit/special tests/unit/mechanisms tests/unit/test_random.py tests/unit/test_sensitivity.py \
    tests/unit/test_divergence.py tests/unit/test_interpreters.py tests/unit/test_threads.py tests/unit/accounting/test_accountant.py

if [ ! -x "$python" ]; then
    rm -rf "$here"
    mkdir -p "$here"
    . packaging/pythons/sources.sh
    instead=()
    # The sum is that of its signed description, python3.14_3.14.7-1.dsc.
    [ "$version" != 3.14 ] || instead=(python3.14_3.14.7.orig.tar.xz
        3b48dac8fb59f62eaa67ac83c1eb12bda1b7a08406dd286e252c11a66be27f81)
    unpack_sources "python$version" "$here/build" "${instead[@]}"
    (
        cd "$here/build"
        ./configure --disable-gil --without-ensurepip --disable-test-modules --prefix="$here/installed"
        make -j"${JOBS:-$(nproc)}" install
    ) > "$here/build.log" 2>&1 || { tail -20 "$here/build.log" && exit 1; }
    rm -rf "$here/build"
fi

export PATH=$PWD/.venv/bin:$PATH CARGO_TARGET_DIR=$folder/target
. packaging/steady/environment.sh
rm -rf "$here/dist"
maturin build --release --locked --zig --compatibility manylinux2014 --interpreter "$python" --out "$here/dist"
python packaging/steady/settle.py "$here"/dist/*.whl
python packaging/steady/symbols.py "$here"/dist/*.whl
python -m pip --quiet --disable-pip-version-check install --upgrade --target "$here/site" --only-binary :all: --no-deps \
    --python-version "$version" --implementation cp --abi "cp${version/./}t" --abi abi3t --abi none \
    --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 --platform manylinux_2_17_x86_64 \
    numpy scipy python-flint pytest pluggy iniconfig packaging pygments hypothesis sortedcontainers mpmath narwhals click
unzip -qo "$here"/dist/*.whl -d "$here/site"
cp -r tests README.md pyproject.toml "$here"
cd "$here"
export PYTHONPATH=$here/site
"$python" -c 'import sys, numpy, simplexdp; print(sys.version); assert not sys._is_gil_enabled()'
"$python" -m pytest -q -p no:cacheprovider -m "not source_tree" "$@" < /dev/null
