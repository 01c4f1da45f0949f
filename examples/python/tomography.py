#!/usr/bin/env python3
"""Cross-hole tomography: speeds between boreholes from first arrivals, and how well a checkerboard comes back."""

import numpy as np
from figure import arguments, plt, save

import isochron

args = arguments(__doc__, "tomography.png", model="true speeds of your own in m/s: a .npy file of two dimensions, x and depth")

if args.model:
    true = np.load(args.model)
else:
    # Squares that are 10 % faster or slower than the ground around.
    n = 24 if args.quick else 64
    i, j = 6 * np.indices((n, n)) // n
    true = 2500.0 * (1 + 0.1 * (-1.0) ** (i + j))
grid = isochron.Grid(true.shape, spacing=2.0)  # m
width, depth = (np.array(grid.shape) - 1) * grid.spacing

# Shots down the left borehole, receivers down the right one and along the surface.
count = 16 if args.quick else 32
shots = np.column_stack([np.zeros(count), np.linspace(0, depth, count)])
right = np.column_stack([np.full(count, width), np.linspace(0, depth, count)])
top = np.column_stack([np.linspace(0, width, count), np.zeros(count)])
receivers = np.vstack([right, top])
noise = 1e-4  # s
arrivals = isochron.solve_many(grid, shots[:, None], speed=true, source_init="plain")  # as `invert` does
times = np.array([arrival.at(receivers) for arrival in arrivals])
times += np.random.default_rng(1).normal(scale=noise, size=times.shape)

# From one speed everywhere, until the times fit as well as they were measured.
found = isochron.invert(grid, receivers, times, shots, speed=float(true.mean()), noise=noise, smoothing=1.0)
print(found)
assert args.model or found.end == "noise-level"

figure, axes = plt.subplots(1, 3, figsize=(13, 4), constrained_layout=True)
limits = {"vmin": true.min(), "vmax": true.max(), "cmap": "RdBu", "extent": (0, width, depth, 0)}
for ax, speed, title in zip(axes, (true, found.speed), ("true speed", "speed from first arrivals")):
    shown = ax.imshow(speed.T, **limits)
    ax.plot(*shots.T, "*", color="black", markersize=7, clip_on=False)
    ax.plot(*receivers.T, "v", color="dimgray", markersize=4, clip_on=False)
    ax.set(xlabel="x (m)", ylabel="depth (m)", title=title)
figure.colorbar(shown, ax=axes[1], label="speed (m/s)")
axes[2].plot([1e3 * step.misfit for step in found.steps], "o-", color="black")
axes[2].axhline(1e3 * noise, color="crimson", linestyle="--", label="noise")
axes[2].set(xlabel="step", ylabel="misfit (ms)", title="root mean square of the differences", ylim=0)
axes[2].legend()
save(figure, args.output)
