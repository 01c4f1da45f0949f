// Reading and writing files.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <vector>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "isochron/error.h"
#include "isochron/io.h"
#include "isochron/io/mesh/cells.h"
#include "isochron/mesh.h"
#include "python/src/bindings.h"
#include "python/src/datasets.h"
#include "python/src/interpreter.h"

namespace isochron::python {
namespace {

Overwrite overwrite(bool force) { return force ? Overwrite::yes : Overwrite::no; }

/// Points, cells and lines with their arrays; an empty array of cells has any number of corners.
Dataset dataset_of(const py::array& points, const py::array& cells, const py::list& lines, const py::dict& point_data,
                   const py::dict& cell_data) {
  Dataset dataset;
  Conversions unseen;
  dataset.points = rows_of<Vec3d>(points, "points", -1, unseen);
  const std::size_t count = dataset.points.size();
  if (cells.size() > 0 && cells.ndim() == 2 && cells.shape(1) == 4) {
    dataset.tets.cells = ids_of<TetMesh::Element>(cells, "cells", count, unseen);
    dataset.tets.data = arrays_of(cell_data, dataset.tets.cells.size(), "cells");
  } else if (cells.size() > 0) {
    dataset.triangles.cells = ids_of<TriangleMesh::Element>(cells, "cells", count, unseen);
    dataset.triangles.data = arrays_of(cell_data, dataset.triangles.cells.size(), "cells");
  }
  for (const py::handle line : lines)
    dataset.lines.push_back(ids_of<VertexId>(line.cast<py::array>(), "lines", count, unseen));
  dataset.point_data = arrays_of(point_data, count, "points");
  return dataset;
}

/// Cells of all kinds, by VTK's numbers and the ids of their corners one after the other, as a file's are.
Dataset simplices_of(const py::array& points, const py::array& kinds, const py::array& ends, const py::array& ids) {
  Dataset dataset;
  Conversions unseen;
  dataset.points = rows_of<Vec3d>(points, "points", -1, unseen);
  const auto numbers = [](const py::array& array) {
    const auto whole = array.cast<py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>>();
    return std::vector<std::int64_t>(whole.data(), whole.data() + whole.size());
  };
  const std::vector<std::int64_t> kind = numbers(kinds), end = numbers(ends), corner = numbers(ids);
  if (kind.size() != end.size() || (!end.empty() && end.back() != static_cast<std::int64_t>(corner.size())) ||
      !std::is_sorted(end.begin(), end.end()) || (!end.empty() && end.front() < 0))
    throw InputError("the cells of the mesh do not fit together (kinds, ends and ids); make it again");
  unlocked([&] {
    CellSorter sorter(dataset, "mesh");
    sorter.add_runs(corner, end, [&](std::size_t cell) { return static_cast<int>(kind[cell]); });
  });
  return dataset;
}

/// What the format has no place for, as a list of names.
std::vector<std::string> write_mesh(const std::filesystem::path& path, const py::array& points, const py::array& cells,
                                    const py::list& lines, const py::dict& point_data, const py::dict& cell_data,
                                    bool force) {
  const Dataset dataset = dataset_of(points, cells, lines, point_data, cell_data);
  return unlocked([&] {
    write_dataset(path, dataset, overwrite(force));
    return kept_arrays(path, dataset).dropped;
  });
}

void write_volume(const std::filesystem::path& path, const GridArguments& grid, const py::dict& arrays,
                  const std::optional<std::string>& tensor_order, bool force) {
  Image image;
  image.grid = grid_of(grid);
  image.data = arrays_of(arrays, image.grid.voxel_count(), "voxels");
  if (tensor_order) image.tensor_order = tensor_order_named(*tensor_order);
  unlocked([&] { write_image(path, image, overwrite(force)); });
}

}  // namespace

void bind_files(py::module_& module) {
  using namespace py::literals;
  module.def("is_mesh_file", &is_mesh_file, "path"_a, "Whether the extension is that of a mesh.");
  module.def("is_image_file", &is_image_file, "path"_a, "Whether the extension is that of an image.");
  module.def(
      "read_mesh",
      [](const std::filesystem::path& path) { return dict_of(unlocked([&] { return read_dataset(path); })); }, "path"_a,
      "What a mesh file holds.");
  module.def(
      "read_image",
      [](const std::filesystem::path& path, const std::vector<double>& spacing, const std::vector<double>& origin) {
        return dict_of(unlocked([&] {
          Image image = read_image(path);
          if (!says_place(path)) place_image(image.grid, {spacing, origin});
          else if (!spacing.empty() || !origin.empty())
            throw UsageError("spacing and origin are for .npy images (other files say them); leave them out",
                             path.string());
          return image;
        }));
      },
      "path"_a, "spacing"_a, "origin"_a, "What an image file holds.");
  module.def(
      "simplices_of",
      [](const py::array& points, const py::array& kinds, const py::array& ends, const py::array& ids) {
        return dict_of(simplices_of(points, kinds, ends, ids));
      },
      "points"_a, "kinds"_a, "ends"_a, "ids"_a, "What cells of VTK's kinds are cut into.");
  module.def("write_mesh", &write_mesh, "path"_a, "points"_a, "cells"_a, "lines"_a, "point_data"_a, "cell_data"_a,
             "force"_a, "Writes a mesh or lines; gives the names of arrays that the format has no place for.");
  module.def("write_image", &write_volume, "path"_a, "grid"_a, "arrays"_a, "tensor_order"_a, "force"_a,
             "Writes arrays on voxels.");
}

}  // namespace isochron::python
