#!/bin/sh
# Make or refresh a virtual environment, and put admit into it.
#
#   environment.sh FOLDER REQUIREMENTS [installed | editable | none]
#
# FOLDER is made from REQUIREMENTS, where every file stands with its digest, and made again when that file or PYTHON
# changes. "installed" builds and installs the package as users get it, again whenever a source changed; "editable"
# links the sources instead, and a later "installed" leaves that alone. Packages come from wherever the user's pip is
# configured to take them.
set -eu

folder=$1 requirements=$2 package=${3:-installed}

pick_python() {
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "admit needs Python 3.11 or newer; tried: ${PYTHON:-python3 python3.13 python3.12 python3.11}." \
        "Name one: make PYTHON=/path/to/python3.11" >&2
    exit 1
}

quiet_pip() {
    "$folder/bin/python" -m pip install -qq --disable-pip-version-check "$@"
}

made_from=$({ echo "${PYTHON:-}"; cat "$requirements"; } | git hash-object --stdin)
if [ "$(cat "$folder/.made-from" 2>/dev/null)" != "$made_from" ]; then
    python=$(pick_python)
    echo "making $folder from $requirements" >&2
    rm -rf "$folder"
    "$python" -m venv "$folder" || {
        echo "$python cannot make a virtual environment (on Debian: install python3-venv)" >&2
        exit 1
    }
    quiet_pip --require-hashes -r "$requirements"
    echo "$made_from" >"$folder/.made-from"
fi

case $package in
none) exit ;;
editable) want=editable ;;
installed)
    [ "$(cat "$folder/.package" 2>/dev/null)" = editable ] && exit
    sources() { find src pyproject.toml README.md LICENSE -type f ! -name '*.pyc' | LC_ALL=C sort; }
    want=$({ sources; sources | git hash-object --stdin-paths; } | git hash-object --stdin)
    ;;
*)
    echo "environment.sh: $package: allowed: installed, editable, none" >&2
    exit 64
    ;;
esac
if [ "$(cat "$folder/.package" 2>/dev/null)" != "$want" ]; then
    set -- --no-deps --no-build-isolation --force-reinstall
    [ "$package" = editable ] && set -- "$@" --editable
    quiet_pip "$@" .
    echo "$want" >"$folder/.package"
fi
