// Meshes and images to try things on.
#include <array>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/error.h"
#include "isochron/generate.h"
#include "isochron/generate/option_tables.h"
#include "python/src/bindings.h"
#include "python/src/datasets.h"
#include "python/src/interpreter.h"
#include "python/src/option_reader.h"
#include "python/src/problem.h"

namespace isochron::python {
namespace {

/// Options of a generator by name; some of them are lists.
class Given : public OptionReader {
 public:
  Given(std::string kind, const py::dict& options)
      : OptionReader(options, Mismatch::input_error), kind_(std::move(kind)) {}
  using OptionReader::operator();

  /// Numbers along the axes are the shape of an array.
  template <std::size_t Axes>
  void operator()(const OptionText&, std::array<std::uint32_t, Axes>& into) {
    take("shape", into);
  }
  void operator()(const OptionText&, std::tuple<std::size_t&, std::size_t&, std::size_t&> into) {
    std::tuple<std::size_t, std::size_t, std::size_t> shape = into;
    take("shape", shape);
    into = shape;
  }
  void operator()(const OptionText& text, BoxExtent into) {
    std::array<double, 3> v{into.sides.x, into.sides.y, into.sides.z};
    take(text.name, v);
    into.sides = {v[0], v[1], v[2]};
  }

  void check_all_taken() const {
    if (!left().empty()) throw UsageError(fmt::format("{} has no option '{}'", kind_, left()));
  }

 private:
  std::string kind_;
};

/// What a generator makes with the given options.
template <class Made, class Options>
py::dict made_by(Made (*generate)(const Options&), Given& given) {
  Options options;
  if constexpr (requires { options.threads; }) options.threads = hardware_threads();
  each_option(options, given);
  given.check_all_taken();
  return dict_of(unlocked([&] {
    if constexpr (std::is_same_v<Made, Image>) return generate(options);
    else return to_dataset(generate(options));
  }));
}

/// A generator by the name that Python has for it.
struct Generator {
  std::string_view kind;
  py::dict (*make)(Given& given);
};
template <auto generate>
py::dict make_with(Given& given) {
  return made_by(generate, given);
}
constexpr std::array mesh_generators{Generator{"square", make_with<generate_square>},
                                     Generator{"irregular_square", make_with<generate_irregular_square>},
                                     Generator{"cube", make_with<generate_cube>},
                                     Generator{"irregular_cube", make_with<generate_irregular_cube>},
                                     Generator{"sphere", make_with<generate_sphere>},
                                     Generator{"ventricle", make_with<generate_ventricle>},
                                     Generator{"lens", make_with<generate_lens>},
                                     Generator{"blobs", make_with<generate_blobs>}};
constexpr std::array image_generators{Generator{"diagonal_tensors", make_with<generate_diagonal_tensors>},
                                      Generator{"helix_tensors", make_with<generate_helix_tensors>},
                                      Generator{"crossing_fibers", make_with<generate_crossing_fibers>},
                                      Generator{"layers", make_with<generate_layers>},
                                      Generator{"salt", make_with<generate_salt>},
                                      Generator{"phantom", make_with<generate_phantom>}};

py::dict generate_by_name(std::span<const Generator> generators, const std::string& kind, const py::dict& options) {
  for (const Generator& generator : generators) {
    if (generator.kind != kind) continue;
    Given given(kind, options);
    return generator.make(given);
  }
  throw UsageError(fmt::format("there is no generator '{}'", kind));
}

py::dict generate_mesh(const std::string& kind, const py::dict& options) {
  return generate_by_name(mesh_generators, kind, options);
}

py::dict generate_image(const std::string& kind, const py::dict& options) {
  return generate_by_name(image_generators, kind, options);
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
