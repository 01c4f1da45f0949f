#!/usr/bin/env bash
# Checks that the modules of src/isochron, and the public headers that belong to them, include only the modules below them
# (see CONTRIBUTING.md).
set -euo pipefail
cd "$(dirname "$0")/.."

# What each module may include, besides itself.
declare -A below=(
  [core]=""
  [comm]="core"
  [mesh]="core"
  [dist]="core comm mesh"
  [generate]="core mesh comm dist"
  [io]="core comm mesh dist"
  [metric]="core mesh"
  [draw]="core comm mesh dist io"
  [local]="core"
  [adjoint]="core mesh metric"
  [solve]="core comm mesh dist metric local adjoint"
  [papers]="core mesh dist metric local solve"
  [trace]="core mesh metric local solve"
  [connect]="core mesh metric local solve trace"
  [surface]="core mesh metric local solve"
  [invert]="core mesh metric adjoint solve"
)
# The public headers in include/isochron that each module has.
declare -A face=(
  [core]="device error progress types"
  [comm]="communicator"
  [mesh]="dataset image mesh mesh_quality"
  [dist]="partition parts"
  [generate]="generate"
  [io]="io"
  [metric]="diffusion metric metric_arrays"
  [draw]="draw"
  [adjoint]="linearization"
  [solve]="arrival capabilities domain options solver sources"
  [trace]="path"
  [connect]="connect"
  [surface]="surface tetrahedra"
  [invert]="invert"
)
declare -A module_of=()
for module in "${!face[@]}"; do
  for name in ${face[$module]}; do module_of[$name]=$module; done
done
wrong=0
complain() {
  echo "$1" >&2
  wrong=$((wrong + 1))
}

# Prints file:line:path for every quoted include in the given files and folders.
quoted_includes() {
  grep -rnHE --include='*.h' --include='*.cpp' --include='*.cu' '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$@" |
    sed -E 's/^([^:]*:[0-9]+):[^"]*"([^"]*)".*/\1:\2/' || true
}

# check_includes MODULE PATH…: what the files of a module include.
check_includes() {
  local module=$1 file line path target
  shift
  while IFS=: read -r file line path; do
    if [[ $path =~ ^isochron/([a-z_]+)\.h$ && -n ${module_of[${BASH_REMATCH[1]}]+known} ]]; then
      target=${module_of[${BASH_REMATCH[1]}]}
    elif [[ $path =~ ^isochron/([a-z_]+)/ ]]; then
      target=${BASH_REMATCH[1]}
      [[ $file != include/* ]] || complain "$file:$line: a public header must not include \"$path\", which is private"
    else
      complain "$file:$line: \"$path\" is not written from the root, as \"isochron/module/file.h\" or a public \"isochron/file.h\""
      continue
    fi
    [[ " $module ${below[$module]} " == *" $target "* ]] || complain "$file:$line: $module must not include $target"
    # Serial code does not know that there are ranks.
    if [[ $path == isochron/solve/ranks/* && $file != src/isochron/solve/ranks/* ]]; then
      complain "$file:$line: only solve/ranks may include solve/ranks"
    fi
  done < <(quoted_includes "$@")
}

for folder in src/isochron/*/; do
  module=$(basename "$folder")
  if [[ -z ${below[$module]+known} ]]; then
    complain "$folder: not a known module; add it to scripts/check_modules.sh"
  else
    check_includes "$module" "$folder"
  fi
done
for header in include/isochron/*; do
  name=$(basename "$header" .h)
  if [[ -z ${module_of[$name]+known} ]]; then
    complain "$header: of no known module; add it to scripts/check_modules.sh"
  else
    check_includes "${module_of[$name]}" "$header"
  fi
done

# These headers are compiled by nvcc too, which chokes on the big libraries.
while IFS=: read -r file line text; do
  complain "$file:$line: public headers and those of core and local must do without ${text#*include }"
done < <(find include src/isochron/core src/isochron/local -name '*.h' -exec grep -nHE '#[[:space:]]*include[[:space:]]*<(fmt|nlohmann)/' {} + || true)

if ((wrong > 0)); then
  echo "check_modules: $wrong wrong includes" >&2
  exit 1
fi
echo "check_modules: all includes point down"
