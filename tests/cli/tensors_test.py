"""isochron tensors."""

import math

from cli_case import CliCase
from small_files import read_nifti, write_nifti

SHAPE = (3, 2, 2)
VOXELS = 12
# x and y of the voxels are the world's y and -x; the determinant is positive.
AFFINE = [(0, -2, 0, 5), (2, 0, 0, -7), (0, 0, 3, 1)]
# World directions, and the same in FSL's frame: components along the voxel axes, the first one negated.
S = math.sqrt(0.5)
WORLD = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (S, S, 0), (S, 0, S), (0, S, S), (S, -S, 0)]
FSL = [(-y, -x, z) for x, y, z in WORLD]
BVALS = [0] + [1000] * 7
# Fast along a direction between x and y of the world.
FIBRE = (0.8, 0.6, 0)


def signal(b, g, along=1.7e-3, across=2e-4):
    dot = sum(p * q for p, q in zip(g, FIBRE))
    square = sum(p * p for p in g)
    return 800 * math.exp(-b * (across * square + (along - across) * dot * dot))


class Tensors(CliCase):
    def setUp(self):
        """dwi.nii.gz with its two files and a mask without voxel 0."""
        super().setUp()
        volumes = [signal(b, g) for b, g in zip(BVALS, WORLD)]
        write_nifti(self.folder / "dwi.nii.gz", (*SHAPE, len(volumes)), AFFINE,
                    [value for value in volumes for _ in range(VOXELS)])
        write_nifti(self.folder / "mask.nii", SHAPE, AFFINE, [0] + [1] * (VOXELS - 1))
        self.write("dwi.bval", " ".join(map(str, BVALS)))
        self.write_rows("dwi.bvec", zip(*FSL))

    def write_rows(self, name, rows):
        self.write(name, "\n".join(" ".join(map(str, row)) for row in rows))

    def arguments(self, *more, bval="dwi.bval", bvec="dwi.bvec"):
        return ("tensors", "dwi.nii.gz", "--bval", bval, "--bvec", bvec, "-o", "fit", *more)

    def test_known_tensor_in_the_world(self):
        for fit in ("wls", "ols"):
            found = self.succeed_json(*self.arguments(f"--fit {fit} --force"))
            self.assert_fields(found, voxels=VOXELS, fitted=VOXELS, fit=fit,
                               written=[f"fit_{map}.nii.gz" for map in ("tensor", "fa", "v1", "md")])
            shape, tensor = read_nifti(self.folder / "fit_tensor.nii.gz")
            self.assertEqual(shape, [*SHAPE, 6])
            expected = [2e-4 + 1.5e-3 * 0.64, 2e-4 + 1.5e-3 * 0.36, 2e-4, 1.5e-3 * 0.48, 0, 0]
            for component, value in enumerate(expected):
                for voxel in range(VOXELS):
                    self.assertAlmostEqual(tensor[component * VOXELS + voxel], value, delta=1e-9)
            shape, direction = read_nifti(self.folder / "fit_v1.nii.gz")
            self.assertEqual(shape, [*SHAPE, 3])
            self.assertAlmostEqual(abs(sum(direction[c * VOXELS] * FIBRE[c] for c in range(3))), 1, places=5)
            self.assertAlmostEqual(read_nifti(self.folder / "fit_md.nii.gz")[1][5], 0.7e-3, delta=1e-9)
            self.assertAlmostEqual(read_nifti(self.folder / "fit_fa.nii.gz")[1][5], found["median_fa"], places=6)

    def test_rows_and_columns_are_the_same(self):
        self.write_rows("tall.bvec", FSL)
        self.succeed(*self.arguments())
        wide = self.read_bytes("fit_tensor.nii.gz")
        self.succeed(*self.arguments("--force", bvec="tall.bvec"))
        self.assertEqual(self.read_bytes("fit_tensor.nii.gz"), wide)

    def test_mask(self):
        found = self.succeed_json(*self.arguments("--mask mask.nii"))
        self.assert_fields(found, voxels=VOXELS - 1, fitted=VOXELS - 1)
        self.assertEqual(read_nifti(self.folder / "fit_fa.nii.gz")[1][0], 0)

    def test_text_names_the_files(self):
        text = self.succeed(*self.arguments()).stdout
        self.assert_has_all(text, "8 volumes", "12 of 12 voxels", "fit_tensor.nii.gz", "anisotropy")

    def test_counts_that_do_not_agree(self):
        self.write("short.bval", " ".join(map(str, BVALS[:-1])))
        self.write_rows("short.bvec", zip(*FSL[:-1]))
        self.expect(3, *self.arguments(bval="short.bval"), words=("b-values: 7", "b-vectors: 8"))
        self.expect(3, *self.arguments(bval="short.bval", bvec="short.bvec"), words=("volumes: 8", "b-values: 7"))

    def test_gradients_that_say_too_little(self):
        self.write("zero.bval", "0 " * len(BVALS))
        self.expect(3, *self.arguments(bval="zero.bval"), words="do not determine a tensor")

    def test_bad_masks(self):
        write_nifti(self.folder / "other.nii", (2, 2, 2), AFFINE, [1] * 8)
        write_nifti(self.folder / "moved.nii", SHAPE, [(2, 0, 0, 0), (0, 2, 0, 0), (0, 0, 3, 0)], [1] * VOXELS)
        write_nifti(self.folder / "empty.nii", SHAPE, AFFINE, [0] * VOXELS)
        for mask, words in (("other.nii", ("other.nii", "another shape")),
                            ("moved.nii", ("moved.nii", "another affine")), ("empty.nii", "empty"), ("dwi.nii.gz", "8 values a voxel")):
            self.expect(3, *self.arguments(f"--mask {mask}"), words=words)

    def test_nothing_to_fit(self):
        write_nifti(self.folder / "dwi.nii.gz", (*SHAPE, 8), AFFINE, [0] * (8 * VOXELS))
        self.expect(5, *self.arguments(), words="no voxel has a tensor")

    def test_warnings(self):
        self.write_rows("mean.bvec", zip(*FSL[:-1], (0, 0, 0)))
        self.assertIn("left out 1 volume", self.succeed(*self.arguments(bvec="mean.bvec")).stderr)
        self.write_rows("long.bvec", ([0.5 * c for c in row] for row in zip(*FSL)))
        found = self.succeed_json(*self.arguments("--force", bvec="long.bvec"))
        self.assertTrue(found["b_values_scaled"])
        self.assertAlmostEqual(found["median_diffusivity"], 4 * 0.7e-3, delta=1e-8)

    def test_never_replaces_an_input(self):
        write_nifti(self.folder / "fit_fa.nii.gz", SHAPE, AFFINE, [1] * VOXELS)
        before = self.read_bytes("fit_fa.nii.gz")
        self.expect(2, *self.arguments("--mask fit_fa.nii.gz --force"), words=("fit_fa.nii.gz", "input"))
        self.assertEqual(self.read_bytes("fit_fa.nii.gz"), before)

    def test_maps_that_cannot_be_written(self):
        (self.folder / "fit_md.nii.gz").mkdir()
        self.expect(3, *self.arguments("--force"), words=("fit_md.nii.gz", "not a file"))

    def test_image_without_values(self):
        self.write("none.vti", '<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian">'
                   '<ImageData WholeExtent="0 1 0 1 0 1" Origin="0 0 0" Spacing="1 1 1">'
                   '<Piece Extent="0 1 0 1 0 1"><PointData/><CellData/></Piece></ImageData></VTKFile>')
        self.expect(3, "tensors none.vti --bval dwi.bval --bvec dwi.bvec -o fit", words=("none.vti", "no values"))

    def test_usage(self):
        self.expect(2, *self.arguments("--fit best"), words="wls")
        self.expect(2, "tensors dwi.nii.gz -o fit")
        self.succeed(*self.arguments())
        self.expect(3, *self.arguments(), words="exists already")

