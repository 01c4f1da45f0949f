#!/usr/bin/env bash
# Times Isochron beside what Debian packages of the field: CGAL's heat method and scikit-fmm. One thread.
#
#   bench/peers/run.sh [BUILD_FOLDER]     build/peers by default; SETUP=true skips the installation of packages
#
# CGAL's heat method is GPL and only used by a program of its own here; the Isochron library never links it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
case ${1:-} in
  -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" && exit 0 ;;
esac
build=${1:-$root/build/peers}

"${SETUP:-$root/scripts/setup.sh}" build peers
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{ cmake -S "$here" -B "$build" -G Ninja && cmake --build "$build"; } >"$log" 2>&1 || {
  tail -n 30 "$log" >&2
  echo "peers: the build failed; its last lines are above" >&2
  exit 1
}

export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
row() { printf '%-46s %9s %9s %12s %9s\n' "$@"; }
# Runs a program that prints one tab-separated line; one that fails or is missing shows dashes.
measure() {
  local name=$1 cells
  shift
  if IFS=$'\t' read -ra cells < <("$@") && ((${#cells[@]} == 5)); then row "${cells[@]}"; else row "$name" - - - -; fi
}
square=$build/isochron_square
cube=$build/isochron_cube
python=/usr/bin/python3 # Debian's own: another one first on PATH would not see Debian's modules

echo "Distance from the middle vertex of the 1024 x 1024 square (2,093,058 triangles, edges of length 1), one thread."
echo "CPU seconds; mean error against the exact distance, in edges; peak memory of the process, mesh included."
echo
row tool "set-up s" "solve s" "mean error" "peak MB"
measure "Isochron banded, single" "$square" banded single ball
measure "Isochron banded, single, plain" "$square" banded single plain
measure "Isochron banded, double" "$square" banded double ball
measure "Isochron fmm, single" "$square" fmm single ball
measure "CGAL heat method" "$build/cgal_heat" direct
measure "CGAL heat method, intrinsic Delaunay" "$build/cgal_heat" delaunay
measure "scikit-fmm, order 1" "$python" "$here/skfmm_grid.py" square 1
measure "scikit-fmm, order 2" "$python" "$here/skfmm_grid.py" square 2
cat <<'END'

scikit-fmm solves on the grid, not on the triangles: the same points and distances, another discretisation.

END

echo "Distance from the middle voxel of the isotropic 128 x 128 x 128 grid, one thread, double precision."
echo "CPU seconds; largest error against the exact distance, in sides of the cube; peak memory of the process."
echo
row tool "set-up s" "solve s" "max. error" "peak MB"
for order in 1 2; do
  for source in plain ball factored; do
    measure "Isochron, order $order, $source source" "$cube" "$order" "$source"
  done
  measure "scikit-fmm, order $order" "$python" "$here/skfmm_grid.py" cube "$order"
done
cat <<'END'

On the square, measured earlier, not rerun (not in Debian; one thread, CPU seconds of the solve, set-up apart; compare with care):
  geometry-central, fast marching on the surface     1.10   (852 MB)
  ttcr, sweeping                                     3.7
  fim-python                                        65
END
