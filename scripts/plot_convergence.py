#!/usr/bin/env python3
"""Draws error over edge length, both logarithmic, from the CSV file of `isochron bench 000-figure-3.3`.

    isochron bench 000-figure-3.3 -o out/figure
    scripts/plot_convergence.py out/figure/000-figure-3.3.csv docs/pictures/convergence.svg

Rows are called "N x N" (vertices of a square with sides of 16); columns that end in "order" are left out. A file from a
quick run is refused: its meshes are too coarse to show an order.
"""
import csv
import math
import sys
from html import escape

SIDE = 16.0  # of the square
FINE = 0.5  # edges below this one show the order
WIDTH, HEIGHT = 760, 520
LEFT, RIGHT, TOP, BOTTOM = 78, 232, 56, 62
COLORS = ["#1b6ca8", "#c2571a", "#2f8f4e", "#8a4fa3", "#6b6b6b", "#b0305c"]
MARKERS = ["circle", "square", "diamond", "triangle"]


def read_series(path):
    """Column name -> [(edge, error)], coarse to fine."""
    series = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["column"].endswith("order") or not row["ours"]:
                continue
            vertices = int(row["row"].split()[0])
            series.setdefault(row["column"], []).append((SIDE / (vertices - 1), float(row["ours"])))
    return series


class Axis:
    """Maps the logarithm of a value to pixels."""

    def __init__(self, values, start, end):
        self.low, self.high = math.log10(min(values)) - 0.08, math.log10(max(values)) + 0.08
        self.start, self.end = start, end

    def __call__(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self):
        """(value, label) at 1, 2 and 5 times the powers of ten; only the powers have labels when there are many."""
        decades = range(math.floor(self.low), math.ceil(self.high) + 1)
        inside = [m * 10.0**k for k in decades for m in (1, 2, 5) if self.low <= math.log10(m * 10.0**k) <= self.high]
        few = len(inside) <= 8
        return [(v, f"{v:g}" if few or round(math.log10(v), 6).is_integer() else "") for v in inside]


def text(x, y, words, anchor="start", size=13, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" {more}>{escape(words)}</text>'


def page(width, height, x, y, title):
    """The first lines of a picture."""
    return [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'font-family="sans-serif" fill="#222">', f'<rect width="{width}" height="{height}" fill="white"/>',
            text(x, y, title, size=15)]


def save(drawn):
    """Writes a picture that was drawn before its file is opened: a failure leaves none."""
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("\n".join([*drawn, "</svg>"]) + "\n")


def marker(kind, x, y, color):
    r = 4.2
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" fill="{color}"/>'
    if kind == "square":
        return f'<rect x="{x - r:.1f}" y="{y - r:.1f}" width="{2 * r}" height="{2 * r}" fill="{color}"/>'
    corners = {"diamond": [(0, -5.4), (5.4, 0), (0, 5.4), (-5.4, 0)], "triangle": [(0, -5.2), (5, 4), (-5, 4)]}[kind]
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}" fill="{color}"/>'


def draw_axes(out, x_axis, y_axis):
    x0, x1, y0, y1 = LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM, TOP
    for value, label in x_axis.ticks():
        x = x_axis(value)
        out.append(f'<line x1="{x:.1f}" y1="{y0}" x2="{x:.1f}" y2="{y1}" stroke="#e4e4e4"/>')
        out.append(text(x, y0 + 18, label, "middle", 12))
    for value, label in y_axis.ticks():
        y = y_axis(value)
        out.append(f'<line x1="{x0}" y1="{y:.1f}" x2="{x1}" y2="{y:.1f}" stroke="#e4e4e4"/>')
        out.append(text(x0 - 8, y + 4, label, "end", 12))
    out.append(f'<rect x="{x0}" y="{y1}" width="{x1 - x0}" height="{y0 - y1}" fill="none" stroke="#555"/>')
    out.append(text((x0 + x1) / 2, HEIGHT - 16, "edge length", "middle"))
    middle = (y0 + y1) / 2
    out.append(text(20, middle, "root mean square error", "middle", 13, f'transform="rotate(-90 20 {middle:.1f})"'))


def draw_first_order(out, x_axis, y_axis, edges, errors):
    """A dashed line of slope 1 below what the curves are on fine meshes."""
    scale = 0.55 * min(error / edge for edge, error in zip(edges, errors) if edge < FINE)
    low, high = min(edges), max(edges)
    bottom = 10**y_axis.low / scale
    low = max(low, bottom)
    out.append(f'<line x1="{x_axis(low):.1f}" y1="{y_axis(scale * low):.1f}" x2="{x_axis(high):.1f}" '
               f'y2="{y_axis(scale * high):.1f}" stroke="#888" stroke-width="1.4" stroke-dasharray="6 5"/>')


def picture(series):
    edges = [edge for points in series.values() for edge, _ in points]
    errors = [error for points in series.values() for _, error in points]
    x_axis = Axis(edges, LEFT, WIDTH - RIGHT)
    y_axis = Axis(errors, HEIGHT - BOTTOM, TOP)
    out = page(WIDTH, HEIGHT, LEFT, 30, "Error over edge length: two sources in a square with sides of 16")
    draw_axes(out, x_axis, y_axis)
    draw_first_order(out, x_axis, y_axis, edges, errors)
    legend_x, legend_y = WIDTH - RIGHT + 16, TOP + 14
    for i, (name, points) in enumerate(series.items()):
        color, kind = COLORS[i % len(COLORS)], MARKERS[i % len(MARKERS)]
        path = " ".join(f"{x_axis(edge):.1f},{y_axis(error):.1f}" for edge, error in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        out += [marker(kind, x_axis(edge), y_axis(error), color) for edge, error in points]
        y = legend_y + 24 * i
        out.append(f'<line x1="{legend_x}" y1="{y}" x2="{legend_x + 24}" y2="{y}" stroke="{color}" stroke-width="2"/>')
        out += [marker(kind, legend_x + 12, y, color), text(legend_x + 32, y + 4, name)]
    y = legend_y + 24 * len(series)
    out.append(f'<line x1="{legend_x}" y1="{y}" x2="{legend_x + 24}" y2="{y}" stroke="#888" stroke-width="1.4" '
               'stroke-dasharray="6 5"/>')
    return [*out, text(legend_x + 32, y + 4, "first order")]


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: plot_convergence.py IN.csv OUT.svg")
    series = read_series(sys.argv[1])
    if not series:
        sys.exit(f"{sys.argv[1]}: no errors in it; give the CSV file of 'isochron bench 000-figure-3.3'")
    if not any(edge < FINE for points in series.values() for edge, _ in points):
        sys.exit(f"{sys.argv[1]}: its meshes are too coarse to show an order (a quick run?); "
                 "run 'isochron bench 000-figure-3.3' without --quick")
    save(picture(series))


if __name__ == "__main__":
    main()
