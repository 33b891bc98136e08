#!/usr/bin/env bash
# Builds the wheel and the source archive twice, in two folders and at two times, and compares them byte for byte.
set -euo pipefail
cd "$(dirname "$0")/../.."
maturin=$PWD/.venv/bin/maturin python=$PWD/.venv/bin/python
folder=$(mktemp -d)
# What is committed while this runs belongs to neither.
commit=$(git rev-parse HEAD)
trap 'rm -rf "$folder"' EXIT

for copy in one another/and-deeper; do
    mkdir -p "$folder/$copy"
    git archive "$commit" | tar x -C "$folder/$copy"
    export SOURCE_DATE_EPOCH
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit")
    (
        cd "$folder/$copy"
        . packaging/steady/environment.sh
        PATH="$(dirname "$maturin"):$PATH" "$maturin" build --quiet --release --locked --zig \
            --compatibility manylinux2014 --out dist
        "$maturin" sdist --out dist 2> /dev/null
        "$python" packaging/steady/settle.py dist/*.whl
        cd dist && sha256sum ./*
    ) | tee "$folder/${copy%%/*}.sums"
done
cmp "$folder/one.sums" "$folder/another.sums" && echo "both builds are the same"
