#!/usr/bin/env python3
"""Geodesics and Voronoi regions on a surface: which of some sites is nearest along the surface, and the shortest ways."""

import numpy as np
from figure import arguments, draw_surface, plt, save

import isochron

args = arguments(__doc__, "geodesics.png", mesh="a surface of your own (.ply, .obj, .stl, .vtp, ...)")

if args.mesh:
    surface = isochron.read(args.mesh)
else:
    # A sphere that is pushed in and out, so that shortest ways are no circles.
    surface = isochron.generate.sphere(24 if args.quick else 110)
    x, y, z = surface.points.T
    surface.points *= (1 + 0.18 * np.sin(3 * x + 1) * np.cos(4 * y) + 0.12 * np.cos(5 * z))[:, None]

# Sites far from one another: each next one is the point that is farthest from those before.
sites = [0]
solver = isochron.Solver(surface, verify=True)
while len(sites) < 12:
    arrival = solver.solve(sites)
    sites.append(int(np.argmax(np.where(arrival.reached, arrival.times, -1))))
arrival = solver.solve(sites)
print(arrival)
assert arrival.converged

# arrival.source is the Voronoi region, arrival.times the distance to its site.
area = np.linalg.norm(np.cross(*(surface.points[surface.cells[:, k]] - surface.points[surface.cells[:, 0]] for k in (1, 2))), axis=1) / 2
regions = np.bincount(arrival.source[surface.cells[:, 0]], weights=area, minlength=len(sites))
print("areas of the regions:", np.round(regions, 3))

# Shortest ways from everywhere to one site, and the distances between all sites.
first = solver.solve([sites[0]])
ways = isochron.trace_path(first, np.array(sites[1:]))
between = solver.distance_matrix(sites, sites)
assert np.allclose(between, between.T, rtol=0.02, atol=1e-9)
difference = np.array([way.length for way in ways]) / between[0, 1:] - 1
print(f"ways against distances: {100 * difference.min():.2f} to {100 * difference.max():.2f} %")
assert np.abs(difference).max() < 0.04

figure, axes = plt.subplots(1, 3, figsize=(13, 4), constrained_layout=True)
colours, _ = draw_surface(axes[0], surface.points, surface.cells, arrival.source[surface.cells[:, 0]].astype(float), bands=12, cmap="tab20", limits=(-0.5, 11.5))
axes[0].set_title("Voronoi regions of 12 sites")
colours, project = draw_surface(axes[1], surface.points, surface.cells, first.times)
for way in ways:
    axes[1].plot(*project(way.points).T, color="black", linewidth=1.2)
axes[1].set_title("shortest ways to one site")
figure.colorbar(colours, ax=axes[1], label="distance", shrink=0.7, format="%.3g")
shown = axes[2].imshow(between)
axes[2].set_title("distances between the sites")
figure.colorbar(shown, ax=axes[2], shrink=0.7, format="%.3g")
save(figure, args.output)
