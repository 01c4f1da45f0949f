"""What the example scripts share: their arguments and the drawing of surfaces in space."""

import argparse

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot as plt


def arguments(description, figure, **more):
    """-o FIGURE and --quick, which makes everything small; `more` maps further flags to their help."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("-o", "--output", default=figure, help=f"the figure ({figure})")
    parser.add_argument("--quick", action="store_true", help="a small case, for a test")
    for flag, text in more.items():
        parser.add_argument(f"--{flag}", help=text)
    return parser.parse_args()


def boundary(cells):
    """The triangles that belong to one tetrahedron only."""
    faces = np.concatenate([cells[:, [1, 2, 3]], cells[:, [0, 3, 2]], cells[:, [0, 1, 3]], cells[:, [0, 2, 1]]])
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return faces[first[count == 1]]


def draw_surface(ax, points, triangles, values, view=(-60, 20), bands=20, cmap="viridis", limits=None):
    """Triangles seen from a direction (azimuth, elevation), coloured by their values or those of their points; those
    behind are covered by those before. Returns the mapping of colours, for a colour bar, and a function that says where
    points are seen."""
    azimuth, elevation = np.deg2rad(view)
    forward = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0])
    axes = np.stack([right, np.cross(forward, right), forward]).T
    seen = points @ axes
    corners = points[triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    order = np.argsort(seen[triangles, 2].mean(axis=1))
    facing = order[(normal @ forward)[order] > 0]
    light = np.abs(normal[facing] @ (forward + 0.4 * right)) / np.linalg.norm(normal[facing], axis=1)
    colours = matplotlib.colormaps[cmap]
    norm = matplotlib.colors.BoundaryNorm(np.linspace(*(limits or (values.min(), values.max())), bands + 1), colours.N)
    of_triangles = values[facing] if len(values) == len(triangles) else values[triangles[facing]].mean(axis=1)
    face = colours(norm(of_triangles))
    face[:, :3] *= (0.55 + 0.45 * np.clip(light, 0, 1))[:, None]
    drawn = matplotlib.collections.PolyCollection(seen[triangles[facing], :2], facecolors=face, edgecolors=face, linewidths=0.4, antialiased=False)
    ax.add_collection(drawn)
    ax.autoscale_view()
    ax.set_aspect("equal")
    ax.axis("off")
    mapping = matplotlib.cm.ScalarMappable(norm, colours)

    def project(places):
        return (np.atleast_2d(places) @ axes)[:, :2]

    return mapping, project


def save(figure, name):
    figure.savefig(name, dpi=110, bbox_inches="tight")
    plt.close(figure)
    print(f"wrote {name}")


__all__ = ["arguments", "boundary", "draw_surface", "plt", "save"]
