#include "fuzz/same.h"

#include <algorithm>
#include <cmath>

#include "fuzz/files.h"
#include "isochron/error.h"
#include "isochron/io.h"
#include "isochron/io/file.h"
#include "isochron/io/image/values.h"
#include "isochron/io/mesh/stored_mesh.h"

namespace isochron::fuzz {
namespace {

bool same(double a, double b, Keeps keeps) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  return keeps == Keeps::singles && static_cast<float>(a) == static_cast<float>(b);
}

bool same(const Vec3d& a, const Vec3d& b, Keeps keeps) {
  return same(a.x, b.x, keeps) && same(a.y, b.y, keeps) && same(a.z, b.z, keeps);
}

/// Cells, and lines as their segments, for formats that have no polylines.
std::vector<std::vector<VertexId>> all_cells(const Dataset& d) {
  std::vector<std::vector<VertexId>> result;
  for (const auto& cell : d.triangles.cells) result.emplace_back(cell.begin(), cell.end());
  for (const auto& cell : d.tets.cells) result.emplace_back(cell.begin(), cell.end());
  for (const auto& line : d.lines)
    for (std::size_t i = 1; i < line.size(); ++i) result.push_back({line[i - 1], line[i]});
  return result;
}

/// Formats without numbers of points leave out triangles that are none in their precision.
void leave_out_collapsed(Dataset& d, Keeps keeps) {
  std::erase_if(d.triangles.cells, [&](const auto& cell) {
    const auto meet = [&](std::size_t i, std::size_t k) {
      return same(d.points[cell[i].index()], d.points[cell[k].index()], keeps);
    };
    return meet(0, 1) || meet(1, 2) || meet(2, 0);
  });
}

bool same_geometry(const Dataset& a, const Dataset& b, Keeps keeps, Points points) {
  const auto cells_a = all_cells(a), cells_b = all_cells(b);
  if (points == Points::numbered) {
    return cells_a == cells_b && std::equal(a.points.begin(), a.points.end(), b.points.begin(), b.points.end(),
                                            [&](const Vec3d& p, const Vec3d& q) { return same(p, q, keeps); });
  }
  return std::equal(cells_a.begin(), cells_a.end(), cells_b.begin(), cells_b.end(), [&](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [&](VertexId v, VertexId w) { return same(a.points[v.index()], b.points[w.index()], keeps); });
  });
}

void check_array(const DataArray& array, const DataArrays& again, Keeps keeps) {
  const DataArray* other = again.find(array.name);
  require(other != nullptr, "array '" + array.name + "' is gone");
  require(other->components == array.components && other->tuple_count() == array.tuple_count(),
          "array '" + array.name + "' has another size");
  for (std::size_t i = 0; i < array.tuple_count(); ++i)
    for (int k = 0; k < array.components; ++k)
      require(same(array.at(i, k), other->at(i, k), keeps), "array '" + array.name + "' has other values");
}

void check_arrays(const DataArrays& arrays, const DataArrays& again, const Texts& kept, Keeps keeps) {
  for (const DataArray& array : arrays.all())
    if (std::find(kept.begin(), kept.end(), array.name) != kept.end()) check_array(array, again, keeps);
}

/// The same for tensors, whose order may be another in the file.
void check_tensors(const Image& image, const Image& again, Keeps keeps) {
  const DataArray &a = image.data.all().front(), &b = again.data.all().front();
  require(image.tensor_order.has_value() == again.tensor_order.has_value(), "tensors are none any more");
  require(a.components == b.components && a.tuple_count() == b.tuple_count(), "tensors have another size");
  std::vector<double> one(static_cast<std::size_t>(a.components)), other(one);
  for (std::size_t i = 0; i < a.tuple_count(); ++i) {
    for (int k = 0; k < a.components; ++k) {
      one[static_cast<std::size_t>(k)] = a.at(i, k);
      other[static_cast<std::size_t>(k)] = b.at(i, k);
    }
    const SymTensor3d s = tensor_of(one, *image.tensor_order), t = tensor_of(other, *again.tensor_order);
    require(same({s.xx, s.xy, s.xz}, {t.xx, t.xy, t.xz}, keeps) && same({s.yy, s.yz, s.zz}, {t.yy, t.yz, t.zz}, keeps),
            "tensors have other values");
  }
}

