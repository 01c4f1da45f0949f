import pickle

import numpy as np
import pytest

import isochron
from meshes import refused


@pytest.fixture(scope="module")
def phantom():
    return isochron.generate.crossing_fibers((32, 32, 10))


def ends(phantom):
    """Both ends of the bundle that rises."""
    middle = phantom.grid.position((15.5, 15.5, 4.5))
    along = np.array([np.cos(np.deg2rad(30)), np.sin(np.deg2rad(30)), 0])
    return isochron.Sphere(middle - 28 * along, 3), isochron.Sphere(middle + 28 * along, 3)


def test_pathway_follows_its_bundle(phantom):
    a, b = ends(phantom)
    found = isochron.connect(phantom, a, b, mask=phantom["mask"])
    assert found.least_cost > 0 and found.least_cost == pytest.approx(found.cost[np.isfinite(found.cost)].min())
    assert 45 < found.path.length < 62
    assert found.pathway.sum() > 10 and (found.cost[found.pathway] <= (1 + found.epsilon) * found.least_cost * (1 + 1e-9)).all()
    assert set(found.profile) == {"distance", "fa", "md", "local_cost", "cost"}
    assert len(found.profile["fa"]) == len(found.path)
    assert 0.3 < found.mean_fa < 0.9


def test_layouts_of_tensors_give_the_same(phantom):
    a, b = ends(phantom)
    usual = isochron.connect(phantom, a, b, mask=phantom["mask"])
    six = phantom["tensor"]
    xx, yy, zz, xy, yz, xz = (six[..., i] for i in (0, 1, 2, 3, 4, 5))
    if phantom.tensor_order == "row":
        xx, xy, xz, yy, yz, zz = (six[..., i] for i in range(6))
    full = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=-1).reshape(six.shape[:3] + (3, 3))
    for tensors, order in ((full, None), (np.stack([xx, yy, zz, xy, xz, yz], axis=-1), "mrtrix")):
        grid = isochron.Grid(phantom.grid.shape, phantom.grid.spacing, phantom.grid.origin)  # C order
        same = isochron.connect(tensors, a, b, grid=grid, mask=phantom["mask"], tensor_order=order)
        assert same.least_cost == pytest.approx(usual.least_cost, rel=1e-6)


def test_regions_of_all_kinds(phantom):
    tracts = isochron.Tracts(phantom, mask=phantom["mask"])
    a, b = ends(phantom)
    mask = np.zeros(phantom.grid.shape, bool)
    mask[np.unravel_index(a.voxels(tracts.grid), phantom.grid.shape, order="F")] = True
    index = np.argwhere(mask)
    costs = {round(tracts.connect(region, b).least_cost, 9) for region in (a, mask, index, a.voxels(tracts.grid))}
    assert len(costs) == 1
    refused(isochron.InputError, "source", tracts.connect, np.zeros(phantom.grid.shape, bool), b)
    refused(isochron.InputError, "target", tracts.connect, a, [10**9])
    refused(isochron.InputError, "outside", tracts.connect, a, isochron.Sphere((1e6, 0, 0), 1))


def test_wrong_arguments_are_named(phantom):
    a, b = ends(phantom)
    with pytest.raises(isochron.InputError, match=r"tensors has the wrong shape .*\(6,\) or \(3, 3\)"):
        isochron.Tracts(phantom["mask"], phantom.grid)
    refused(isochron.UsageError, "alpha is 'a'", isochron.Tracts, phantom, alpha="a")
    refused(isochron.UsageError, "epsilon is 'a'", isochron.connect, phantom, a, b, epsilon="a")
    refused(isochron.UsageError, "unknown metric 'z'", isochron.connectome, phantom, phantom["mask"], metric="z")
    refused(TypeError, "no option 'colour'", isochron.connect, phantom, a, b, colour=1)
    refused(TypeError, "no option 'colour'", isochron.connectome, phantom, phantom["mask"].astype(int), colour=1)


