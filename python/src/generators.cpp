// Meshes and images to try things on.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include "isochron/core/error.h"
#include "isochron/core/parallel.h"
#include "isochron/generate/cube.h"
#include "isochron/generate/images.h"
#include "isochron/generate/random_fields.h"
#include "isochron/generate/region_model.h"
#include "isochron/generate/sphere.h"
#include "isochron/generate/square.h"
#include "isochron/generate/ventricle.h"
#include "python/src/bindings.h"
#include "python/src/datasets.h"
#include "python/src/problem.h"
#include "python/src/unlocked.h"

namespace isochron::python {
namespace {

/// Options of a generator by name. What nobody takes is an error.
class Given {
 public:
  explicit Given(py::dict options) : options_(std::move(options)) {}

  template <class T>
  void take(const char* name, T& into) {
    if (!options_.contains(name)) return;
    const py::object value = options_[name];
    options_.attr("pop")(name);
    if (value.is_none()) return;
    try {
      into = value.cast<T>();
    } catch (const py::cast_error&) {
      throw InputError(fmt::format("{} is {} (not a value of the right kind or size); see the function's help", name,
                                   std::string(py::repr(value))));
    }
  }
  void take(const char* name, Vec3d& into) {
    std::array<double, 3> v{into.x, into.y, into.z};
    take(name, v);
    into = {v[0], v[1], v[2]};
  }
  void take_size(ImageSize& size) {
    take("shape", size.n);
    take("spacing", size.spacing);
  }
  /// What most meshes on a lattice have.
  template <class Options>
  void take_lattice(Options& options) {
    take("n", options.n);
    take("extent", options.extent);
    take("jitter", options.jitter);
    take("seed", options.seed);
  }
  void finish(const std::string& kind) const {
    if (py::len(options_) > 0)
      throw UsageError(fmt::format("{} has no option '{}'", kind, std::string(py::str(*py::list(options_).begin()))));
  }

