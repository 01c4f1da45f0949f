#!/usr/bin/env bash
# Formats every C++ and CUDA source in place; with --check only complains about those that are not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."

# Versions format differently: 14 is the one that counts.
formatter=$(command -v clang-format-14 || command -v clang-format) || {
  echo "format: there is no clang-format; run scripts/setup.sh dev" >&2
  exit 1
}
mode=(-i)
[[ ${1:-} == --check ]] && mode=(--dry-run -Werror)

folders=()
for folder in include src apps bench tests examples python; do
  [[ -d $folder ]] && folders+=("$folder")
done
find "${folders[@]}" -name node_modules -prune -o -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' \) -print0 |
  xargs -0 --no-run-if-empty "$formatter" --style=file "${mode[@]}"
