#!/usr/bin/env bash
# How a heartbeat spreads: makes a ventricle with fibres, solves for the activation times on all cores, draws isochrones.
#
#   scripts/demo.sh [BUILD_FOLDER]     results go to out/demo
set -euo pipefail
cd "$(dirname "$0")/.."

isochron=${1:-build/release}/bin/isochron
out=out/demo
mkdir -p "$out"

echo "== A ventricle of tetrahedra with a fibre in each"
"$isochron" generate ventricle --elements 500000 -o "$out/mesh.vtu" --force

echo
echo "== Activation from a stimulus in the side wall: 0.6 mm/ms along the fibres, 0.25 mm/ms across"
"$isochron" solve "$out/mesh.vtu" -o "$out/ventricle.vtu" --force --verify \
  --fibers fiber --velocity 0.6,0.25 --source-point 14,14,-10 \
  --picture "$out/ventricle.png" --picture-title "Activation of a left ventricle" --picture-units ms \
  --picture-cut 0,0,0,0,-1,0 --picture-view 0.5,-2.2,1

echo
echo "The mesh with its arrival times: $out/ventricle.vtu (open it in ParaView)"
echo "A picture with isochrones:       $out/ventricle.png"
echo "In the browser, by clicking:     $isochron view $out/ventricle.vtu"
