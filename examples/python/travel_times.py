#!/usr/bin/env python3
"""Travel times and rays in a velocity model of the underground, such as Marmousi."""

import numpy as np
from figure import arguments, plt, save

import isochron

args = arguments(__doc__, "travel_times.png", marmousi="the Marmousi P velocities: raw float32 in km/s, 1601 traces of 401 depths")

if args.marmousi:
    speed = 1000 * np.fromfile(args.marmousi, dtype="<f4").reshape(1601, 401)  # the file has km/s
    grid = isochron.Grid(speed.shape, spacing=5.0)  # m; axis 0 is x, axis 1 the depth
else:
    # Waving layers over a body of salt; in m/s.
    shape = (121, 41) if args.quick else (601, 201)
    model = isochron.generate.layers(shape, spacing=10.0, layers=14, relief=0.8, seed=3)
    salt = isochron.generate.salt(shape, spacing=10.0, seed=5)
    speed = np.where(salt["salt"] > 0, 4700.0, model["speed"])
    grid = model.grid

# A shot near the surface between two samples: it is not moved to the nearest one.
width, depth = (np.array(grid.shape) - 1) * grid.spacing
shot = [0.31 * width, 0.02 * depth]
arrival = isochron.solve(grid, sources=[shot], speed=speed, order=2, verify=True)
print(arrival)
assert arrival.converged

# Rays to a line of receivers at the bottom, and one record along the surface.
receivers = np.column_stack([np.linspace(0.05, 0.95, 19) * width, np.full(19, 0.98 * depth)])
rays = isochron.trace_path(arrival, receivers)
assert all(np.hypot(*(ray.points[-1] - shot)) < 1e-6 * width for ray in rays)
offsets = grid.points()[:, 0, 0] - shot[0]

figure, axes = plt.subplots(2, 1, figsize=(9, 6), height_ratios=(2.4, 1))
extent = (0, width / 1000, depth / 1000, 0)
picture = axes[0].imshow(speed.T, extent=extent, aspect="auto", cmap="gray_r")
figure.colorbar(picture, ax=axes[0], label="speed (m/s)")
points = grid.points() / 1000
axes[0].contour(points[..., 0], points[..., 1], arrival.times, levels=24, cmap="viridis", linewidths=1)
for ray in rays:
    axes[0].plot(*(ray.points.T / 1000), color="crimson", linewidth=0.8)
axes[0].plot(shot[0] / 1000, shot[1] / 1000, "*", color="crimson", markersize=12)
axes[0].set(xlabel="x (km)", ylabel="depth (km)", title="isochrones and rays")
axes[1].plot(offsets / 1000, arrival.times[:, 0], color="black")
axes[1].invert_yaxis()
axes[1].set(xlabel="offset (km)", ylabel="first arrival (s)")
figure.tight_layout()
save(figure, args.output)
