#!/bin/sh
# Make the virtual environment that the Makefile works in, from a bare clone.
# Usage: tools/bootstrap.sh [FOLDER]     FOLDER defaults to .venv; PYTHON names an interpreter >= 3.12
# Exit code 3: this machine lacks something, named in one line.
set -eu

cd "$(dirname "$0")/.."
venv=${1:-.venv}
extras=dev,eval,numba

lack() {
    echo "bootstrap: $1 (fix: $2)" >&2
    exit 3
}

# A python that is new enough and can make virtual environments with pip in them.
usable() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1
}

# Where interpreters hide that are not on the PATH, or whose shim there refuses to start.
candidates() {
    for name in "${PYTHON:-}" python3 python3.12 python3.13 python3.14 python; do
        [ -z "$name" ] || echo "$name"
    done
    if command -v pyenv >/dev/null 2>&1; then
        ls -d "$(pyenv root)"/versions/3.1[2-9]*/bin/python3 2>/dev/null || true
    fi
    if command -v uv >/dev/null 2>&1; then
        uv python find '>=3.12' 2>/dev/null || true
    fi
}

find_python() {
    candidates | while IFS= read -r candidate; do
        if usable "$candidate"; then
            echo "$candidate"
            break
        fi
    done
}

command -v git >/dev/null 2>&1 || lack "needs git" "install git"
compiler=''
for name in "${CXX:-}" c++ g++ clang++; do
    [ -z "$name" ] || ! command -v "$name" >/dev/null 2>&1 || compiler=$name
done
[ -n "$compiler" ] || lack "needs a C++ compiler" "install g++, or set CXX"

if ! usable "$venv/bin/python" || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    python=$(find_python)
    [ -n "$python" ] || lack "needs python >= 3.12 with venv and ensurepip" "install python3.12 and python3.12-venv, or set PYTHON"
    echo "bootstrap: making $venv with $("$python" -c 'import sys; print(sys.executable, sys.version.split()[0])')" >&2
    "$python" -m venv --clear "$venv"
fi

# The lock says which versions; which packages is said by pyproject.toml alone.
"$venv/bin/python" -m pip --disable-pip-version-check install --quiet --editable ".[$extras]" --constraint requirements.lock
