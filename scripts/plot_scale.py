#!/usr/bin/env python3
"""Draws efficiency over cores and over parts a rank from the file `scale-grid.csv` of `isochron bench scale`.

    isochron bench scale -o out/scale
    scripts/plot_scale.py out/scale/scale-grid.csv docs/pictures/scale.svg
"""
import csv
import math
import sys

from plot_convergence import COLORS, MARKERS, marker, page, save, text

WIDTH, HEIGHT = 980, 430
PANELS = {"cores": (70, 440), "parts": (560, 930)}
TOP, BOTTOM = 64, 372
MESH = "ventricle"
SIZES = ["1e+09", "1e+10", "1e+11"]


def read_rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["mesh"] == MESH and row["rule"] == "flow"]


def best(rows, **wanted):
    """The highest efficiency among rows with these values, within 30 % of ghosts where there is one; None without."""
    fit = [r for r in rows if all(r[k] == v for k, v in wanted.items())]
    lean = [r for r in fit if float(r["halo"]) <= 0.3]
    return max((float(r["efficiency"]) for r in lean or fit), default=None)


def over_cores(rows):
    """Name -> [(cores, efficiency)]."""
    cores = sorted({r["cores"] for r in rows if r["elements"] in SIZES}, key=int)
    series = {}
    for size in SIZES:
        for deal, threads, name in [("curve", "1", "curve"), ("arrival", "1", "arrival"), ("arrival", "16", "arrival, teams")]:
            points = [(int(c), best(rows, elements=size, cores=c, deal=deal, threads=threads)) for c in cores]
            series[f"{size.replace('e+0', 'e').replace('e+', 'e')} {name}"] = [p for p in points if p[1] is not None]
    return series


def over_parts(rows, size="1e+10", cores="1000"):
    series = {}
    for deal in ("curve", "arrival"):
        chosen = [r for r in rows if r["elements"] == size and r["cores"] == cores and r["threads"] == "1"
                  and r["deal"] == deal and r["band_width"] == "1"]
        series[deal] = sorted((int(r["parts_per_rank"]), float(r["efficiency"])) for r in chosen)
    return series


def panel(out, name, title, axis, series, base):
    """One set of axes: x logarithmic to a base, y from 0 to 100 %."""
    left, right = PANELS[name]
    values = [x for points in series.values() for x, _ in points]
    low, high = math.log(min(values), base), math.log(max(values), base)

    def place(x, y):
        return left + 8 + (math.log(x, base) - low) / max(high - low, 1e-9) * (right - left - 16), BOTTOM - y * (BOTTOM - TOP)

    out.append(text(left, TOP - 14, title, size=14))
    for y in range(0, 101, 20):
        level = place(min(values), y / 100)[1]
        out.append(f'<line x1="{left}" y1="{level:.1f}" x2="{right}" y2="{level:.1f}" stroke="#e4e4e4"/>')
        out.append(text(left - 8, level + 4, f"{y} %", "end", 12))
    for x in sorted(set(values)):
        out.append(text(place(x, 0)[0], BOTTOM + 18, f"{x:g}", "middle", 12))
    out.append(text((left + right) / 2, BOTTOM + 40, axis, "middle"))
    out.append(f'<rect x="{left}" y="{TOP}" width="{right - left}" height="{BOTTOM - TOP}" fill="none" stroke="#555"/>')
    for i, (label, points) in enumerate(series.items()):
        color, kind = COLORS[i // 3 if len(series) > 3 else i], MARKERS[i % 3]
        dash = {0: "2 4", 1: "", 2: "8 4"}[i % 3] if len(series) > 3 else ""
        path = " ".join("{:.1f},{:.1f}".format(*place(x, y)) for x, y in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2" stroke-dasharray="{dash}"/>')
        out += [marker(kind, *place(x, y), color) for x, y in points]
        column, line = divmod(i, 5)
        x, y = right - (300 if len(series) > 5 else 150) + 150 * column, TOP + 18 + 18 * line
        out += [marker(kind, x, y - 4, color), text(x + 10, y, label, size=11)]


def picture(rows):
    out = page(WIDTH, HEIGHT, 70, 26, "Simulated solves of the ventricle, one source: efficiency of all cores")
    panel(out, "cores", "best number of parts and width of bands", "cores", over_cores(rows), 10)
    panel(out, "parts", "1e10 tetrahedra, 1000 cores, bands of one edge", "parts a rank", over_parts(rows), 4)
    return out


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: plot_scale.py IN.csv OUT.svg")
    rows = read_rows(sys.argv[1])
    if not any(r["elements"] == "1e+10" for r in rows):
        sys.exit(f"{sys.argv[1]}: no large meshes in it (a quick run?); run 'isochron bench scale' without --quick")
    save(picture(rows))


if __name__ == "__main__":
    main()
