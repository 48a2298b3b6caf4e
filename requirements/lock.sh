#!/bin/sh
# Pin runtime, sign, dev, bench, mutation and lock: every release with the digests of all its files, for every platform.
#
#   lock.sh PIP_COMPILE [--upgrade]
#
# Run on the oldest Python that is served, whose backports newer ones merely do not need. The files name no index and
# no host, so that each user's own configuration decides where packages come from.
set -eu

pip_compile=$1
shift
export CUSTOM_COMPILE_COMMAND="make lock-deps"

pin() {
    "$pip_compile" --quiet --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url \
        --no-emit-trusted-host --no-emit-find-links --no-emit-options --output-file "$@"
}

pin requirements/runtime.txt "$@" pyproject.toml
pin requirements/sign.txt "$@" --extra sign pyproject.toml
for name in dev bench mutation lock; do
    pin "requirements/$name.txt" "$@" "requirements/$name.in"
done
