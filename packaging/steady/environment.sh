# shellcheck shell=bash
# Sourced by what builds wheels, in the root of the tree: the same sources give the same bytes, wherever and whenever.
# The day is the commit's; of a source archive, which has none, the first that a wheel can name.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || echo 315532800)}
# Messages of a panic name sources: by their place in the tree, among the crates or in the standard library.
RUSTFLAGS="--remap-path-prefix=$(pwd -P)=. --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src=crates"
RUSTFLAGS+=" --remap-path-prefix=$("${RUSTC:-rustc}" --print sysroot)=rust"
export SOURCE_DATE_EPOCH RUSTFLAGS