/// Compares numbers of the size `scale`. Axes are taken apart into lengths and directions.
bool near(const Vec3d& a, const Vec3d& b, double scale, Keeps keeps) {
  const double tolerance = (keeps == Keeps::exactly ? 1e-14 : 1e-5) * scale;
  return norm(a - b) <= tolerance;
}

bool same_grid(const ImageGrid& a, const ImageGrid& b, Keeps keeps) {
  double scale = norm(a.origin);
  for (int k = 0; k < 3; ++k) scale += a.spacing(k) * a.shape[static_cast<std::size_t>(k)];
  bool result = a.shape == b.shape && near(a.origin, b.origin, scale, keeps);
  for (std::size_t k = 0; k < 3; ++k) result = result && near(a.axes[k], b.axes[k], scale, keeps);
  return result;
}

/// False where the format refuses.
template <class Write>
bool writes(const Write& write) {
  try {
    write();
    return true;
  } catch (const Error& error) {
    const bool refused = error.kind() == ErrorKind::usage || error.kind() == ErrorKind::input;
    require(refused, std::string("cannot be written: ") + error.what());
    return false;
  }
}

/// What was written is no user's input: it must be read.
template <class Read>
auto read_back(const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw Finding(std::string("what was written cannot be read: ") + error.what());
  }
}

}  // namespace

void check_round_trip(const Dataset& dataset, const std::string& extension, Keeps keeps, Points points) {
  const fs::path path = scratch() / ("again" + extension);
  if (!writes([&] { write_dataset(path, dataset, Overwrite::yes); })) return;
  const Dataset again = read_back([&] { return read_dataset(path); });
  Dataset held = dataset;
  if (dropped_lines(path, dataset) > 0) held.lines.clear();
  if (dropped_triangles(path, dataset) > 0) held.triangles.cells.clear();
  if (points == Points::of_each_cell) leave_out_collapsed(held, keeps);
  require(same_geometry(held, again, keeps, points), "a mesh is not the same after it was written and read");
  const Texts kept = kept_arrays(path, dataset).kept;
  if (!held.points.empty()) check_arrays(held.point_data, again.point_data, kept, keeps);
  if (!held.triangles.cells.empty()) check_arrays(held.triangles.data, again.triangles.data, kept, keeps);
  if (!held.tets.cells.empty()) check_arrays(held.tets.data, again.tets.data, kept, keeps);
}

void check_taken_over(const fs::path& file, const Dataset& dataset) {
  const fs::path path = scratch() / "kept.vtu";
  const MeshToKeep mesh = read_back([&] { return read_to_keep(file, path, {.used = Texts(), .kept = {}}); });
  if (mesh.stored == nullptr) return;
  OutputFiles outputs(Overwrite::yes);
  const bool written = writes([&] {
    write_kept(outputs, path, mesh.dataset, mesh.stored.get());
    outputs.commit();
  });
  require(written, "a mesh that can be read cannot be taken over");
  const Dataset again = read_back([&] { return read_dataset(path); });
  require(same_geometry(dataset, again, Keeps::exactly, Points::numbered), "a mesh that is taken over is not the same");
  const Texts kept = kept_arrays(path, dataset).kept;
  if (!dataset.points.empty()) check_arrays(dataset.point_data, again.point_data, kept, Keeps::exactly);
  if (!dataset.triangles.cells.empty())
    check_arrays(dataset.triangles.data, again.triangles.data, kept, Keeps::exactly);
  if (!dataset.tets.cells.empty()) check_arrays(dataset.tets.data, again.tets.data, kept, Keeps::exactly);
}

void check_round_trip(const Image& image, const std::string& extension, Keeps keeps) {
  const fs::path path = scratch() / ("again" + extension);
  Image held = image;
  if (!holds_many_arrays(path) && held.data.all().size() > 1) held.data.all().resize(1);
  if (!writes([&] { write_image(path, held, Overwrite::yes); })) return;
  const Image again = read_back([&] { return read_image(path); });
  if (!says_place(path)) held.grid.origin = again.grid.origin, held.grid.axes = again.grid.axes;
  require(same_grid(held.grid, again.grid, keeps), "an image has another grid after it was written and read");
  require(held.data.all().size() <= again.data.all().size(), "an image has lost an array");
  if (holds_tensor(held)) return check_tensors(held, again, keeps);
  for (std::size_t i = 0; i < held.data.all().size(); ++i) {
    DataArray array = held.data.all()[i];
    if (!holds_many_arrays(path)) array.name = again.data.all()[i].name;
    check_array(array, again.data, keeps);
  }
}

}  // namespace isochron::fuzz
