#!/usr/bin/env bash
# Runs clang-tidy on the named sources, or with --changed on those the last commit and the working tree changed.
#
#   scripts/tidy.sh [--changed] [--at-most N] [FILE…]
#
# Needs a configured build folder with a compile command for every source: BUILD (default build/tidy, which is configured
# where it is missing; a unity build has commands for its batches only).
set -euo pipefail
cd "$(dirname "$0")/.."
shopt -s nullglob

build=${BUILD:-build/tidy}
most=1000
files=()
while (($# > 0)); do
  case $1 in
    --changed)
      # A header is checked with its source. Without history (a shallow clone) a few modules stand for the rest.
      if git rev-parse -q --verify HEAD~1 >/dev/null 2>&1; then
        while IFS= read -r file; do [[ -f $file ]] && files+=("$file"); done < <(
          { git diff --name-only HEAD~1 && git ls-files --others --exclude-standard; } |
            sed -nE 's#^((src|apps|bench)/.*)\.(h|cpp)$#\1.cpp#p' | sort -u
        )
      else
        files+=(src/isochron/core/*.cpp src/isochron/solve/*.cpp)
      fi
      ;;
    --at-most) most=$2 && shift ;;
    *) files+=("$1") ;;
  esac
  shift
done

tidy=$(command -v clang-tidy-14 || command -v clang-tidy) || {
  echo "tidy: there is no clang-tidy; run scripts/setup.sh dev" >&2
  exit 1
}
[[ -n ${BUILD:-} ]] || cmake --preset tidy >/dev/null
[[ -f $build/compile_commands.json ]] || {
  echo "tidy: $build is not configured; run cmake --preset tidy" >&2
  exit 1
}
# Parts that this build leaves out (another project, an option that is off) have no compile command to check them with.
known=()
for file in "${files[@]}"; do
  if grep -qF "/$file\"" "$build/compile_commands.json"; then known+=("$file"); else echo "tidy: $build does not build $file"; fi
done
files=("${known[@]}")
if ((${#files[@]} > most)); then
  echo "tidy: checking the first $most of ${#files[@]} files"
  files=("${files[@]:0:most}")
fi
if ((${#files[@]} == 0)); then
  echo "tidy: no sources to check"
  exit 0
fi
printf '%s\n' "${files[@]}"
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" "$tidy" --quiet -p "$build" 2>&1 | sed "/warnings\? generated/d"
echo "tidy: ${#files[@]} files are clean"