def test_what_the_tensors_hold_is_counted(phantom):
    tensors = phantom["tensor"].copy()
    tensors[0, 0, 0] = 0
    tensors[1, 0, 0] = np.nan
    tensors[2, 0, 0] = [1, 0, 0, -1, 0, 1] if phantom.tensor_order == "row" else [1, -1, 1, 0, 0, 0]
    tracts = isochron.Tracts(isochron.Image(phantom.grid, {"tensor": tensors}, phantom.tensor_order))
    before = isochron.Tracts(phantom).counts
    for name, more in (("empty", 1), ("not_finite", 1), ("not_positive_definite", 1), ("usable", -2)):
        assert tracts.counts[name] == before[name] + more, name
    assert set(tracts.counts) == {
        "voxels", "usable", "empty", "not_finite", "not_positive_definite", "fa_above_one", "floored",
    }  # fmt: skip


def test_they_are_pickled(phantom):
    tracts = isochron.Tracts(phantom, mask=phantom["mask"], alpha=2.0)
    again = pickle.loads(pickle.dumps(tracts))
    a, b = ends(phantom)
    assert again.connect(a, b).least_cost == tracts.connect(a, b).least_cost


def test_excluded_regions_are_avoided(phantom):
    a, b = ends(phantom)
    wall = np.zeros(phantom.grid.shape, bool)
    wall[16] = True
    refused(isochron.NoAnswerError, "", isochron.connect, phantom, a, b, mask=phantom["mask"], exclude=[wall])


def test_connectome_is_symmetric(phantom):
    labels = np.zeros(phantom.grid.shape, np.int16)
    for label, (i, j) in enumerate([(3, 9), (28, 22), (3, 22)], start=1):
        labels[i - 1 : i + 2, j - 1 : j + 2, 4:6] = label
    found = isochron.connectome(phantom, labels)
    assert found.labels.tolist() == [1, 2, 3] and found.cost.shape == (3, 3)
    assert np.array_equal(found.cost, found.cost.T) and (np.diag(found.cost) == 0).all()
    assert found.normalised[0, 1] < found.normalised[0, 2]  # along a bundle, and between two


def test_fit_gives_the_tensors_back():
    rng = np.random.default_rng(2)
    grid = isochron.Grid((3, 4, 2), spacing=2.0)
    directions = rng.normal(size=(20, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    bvals = np.r_[0, np.full(20, 1000.0)]
    bvecs = np.vstack([[0, 0, 0], directions])
    root = rng.normal(size=grid.shape + (3, 3)) * 0.01 + 0.03 * np.eye(3)
    tensors = np.einsum("...ij,...kj->...ik", root, root)
    signal = 100 * np.exp(-bvals * np.einsum("gi,...ij,gj->...g", bvecs, tensors, bvecs))
    six = tensors[..., [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    for vectors in (bvecs, bvecs.T):
        fit = isochron.tensor_fit(signal, bvals, vectors, grid=grid, frame="world")
        assert np.allclose(fit.tensors, six, atol=1e-9)
    turned = isochron.tensor_fit(signal, bvals, bvecs * [-1, 1, 1], grid=grid)  # FSL's sign of the first axis
    assert np.allclose(turned.tensors, six, atol=1e-9)
    assert fit.counts["fitted"] == 24 and fit.fa.shape == grid.shape
    refused(isochron.InputError, "bvecs", isochron.tensor_fit, signal, bvals, bvecs[:5], grid=grid)


def test_a_fit_is_taken_as_tensors():
    rng = np.random.default_rng(3)
    grid = isochron.Grid((6, 5, 4))
    directions = rng.normal(size=(12, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    bvals = np.r_[0.0, np.full(12, 1000.0)]
    bvecs = np.vstack([[0, 0, 0], directions])
    signal = np.exp(-np.einsum("v,vi,ij,vj->v", bvals, bvecs, np.diag([2e-3, 5e-4, 5e-4]), bvecs))
    fit = isochron.tensor_fit(np.broadcast_to(signal, grid.shape + (13,)), bvals, bvecs, grid=grid, frame="world")
    by_fit, by_image = isochron.Tracts(fit), isochron.Tracts(fit.image)
    first, second = (one.connect([[0, 2, 2]], [[5, 2, 2]]) for one in (by_fit, by_image))
    assert first.least_cost == second.least_cost


def test_regions_of_ids_that_look_like_an_index_are_told():
    image = isochron.generate.crossing_fibers((24, 24, 8))
    tracts = isochron.Tracts(image, mask=image["mask"])
    with pytest.warns(isochron.IndexWarning, match=r"target is \[20, 17, 4\], which are 3 voxel ids"), pytest.raises(isochron.Error):
        tracts.connect([[3, 6, 4]], [20, 17, 4])  # these ids are outside the mask
