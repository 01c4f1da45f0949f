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
#include "python/src/interpreter.h"
#include "python/src/problem.h"

namespace isochron::python {
namespace {

/// Options of a generator by name. What is not taken is an error.
class Given {
 public:
  Given(std::string kind, py::dict options) : kind_(std::move(kind)), options_(std::move(options)) {}

  [[nodiscard]] const std::string& kind() const { return kind_; }

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
  void take(const char* name, ImageSize& size) {
    take(name, size.n);
    take("spacing", size.spacing);
  }
  void take(const char* name, SquarePattern& into) {
    std::string pattern = "diagonal";
    take(name, pattern);
    if (pattern != "diagonal" && pattern != "alternating")
      throw UsageError(fmt::format("unknown pattern '{}'; choose diagonal or alternating", pattern));
    into = pattern == "diagonal" ? SquarePattern::diagonal : SquarePattern::alternating;
  }

  /// The options with those members that are given; names and members in turn.
  template <class Options, class Member, class... Rest>
  Options options(Options usual, const char* name, Member member, Rest... rest) {
    take(name, usual.*member);
    return options(std::move(usual), rest...);
  }
  template <class Options>
  Options options(Options usual) {
    if (py::len(options_) > 0)
      throw UsageError(fmt::format("{} has no option '{}'", kind_, std::string(py::str(*py::list(options_).begin()))));
    return usual;
  }
  /// The same for meshes on a lattice.
  template <class Options, class... Rest>
  Options lattice(Options usual, Rest... rest) {
    return options(std::move(usual), "n", &Options::n, "extent", &Options::extent, "jitter", &Options::jitter, "seed",
                   &Options::seed, rest...);
  }

 private:
  std::string kind_;
  py::dict options_;
};

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

template <class Generate, class Options>
Dataset mesh_by(Generate generate, const Options& options) {
  return unlocked([&] { return dataset_with(generate(options)); });
}

template <class Generate, class Options>
Image image_by(Generate generate, const Options& options) {
  return unlocked([&] { return generate(options); });
}

Dataset make_cube(Given& given) {
  using O = CubeOptions;
  O options;
  std::array<std::size_t, 3> n{options.nx, options.ny, options.nz};
  given.take("shape", n);
  options.nx = n[0], options.ny = n[1], options.nz = n[2];
  return mesh_by(generate_cube, given.options(options, "extent", &O::extent, "jitter", &O::jitter, "seed", &O::seed));
}

Dataset make_ventricle(Given& given) {
  using O = VentricleOptions;
  O options;
  options.threads = hardware_threads();
  return mesh_by(generate_ventricle,
                 given.options(options, "edge", &O::edge, "elements", &O::elements, "endo_short", &O::endo_short,
                               "endo_long", &O::endo_long, "epi_short", &O::epi_short, "epi_long", &O::epi_long, "base",
                               &O::base, "helix_endo", &O::helix_endo, "helix_epi", &O::helix_epi));
}

Dataset make_mesh(Given& given) {
  if (given.kind() == "square")
    return mesh_by(generate_square, given.lattice(SquareOptions(), "pattern", &SquareOptions::pattern));
  if (given.kind() == "cube") return make_cube(given);
  if (given.kind() == "irregular_square")
    return mesh_by(generate_irregular_square, given.lattice(IrregularSquareOptions()));
  if (given.kind() == "irregular_cube") return mesh_by(generate_irregular_cube, given.lattice(IrregularCubeOptions()));
  if (given.kind() == "sphere") {
    using O = SphereOptions;
    return mesh_by(generate_sphere, given.options(O(), "frequency", &O::frequency, "radius", &O::radius));
  }
  if (given.kind() == "ventricle") return make_ventricle(given);
  if (given.kind() == "lens")
    return mesh_by(generate_lens, given.lattice(LensOptions(), "refractive_index", &LensOptions::refractive_index));
  if (given.kind() == "blobs") {
    using O = BlobsOptions;
    return mesh_by(generate_blobs, given.lattice(O(), "blobs", &O::blobs, "speed_outside", &O::speed_outside,
                                                 "speed_inside", &O::speed_inside));
  }
  throw UsageError(fmt::format("there is no generator '{}'", given.kind()));
}

Image make_image(Given& given) {
  if (given.kind() == "diagonal_tensors") {
    using O = DiagonalTensorsOptions;
    return image_by(generate_diagonal_tensors, given.options(O(), "shape", &O::size, "coupling", &O::coupling));
  }
  if (given.kind() == "helix_tensors") {
    using O = HelixTensorsOptions;
    return image_by(generate_helix_tensors,
                    given.options(O(), "shape", &O::size, "radius", &O::radius, "tube", &O::tube, "turns", &O::turns,
                                  "along", &O::along, "across", &O::across));
  }
  if (given.kind() == "crossing_fibers") {
    using O = CrossingFibersOptions;
    return image_by(
        generate_crossing_fibers,
        given.options(O(), "shape", &O::size, "angle", &O::angle, "radius", &O::radius, "along", &O::along, "across",
                      &O::across, "background", &O::background, "noise", &O::noise, "seed", &O::seed));
  }
  if (given.kind() == "layers") {
    using O = LayersOptions;
    return image_by(generate_layers, given.options(O(), "shape", &O::n, "spacing", &O::spacing, "layers", &O::layers,
                                                   "speed_top", &O::speed_top, "speed_bottom", &O::speed_bottom,
                                                   "relief", &O::relief, "seed", &O::seed));
  }
  if (given.kind() == "salt") {
    using O = SaltOptions;
    return image_by(generate_salt,
                    given.options(O(), "shape", &O::n, "spacing", &O::spacing, "speed_top", &O::speed_top,
                                  "speed_bottom", &O::speed_bottom, "speed_salt", &O::speed_salt, "radius", &O::radius,
                                  "roughness", &O::roughness, "seed", &O::seed));
  }
  if (given.kind() == "phantom") {
    using O = PhantomOptions;
    return image_by(generate_phantom,
                    given.options(O(), "shape", &O::size, "radius", &O::radius, "wall", &O::wall, "tube", &O::tube));
  }
  throw UsageError(fmt::format("there is no generator '{}'", given.kind()));
}

py::dict generate_mesh(const std::string& kind, const py::dict& options) {
  Given given(kind, options.attr("copy")());
  return dict_of(make_mesh(given));
}

py::dict generate_image(const std::string& kind, const py::dict& options) {
  Given given(kind, options.attr("copy")());
  return dict_of(make_image(given));
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
