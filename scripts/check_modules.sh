#!/usr/bin/env bash
# Checks that the modules of src/isochron include only the modules below them (see CONTRIBUTING.md).
set -euo pipefail
cd "$(dirname "$0")/../src/isochron"

# What each module may include, besides itself.
declare -A below=(
  [core]=""
  [comm]="core"
  [mesh]="core"
  [dist]="core comm mesh"
  [generate]="core mesh comm dist"
  [io]="core comm mesh dist"
  [metric]="core mesh"
  [draw]="core mesh"
  [local]="core"
  [solve]="core comm mesh dist metric local"
  [papers]="core mesh dist metric local solve"
  [trace]="core mesh metric local solve"
  [connect]="core mesh metric local solve trace"
  [surface]="core mesh metric local solve"
)
wrong=0
complain() {
  echo "$1" >&2
  wrong=$((wrong + 1))
}

# Prints file:line:path for every quoted include in the given files and folders.
quoted_includes() {
  grep -rnE --include='*.h' --include='*.cpp' --include='*.cu' '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$@" |
    sed -E 's/^([^:]*:[0-9]+):[^"]*"([^"]*)".*/\1:\2/' || true
}

for folder in */; do
  module=${folder%/}
  if [[ -z ${below[$module]+known} ]]; then
    complain "src/isochron/$module: not a known module; add it to scripts/check_modules.sh"
    continue
  fi
  while IFS=: read -r file line path; do
    if [[ ! $path =~ ^isochron/([a-z_]+)/ ]]; then
      complain "src/isochron/$file:$line: \"$path\" is not written from the root, as \"isochron/module/file.h\""
      continue
    fi
    target=${BASH_REMATCH[1]}
    from=$module
    [[ $file == mesh/generate/* ]] && from=generate
    [[ " $from $module ${below[$from]} " == *" $target "* ]] || complain "src/isochron/$file:$line: $from must not include $target"
    # The library does not know that examples can be generated, nor serial code that there are ranks.
    for inner in mesh/generate solve/ranks; do
      if [[ $path == isochron/$inner/* && $file != $inner/* ]]; then
        complain "src/isochron/$file:$line: only $inner may include $inner"
      fi
    done
  done < <(quoted_includes "$module")
done

# These headers are compiled by nvcc too, which chokes on the big libraries.
while IFS=: read -r file line text; do
  complain "src/isochron/$file:$line: headers of core and local must do without ${text#*include }"
done < <(find core local -name '*.h' -exec grep -nHE '#[[:space:]]*include[[:space:]]*<(fmt|nlohmann)/' {} + || true)

if ((wrong > 0)); then
  echo "check_modules: $wrong wrong includes" >&2
  exit 1
fi
echo "check_modules: all includes point down"
