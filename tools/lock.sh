#!/bin/sh
# Write requirements.lock anew: the newest versions that satisfy pyproject.toml, resolved as if nothing were installed.
# Usage: tools/lock.sh [FOLDER]     FOLDER is a virtual environment, .venv by default
set -eu

cd "$(dirname "$0")/.."
python=${1:-.venv}/bin/python
extras=dev,eval,numba
report=$(mktemp)
trap 'rm -f "$report" requirements.lock.new' EXIT

"$python" -m pip --disable-pip-version-check install --quiet --dry-run --ignore-installed \
    --report "$report" --editable ".[$extras]"

# Names and versions only: where a package comes from is the business of whoever installs it.
"$python" - "$report" >requirements.lock.new <<'EOF'
import json
import sys

with open(sys.argv[1], encoding="utf-8") as stream:
    found = [item["metadata"] for item in json.load(stream)["install"]]
pins = {item["name"].lower().replace("_", "-"): item["version"] for item in found}
pins.pop("compute-eval-sdk")
print("# Made by tools/lock.sh (make lock).")
print("\n".join(f"{name}=={version}" for name, version in sorted(pins.items())))
EOF
mv requirements.lock.new requirements.lock
