#!/usr/bin/env bash
# Measures the solver over MPI ranks on one machine and holds it against our aims.
#
#   scripts/bench_mpi.sh [--quick] [BINARY [RANKS[xTHREADS]…]]      build/release/bin/isochron, 1 4 16
#
# FOLDER (build/bench-mpi) gets the numbers of each run, and all of them as runs.csv for `isochron bench scale --runs`.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=()
if [[ ${1:-} == --quick ]]; then
  quick=(--quick)
  shift
fi
binary=${1:-build/release/bin/isochron}
shift || true
runs=("${@:-1}")
(($# > 0)) || runs=(1 4 16)
folder=${FOLDER:-build/bench-mpi}
mkdir -p "$folder"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

for run in "${runs[@]}"; do
  team=()
  if [[ $run == *x* ]]; then team=(--threads "${run#*x}"); fi
  # Rank 0 sets up on all cores; for the solve each rank takes cores of its own.
  mpirun --bind-to none --oversubscribe -n "${run%x*}" "$binary" bench goals-mpi "${quick[@]}" "${team[@]}" --json \
    -o "$folder/$run" >"$folder/$run.json"
  if [[ $run != *x* ]]; then cat "$folder/$run/goals-mpi-runs.csv"; fi
done | awk 'NR == 1 || !/^mesh,/' >"$folder/runs.csv"

python3 - "$folder" "${runs[@]}" <<'PYTHON'
import json, sys
folder, names = sys.argv[1], sys.argv[2:]
runs = {}
for name in names:
    with open(f"{folder}/{name}.json") as file:
        runs[name] = {(e["row"], e["column"]): e.get("ours") for e in json.load(file)["entries"]}
print(f"{'':<30}" + "".join(f"{name:>12}" for name in names))
for row in sorted({row for run in runs.values() for row, _ in run}):
    print(row)
    for column in dict.fromkeys(c for run in runs.values() for r, c in run if r == row):
        numbers = [runs[name].get((row, column)) for name in names]
        print(f"  {column:<28}" + "".join(f"{'' if v is None else f'{v:.4g}':>12}" for v in numbers))
failed = 0
def check(what, value, good, aim):
    global failed
    failed += not good
    print(f"{'ok    ' if good else 'MISSED'} {what}: {value:.2f} (aim {aim})")
def cores(name):
    ranks, _, threads = name.partition("x")
    return int(ranks) * int(threads or 1)
most = max(cores(name) for name in names)
for name in names:
    run = runs[name]
    if cores(name) < most or most == 1:
        continue
    one = runs.get("1", {})
    for how in ("", ", by messages"):
        strong, weak, label = "strong" + how, "weak" + how, name + how
        if (strong, "solve") not in run:
            continue
        solve = run[(strong, "solve")]
        if solve is None:
            check(f"{label}: passes the residual check", 0, False, 1)
            continue
        if one.get(("strong", "solve")):
            gain = one[("strong", "solve")] / solve
            check(f"{label} over one rank", gain, gain >= 9 * most / 16, f"at least {9 * most / 16:g}")
            threads = one.get(("strong", f"no ranks, {most} threads"))
            if threads:
                check(f"{label} over {most} threads", solve / threads, solve <= 1.3 * threads, "at most 1.3")
            if "x" not in name:
                ratio = run[(weak, "weak scaling")] or 0
                check(f"{label}: weak scaling", ratio, ratio >= 0.7, "at least 0.7")
        halo = run[(strong, "bytes over least")]
        check(f"{label}: halo bytes over least", halo, halo <= 3, "at most 3")
        kept = run.get((strong, "elements kept over share"))
        if kept is not None:
            check(f"{label}: elements kept over share, the largest", kept, kept <= 1.3, "at most 1.3")
        setup = sum(run.get((strong, column), 0) for column in ("generate", "deal", "scatter", "set-up"))
        check(f"{label}: seconds of set-up", setup, setup < 15, "below 15")
    if one and "x" not in name:
        copies = run[("weak", "copies side by side")]
        alone = run[("weak", "one rank in turn with it")]
        if alone and copies:
            print(f"       copies side by side, without a message: {alone / copies:.2f}")
sys.exit(failed > 0)
PYTHON