 private:
  py::dict options_;
};

template <class Make>
auto made(Given& given, const std::string& kind, Make&& make) {
  given.finish(kind);
  return unlocked(make);
}

template <int Corners>
Dataset dataset_with(SimplexMesh<Corners>&& mesh) {
  Dataset dataset;
  restore_mesh<Corners>(dataset, std::move(mesh));
  return dataset;
}

Dataset dataset_with(RegionModel&& model) {
  Dataset dataset = dataset_with(std::move(model.mesh));
  dataset.tets.data.set({"region", 1, std::move(model.region)});
  dataset.tets.data.set({"speed", 1, std::move(model.speed)});
  return dataset;
}

DataArray vectors(std::string name, const std::vector<Vec3f>& values) {
  std::vector<float> flat;
  flat.reserve(3 * values.size());
  for (const Vec3f& v : values) flat.insert(flat.end(), {v.x, v.y, v.z});
  return {std::move(name), 3, std::move(flat)};
}

Dataset dataset_with(Ventricle&& ventricle) {
  Dataset dataset = dataset_with(std::move(ventricle.mesh));
  dataset.tets.data.set(vectors("fiber", ventricle.fiber));
  dataset.tets.data.set(vectors("sheet", ventricle.sheet));
  dataset.point_data.set({"transmural", 1, std::move(ventricle.transmural)});
  dataset.point_data.set({"apicobasal", 1, std::move(ventricle.apicobasal)});
  return dataset;
}

Dataset make_square(Given& given) {
  SquareOptions options;
  given.take_lattice(options);
  std::string pattern = "diagonal";
  given.take("pattern", pattern);
  if (pattern != "diagonal" && pattern != "alternating")
    throw UsageError(fmt::format("unknown pattern '{}'; choose diagonal or alternating", pattern));
  if (pattern == "alternating") options.pattern = SquarePattern::alternating;
  return made(given, "square", [&] { return dataset_with(generate_square(options)); });
}

Dataset make_cube(Given& given) {
  CubeOptions options;
  std::array<std::size_t, 3> n{options.nx, options.ny, options.nz};
  given.take("shape", n);
  options.nx = n[0], options.ny = n[1], options.nz = n[2];
  given.take("extent", options.extent);
  given.take("jitter", options.jitter);
  given.take("seed", options.seed);
  return made(given, "cube", [&] { return dataset_with(generate_cube(options)); });
}

Dataset make_irregular_square(Given& given) {
  IrregularSquareOptions options;
  given.take_lattice(options);
  return made(given, "irregular_square", [&] { return dataset_with(generate_irregular_square(options)); });
}

Dataset make_irregular_cube(Given& given) {
  IrregularCubeOptions options;
  given.take_lattice(options);
  return made(given, "irregular_cube", [&] { return dataset_with(generate_irregular_cube(options)); });
}

Dataset make_sphere(Given& given) {
  SphereOptions options;
  given.take("frequency", options.frequency);
  given.take("radius", options.radius);
  return made(given, "sphere", [&] { return dataset_with(generate_sphere(options)); });
}

Dataset make_ventricle(Given& given) {
  VentricleOptions options;
  given.take("edge", options.edge);
  given.take("elements", options.elements);
  given.take("endo_short", options.endo_short);
  given.take("endo_long", options.endo_long);
  given.take("epi_short", options.epi_short);
  given.take("epi_long", options.epi_long);
  given.take("base", options.base);
  given.take("helix_endo", options.helix_endo);
  given.take("helix_epi", options.helix_epi);
  options.threads = hardware_threads();
  return made(given, "ventricle", [&] { return dataset_with(generate_ventricle(options)); });
}

Dataset make_lens(Given& given) {
  LensOptions options;
  given.take_lattice(options);
  given.take("refractive_index", options.refractive_index);
  return made(given, "lens", [&] { return dataset_with(generate_lens(options)); });
}

Dataset make_blobs(Given& given) {
  BlobsOptions options;
  given.take_lattice(options);
  given.take("blobs", options.blobs);
  given.take("speed_outside", options.speed_outside);
  given.take("speed_inside", options.speed_inside);
  return made(given, "blobs", [&] { return dataset_with(generate_blobs(options)); });
}

Image make_diagonal_tensors(Given& given) {
  DiagonalTensorsOptions options;
  given.take_size(options.size);
  given.take("coupling", options.coupling);
  return made(given, "diagonal_tensors", [&] { return generate_diagonal_tensors(options); });
}

Image make_helix_tensors(Given& given) {
  HelixTensorsOptions options;
  given.take_size(options.size);
  given.take("radius", options.radius);
  given.take("tube", options.tube);
  given.take("turns", options.turns);
  given.take("along", options.along);
  given.take("across", options.across);
  return made(given, "helix_tensors", [&] { return generate_helix_tensors(options); });
}

Image make_crossing_fibers(Given& given) {
  CrossingFibersOptions options;
  given.take_size(options.size);
  given.take("angle", options.angle);
  given.take("radius", options.radius);
  given.take("along", options.along);
  given.take("across", options.across);
  given.take("background", options.background);
  given.take("noise", options.noise);
  given.take("seed", options.seed);
  return made(given, "crossing_fibers", [&] { return generate_crossing_fibers(options); });
}

Image make_layers(Given& given) {
  LayersOptions options;
  given.take("shape", options.n);
  given.take("spacing", options.spacing);
  given.take("layers", options.layers);
  given.take("speed_top", options.speed_top);
  given.take("speed_bottom", options.speed_bottom);
  given.take("relief", options.relief);
  given.take("seed", options.seed);
  return made(given, "layers", [&] { return generate_layers(options); });
}

Image make_salt(Given& given) {
  SaltOptions options;
  given.take("shape", options.n);
  given.take("spacing", options.spacing);
  given.take("speed_top", options.speed_top);
  given.take("speed_bottom", options.speed_bottom);
  given.take("speed_salt", options.speed_salt);
  given.take("radius", options.radius);
  given.take("roughness", options.roughness);
  given.take("seed", options.seed);
  return made(given, "salt", [&] { return generate_salt(options); });
}

Image make_phantom(Given& given) {
  PhantomOptions options;
  given.take_size(options.size);
  given.take("radius", options.radius);
  given.take("wall", options.wall);
  given.take("tube", options.tube);
  return made(given, "phantom", [&] { return generate_phantom(options); });
}

template <class Result>
using Makers = std::initializer_list<std::pair<const char*, Result (*)(Given&)>>;

template <class Result>
py::dict make(const std::string& kind, py::dict options, Makers<Result> makers) {
  for (const auto& [name, maker] : makers)
    if (kind == name) {
      Given given(options.attr("copy")().cast<py::dict>());
      return dict_of(maker(given));
    }
  throw UsageError(fmt::format("there is no generator '{}'", kind));
}

py::dict generate_mesh(const std::string& kind, const py::dict& options) {
  return make<Dataset>(kind, options,
                       {{"square", make_square},
                        {"cube", make_cube},
                        {"irregular_square", make_irregular_square},
                        {"irregular_cube", make_irregular_cube},
                        {"sphere", make_sphere},
                        {"ventricle", make_ventricle},
                        {"lens", make_lens},
                        {"blobs", make_blobs}});
}

py::dict generate_image(const std::string& kind, const py::dict& options) {
  return make<Image>(kind, options,
                     {{"diagonal_tensors", make_diagonal_tensors},
                      {"helix_tensors", make_helix_tensors},
                      {"crossing_fibers", make_crossing_fibers},
                      {"layers", make_layers},
                      {"salt", make_salt},
                      {"phantom", make_phantom}});
}

py::array_t<double> random_speeds(const Shape& shape, double low, double high, int smoothing, std::uint64_t seed) {
  if (shape.is_grid()) throw UsageError("random_speed is for meshes; on a grid smooth an array of random numbers");
  const auto values_on = [&](const auto& mesh) {
    return random_speed(mesh, {low, high}, {.smoothing = smoothing, .seed = seed});
  };
  return array_on(unlocked([&] {
    const auto* triangles = std::get_if<TriangleMesh>(&shape.of);
    return triangles != nullptr ? values_on(*triangles) : values_on(std::get<TetMesh>(shape.of));
  }));
}

}  // namespace

void bind_generators(py::module_& module) {
  using namespace py::literals;
  module.def("generate_mesh", &generate_mesh, "kind"_a, "options"_a, "A mesh with its arrays.");
  module.def("generate_image", &generate_image, "kind"_a, "options"_a, "An image with its arrays.");
  module.def("random_speed", &random_speeds, "shape"_a, "low"_a, "high"_a, "smoothing"_a, "seed"_a,
             "Smoothed random speeds, one per element.");
}

}  // namespace isochron::python
