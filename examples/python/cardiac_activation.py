#!/usr/bin/env python3
"""Activation of a left ventricle: fibres, conduction velocities, and several stimuli that start one after another."""

import numpy as np
from figure import arguments, boundary, draw_surface, plt, save

import isochron

args = arguments(__doc__, "cardiac_activation.png")

# A ventricle in mm with a fibre and a sheet direction in each tetrahedron. With a mesh of your own:
# heart = isochron.read("heart.vtu"), and its own name instead of "fiber".
heart = isochron.generate.ventricle(elements=8000 if args.quick else 400_000)

# Early sites on the inner surface, as the ends of a conduction system have them, with onset times in ms.
endocardium = np.flatnonzero(heart.point_data["transmural"] < 0.01)
height = heart.point_data["apicobasal"][endocardium]
angle = np.arctan2(heart.points[endocardium, 1], heart.points[endocardium, 0])
sites = [(0.30, -2.4, 0.0), (0.35, 0.4, 2.0), (0.45, 2.1, 5.0), (0.55, -0.9, 8.0)]
stimuli = [endocardium[np.argmin((height - h) ** 2 + 0.1 * (angle - a) ** 2)] for h, a, _ in sites]
onsets = [onset for _, _, onset in sites]

# Velocities in mm/ms (= m/s): along the fibre, along the sheet, across both.
solver = isochron.Solver(
    heart,
    fibers=heart.cell_data["fiber"],
    sheets=heart.cell_data["sheet"],
    velocity=(0.6, 0.4, 0.2),
    verify=True,
)
arrival = solver.solve(stimuli, onsets)
print(arrival)
assert arrival.converged and arrival.reached.all()

# What one of the sites does alone: the same solver, nothing of the mesh is prepared again.
alone = solver.solve(stimuli[:1])
print(f"all {len(stimuli)} sites: {arrival.times.max():.0f} ms, the first alone: {alone.times.max():.0f} ms")
# More sites are never later, but for the error of a coarse mesh: of several sites each has a smaller ball.
assert (arrival.times <= alone.times + 0.15 * alone.times.max()).all()

surface = boundary(heart.cells)
figure, axes = plt.subplots(1, 3, figsize=(11, 4.2))
limits = (0.0, float(alone.times.max()))
for ax, times, title in ((axes[0], arrival.times, f"{len(stimuli)} sites"), (axes[1], alone.times, "one site")):
    colours, _ = draw_surface(ax, heart.points, surface, times, limits=limits)
    ax.set_title(title)
figure.colorbar(colours, ax=axes[:2], label="activation time (ms)", shrink=0.8, format="%.3g")
axes[2].hist([arrival.times, alone.times], bins=30, label=[f"{len(stimuli)} sites", "one site"])
axes[2].set(xlabel="activation time (ms)", ylabel="vertices", yticks=[])
axes[2].legend()
save(figure, args.output)
