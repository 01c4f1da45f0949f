#!/usr/bin/env bash
# Solves random problems in every way that applies and compares the answers; on a machine with a GPU on that too. Builds
# without optional parts first. Ends with a table.
#
#   scripts/differential.sh [--cases N] [--seed S] [--seconds T] [--sanitize] [-o FOLDER]
#
#   --cases N     on one core each (200,000); over ranks, with threads and on the GPU a part of it
#   --seed S      another seed gives other cases (1)
#   --seconds T   for each stage at most (no limit)
#   --sanitize    with the address and undefined-behaviour sanitizers, without the GPU
#   -o FOLDER     for the logs (out/differential)
#
# BUILD names the build folder (build/differential, build/asan), JOBS the number of processes (all cores).
# Exit codes: 0 all passed, 1 something failed, 2 usage.
set -euo pipefail
cd "$(dirname "$0")/.."

cases=200000
seed=1
seconds=0
out=out/differential
sanitize=no
jobs=${JOBS:-$(nproc)}

fail() {
  echo "differential.sh: $1" >&2
  exit 2
}
while (($# > 0)); do
  case $1 in
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" && exit 0 ;;
    --cases | --seed | --seconds | -o) (($# > 1)) || fail "$1 needs a value" ;;&
    --cases) cases=$2 ;;
    --seed) seed=$2 ;;
    --seconds) seconds=$2 ;;
    -o) out=$2 ;;
    --sanitize)
      sanitize=yes
      shift
      continue
      ;;
    *) fail "unknown argument '$1'; see scripts/differential.sh --help" ;;
  esac
  shift 2
done

export PATH=$PATH:/usr/local/cuda/bin
gpu=$(timeout 60 nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d '. ') || gpu=""
mkdir -p "$out"
if [[ $sanitize == yes ]]; then
  gpu=""
  build=${BUILD:-build/asan}
  cmake --preset asan -B "$build" >"$out/configure.log" 2>&1
elif build=${BUILD:-build/differential} && [[ -n $gpu ]]; then
  cmake --preset cuda -B "$build" -DCMAKE_CUDA_ARCHITECTURES="$gpu" >"$out/configure.log" 2>&1
else
  cmake --preset bare -B "$build" >"$out/configure.log" 2>&1
fi || { tail -n 20 "$out/configure.log" >&2 && exit 1; }
cmake --build "$build" --parallel "$(nproc)" --target differential >"$out/build.log" 2>&1 ||
  { tail -n 20 "$out/build.log" >&2 && exit 1; }
echo "differential.sh: built in $SECONDS s"

rows=()
failures=0
stage() { # NAME CASES JOBS OPTIONS…
  local name=$1 count=$2 processes=$3 log="$out/$1.log" status=0
  shift 3
  "$build/tests/differential/differential" --cases "$count" --seed "$seed" --seconds "$seconds" --jobs "$processes" "$@" \
    >"$log" 2>"$out/$name.progress" </dev/null || status=$?
  rows+=("$(printf '%-10s %-7s %s' "$name" "$( ((status == 0)) && echo passed || echo failed)" "$(tail -n 1 "$log")")")
  echo "differential.sh: ${rows[-1]}"
  ((status == 0)) || { failures=$((failures + 1)) && grep -A1 '^case' "$log" | head -n 20 | cut -c 1-300; }
}
stage cpu "$cases" "$jobs"
stage ranks $((cases / 20)) $(((jobs + 3) / 4)) --ranks
stage threads $((cases / 100)) $(((jobs + 3) / 4)) --all-ways
if [[ -n $gpu ]]; then
  stage gpu $((cases / 10)) $((jobs < 8 ? jobs : 8)) --gpu
  stage gpu-ranks $((cases / 100)) 2 --gpu --ranks
else
  rows+=("gpu        skipped no GPU here, or not with sanitizers")
fi

echo
printf '%s\n' "${rows[@]}"
echo "logs: $out, $SECONDS s in all"
((failures == 0))
