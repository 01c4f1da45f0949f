#!/usr/bin/env bash
# Measures the solver over MPI ranks on one machine and holds it against our aims.
#
#   scripts/bench_mpi.sh [--quick] [BINARY [RANKS…]]      build/release/bin/isochron on 1 2 4 8 16 ranks
#
# FOLDER (build/bench-mpi) gets the numbers of each run.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=()
if [[ ${1:-} == --quick ]]; then
  quick=(--quick)
  shift
fi
binary=${1:-build/release/bin/isochron}
shift || true
ranks=("${@:-1}")
(($# > 0)) || ranks=(1 2 4 8 16)
folder=${FOLDER:-build/bench-mpi}
mkdir -p "$folder"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

cores=$(nproc)
for n in "${ranks[@]}"; do
  # One rank has the machine for itself, threads too; several have a core each.
  binding=(--bind-to core)
  if ((n == 1)); then binding=(--bind-to none); fi
  if ((n > cores)); then binding=(--oversubscribe --bind-to none); fi
  mpirun "${binding[@]}" -n "$n" "$binary" bench goals-mpi "${quick[@]}" --json >"$folder/$n.json"
done

python3 - "$folder" "${ranks[@]}" <<'PYTHON'
import json, sys
folder, ranks = sys.argv[1], [int(n) for n in sys.argv[2:]]
runs = {}
for n in ranks:
    with open(f"{folder}/{n}.json") as file:
        runs[n] = {(e["row"], e["column"]): e.get("ours") for e in json.load(file)["entries"]}
rows = sorted({row for run in runs.values() for row, _ in run})
for row in rows:
    print(row)
    for column in dict.fromkeys(c for run in runs.values() for r, c in run if r == row):
        numbers = [runs[n].get((row, column)) for n in ranks]
        print(f"  {column:<28}" + "".join(f"{'' if v is None else f'{v:.4g}':>12}" for v in numbers))
failed = 0
def check(what, value, good, aim):
    global failed
    failed += not good
    print(f"{'ok    ' if good else 'MISSED'} {what}: {value:.2f} (aim {aim})")
last = max(ranks)
solve = {n: runs[n][("strong", "solve")] for n in ranks}
if last > 1:
    if 1 in runs:
        check(f"{last} ranks over one", solve[1] / solve[last], solve[1] / solve[last] >= 9 * last / 16, f"at least {9 * last / 16:g}")
        threads = [v for (row, column), v in runs[1].items() if row == "strong" and column == f"no ranks, {last} threads"]
        if threads:
            check(f"{last} ranks over {last} threads", solve[last] / threads[0], solve[last] <= 1.3 * threads[0], "at most 1.3")
        weak = runs[1][("weak", "solve")] / runs[last][("weak", "solve")]
        check("weak scaling", weak, weak >= 0.7, "at least 0.7")
    halo = runs[last][("strong", "bytes over least")]
    check("halo bytes over least", halo, halo <= 3, "at most 3")
    kept = runs[last][("strong", "elements kept over share")]
    check("elements kept over share", kept, kept <= 1.3, "at most 1.3")
sys.exit(failed > 0)
PYTHON
