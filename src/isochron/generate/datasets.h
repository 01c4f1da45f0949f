// Generated meshes as data sets, with their arrays.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "isochron/generate/region_model.h"
#include "isochron/generate/ventricle.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

inline DataArray vector_array(std::string name, const std::vector<Vec3f>& vectors) {
  std::vector<float> values;
  values.reserve(3 * vectors.size());
  for (const Vec3f& v : vectors) values.insert(values.end(), {v.x, v.y, v.z});
  return {std::move(name), 3, std::move(values)};
}

template <int Corners>
Dataset to_dataset(SimplexMesh<Corners>&& mesh) {
  Dataset dataset;
  restore_mesh<Corners>(dataset, std::move(mesh));
  return dataset;
}

inline Dataset to_dataset(RegionModel&& model) {
  Dataset dataset = to_dataset(std::move(model.mesh));
  dataset.tets.data.set({"region", 1, std::move(model.region)});
  dataset.tets.data.set({"speed", 1, std::move(model.speed)});
  return dataset;
}

/// Of a whole ventricle or a part of one.
template <class AnyVentricle>
void add_arrays(AnyVentricle& ventricle, DataArrays& points, DataArrays& cells) {
  cells.set(vector_array("fiber", ventricle.fiber));
  cells.set(vector_array("sheet", ventricle.sheet));
  points.set({"transmural", 1, std::move(ventricle.transmural)});
  points.set({"apicobasal", 1, std::move(ventricle.apicobasal)});
}

inline Dataset to_dataset(Ventricle&& ventricle) {
  Dataset dataset = to_dataset(std::move(ventricle.mesh));
  add_arrays(ventricle, dataset.point_data, dataset.tets.data);
  return dataset;
}

}  // namespace isochron
