#!/usr/bin/env python3
"""The pathway between two regions of a diffusion-tensor image, and what it runs through."""

import numpy as np
from figure import arguments, plt, save

import isochron

args = arguments(
    __doc__,
    "brain_pathway.png",
    tensors="a tensor image of your own (.nii.gz, .nrrd)",
    mask="where its brain is",
    order="order of its six components: mrtrix, row, vtk or lower",
    source="X,Y,Z,RADIUS of one region, mm",
    target="X,Y,Z,RADIUS of the other",
)

if args.tensors:
    image = isochron.read(args.tensors)
    mask = isochron.read(args.mask).data > 0 if args.mask else None
    numbers = [[float(x) for x in text.split(",")] for text in (args.source, args.target)]
    source, target = (isochron.Sphere(x[:3], x[3]) for x in numbers)
else:
    # Two noisy bundles that cross at 60 degrees.
    image = isochron.generate.crossing_fibers((32, 32, 12) if args.quick else (72, 72, 24), noise=0.01)
    mask = image["mask"]
    middle = image.grid.position((np.array(image.grid.shape) - 1) / 2)
    reach = 0.44 * image.grid.shape[0] * image.grid.spacing[0]
    along = np.array([np.cos(np.pi / 6), np.sin(np.pi / 6), 0])
    source, target = isochron.Sphere(middle - reach * along, 5), isochron.Sphere(middle + reach * along, 5)

tracts = isochron.Tracts(image, mask=mask, alpha=3.0, tensor_order=args.order)
print("tensors:", tracts.counts)
found = tracts.connect(source, target, epsilon=0.05)
print(found, f"mean FA {found.mean_fa:.2f}")
assert found.pathway.any() and np.isfinite(found.least_cost)

grid = tracts.grid
middle = np.rint(grid.index(found.path.points[len(found.path) // 2])).astype(int)
figure, axes = plt.subplots(1, 3, figsize=(12, 3.8))
excess = 100 * (found.cost[:, :, middle[2]] / found.least_cost - 1)
picture = axes[0].imshow(excess.T, origin="lower", vmin=0, vmax=60, cmap="viridis_r")
figure.colorbar(picture, ax=axes[0], label="dearer than the best path (%)", shrink=0.8)
axes[0].plot(*grid.index(found.path.points)[:, :2].T, color="crimson")
axes[0].set_title("cost of paths through each voxel")
axes[1].imshow(found.pathway.sum(axis=2).T, origin="lower", cmap="magma")
axes[1].plot(*grid.index(found.path.points)[:, :2].T, color="white", linewidth=1)
axes[1].set_title(f"pathway, {int(found.pathway.sum())} voxels")
profile = found.profile
axes[2].plot(profile["distance"], profile["fa"], label="FA")
axes[2].plot(profile["distance"], profile["cost"] / found.least_cost, label="share of the cost")
axes[2].set(xlabel="distance along the path (mm)", ylim=(0, 1.05), title="along the path")
axes[2].legend()
figure.tight_layout()
save(figure, args.output)
