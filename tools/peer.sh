#!/bin/sh
# Install the public evaluator in a virtual environment of its own, for the compatibility tests and benchmarks.
# Usage: tools/peer.sh [FOLDER]     FOLDER defaults to .venv-peer; PYTHON names an interpreter >= 3.12
set -eu

folder=${1:-.venv-peer}
package='nvidia-compute-eval[eval]==2026.2'
stamp=$folder/.installed

# The stamp comes last, so that an interrupted installation is begun anew.
[ -f "$stamp" ] && [ "$(cat "$stamp")" = "$package" ] && exit 0

for candidate in ${PYTHON:-} .venv/bin/python python3.12 python3.13 python3; do
    if "$candidate" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
        rm -rf "$folder"
        "$candidate" -m venv "$folder"
        "$folder/bin/python" -m pip --disable-pip-version-check --timeout 20 --retries 1 install --quiet "$package" >&2
        echo "$package" >"$stamp"
        exit 0
    fi
done
echo "tools/peer.sh: needs python >= 3.12 with venv (set PYTHON to one)" >&2
exit 3
