#!/usr/bin/env python3
"""From an image volume to a surface of well-shaped triangles, to tetrahedra, to arrival times in them."""

import numpy as np
from figure import arguments, draw_surface, plt, save

import isochron

args = arguments(__doc__, "volume_to_arrival.png", volume="a volume of your own (.nii.gz, .nrrd, ...)", isovalue="where its surface is")

if args.volume:
    volume = isochron.read(args.volume)
    values, grid, isovalue = volume.data, volume.grid, float(args.isovalue)
else:
    # A closed chamber in a ring, as a scanner would see it.
    phantom = isochron.generate.phantom(24 if args.quick else 56)
    values, grid, isovalue = phantom["density"], phantom.grid, 50.0

surface = isochron.extract_surface(values, isovalue, grid=grid)
edges = surface.points[surface.cells] - np.roll(surface.points[surface.cells], 1, axis=1)
length = np.linalg.norm(edges, axis=2)
area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) / 2
# Twice the inscribed circle's radius over that around the triangle: 1 for equilateral ones.
quality = 16 * area**2 / (length.prod(axis=1) * length.sum(axis=1))
print(f"{surface}: quality {quality.mean():.3f} on average, {quality.min():.2f} at worst")
assert quality.mean() > 0.9

tets = isochron.tetrahedralize(surface)
print(tets)
lowest = int(np.argmin(tets.points[:, 2]))
arrival = isochron.solve(tets, [lowest], verify=True)
print(arrival)
assert arrival.converged and arrival.reached.all()

figure, axes = plt.subplots(1, 3, figsize=(11, 4))
axes[0].imshow(values[:, :, values.shape[2] // 2].T, origin="lower", cmap="gray")
axes[0].set_title("a slice of the volume")
axes[0].axis("off")
axes[1].hist(quality, bins=40, color="tab:blue")
axes[1].set(xlabel="quality of the triangles", yticks=[], title=f"{len(surface.cells)} triangles")
on_surface = arrival.times[: len(surface.points)]
colours, _ = draw_surface(axes[2], surface.points, surface.cells, on_surface)
axes[2].set_title(f"arrival in {len(tets.cells)} tetrahedra")
figure.colorbar(colours, ax=axes[2], label="arrival time", shrink=0.7, format="%.3g")
save(figure, args.output)
