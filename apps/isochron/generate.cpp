// isochron generate: meshes to try things on.
#include <algorithm>
#include <array>
#include <memory>

#include "apps/isochron/commands.h"
#include "apps/isochron/generate_images.h"
#include "apps/isochron/generate_report.h"
#include "apps/isochron/shared_output.h"
#include "apps/isochron/solve_mpi.h"
#include "isochron/comm/collectives.h"
#include "isochron/core/timer.h"
#include "isochron/generate/cube.h"
#include "isochron/generate/random_fields.h"
#include "isochron/generate/region_model.h"
#include "isochron/generate/sphere.h"
#include "isochron/generate/square.h"
#include "isochron/generate/ventricle.h"
#include "isochron/io/file.h"
#include "isochron/io/io.h"
#include "isochron/io/pieces/part_files.h"

namespace isochron::cli {
namespace {

/// What every kind of mesh has: where it goes, and random arrays on it.
struct OutputRequest {
  std::string kind;
  std::filesystem::path file;
  bool force = false;
  std::vector<double> random_speed;    // smoothing[,low,high]
  std::vector<double> random_tensors;  // smoothing[,low,high]
  bool random_fibers = false;
  std::vector<double> rotating_fibers;  // turns[,axis]
  std::uint64_t field_seed = 1;
  bool over_ranks = false;

  [[nodiscard]] Overwrite overwrite() const { return force ? Overwrite::yes : Overwrite::no; }
  [[nodiscard]] bool any_field() const {
    return !random_speed.empty() || !random_tensors.empty() || random_fibers || !rotating_fibers.empty();
  }
};

DataArray vector_array(std::string name, const std::vector<Vec3f>& vectors) {
  std::vector<float> values;
  values.reserve(3 * vectors.size());
  for (const Vec3f& v : vectors) values.insert(values.end(), {v.x, v.y, v.z});
  return {std::move(name), 3, std::move(values)};
}

// All nine components: any reader then knows which is which.
DataArray tensor_array(std::string name, const std::vector<SymTensor3f>& tensors) {
  std::vector<float> values;
  values.reserve(9 * tensors.size());
  for (const SymTensor3f& m : tensors)
    values.insert(values.end(), {m.xx, m.xy, m.xz, m.xy, m.yy, m.yz, m.xz, m.yz, m.zz});
  return {std::move(name), 9, std::move(values)};
}

Dataset to_dataset(TriangleMesh&& mesh) {
  Dataset dataset;
  restore_mesh<3>(dataset, std::move(mesh));
  return dataset;
}

Dataset to_dataset(TetMesh&& mesh) {
  Dataset dataset;
  restore_mesh<4>(dataset, std::move(mesh));
  return dataset;
}

Dataset to_dataset(RegionModel&& model) {
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

Dataset to_dataset(Ventricle&& ventricle) {
  Dataset dataset = to_dataset(std::move(ventricle.mesh));
  add_arrays(ventricle, dataset.point_data, dataset.tets.data);
  return dataset;
}

template <int Corners>
PartData<Corners> to_part_data(MeshPart<Corners>&& part) {
  return {std::move(part), {}, {}};
}

PartData<4> to_part_data(VentriclePart&& ventricle) {
  PartData<4> data{std::move(ventricle.part), {}, {}};
  add_arrays(ventricle, data.point_data, data.cell_data);
  return data;
}

/// Smoothing steps and the range of the values, from "N[,low,high]".
struct FieldRequest {
  ValueRange range;
  RandomFieldOptions options;
};
FieldRequest field_request(const std::vector<double>& numbers, const ValueRange& usual, std::uint64_t seed) {
  return {numbers.size() == 3 ? ValueRange{numbers[1], numbers[2]} : usual,
          {.smoothing = static_cast<int>(numbers[0]), .seed = seed}};
}

template <int Corners>
void add_fields(Dataset& dataset, const OutputRequest& request) {
  if (dataset.block<Corners>().cells.empty()) return;
  auto mesh = take_mesh<Corners>(dataset);
  DataArrays& data = dataset.block<Corners>().data;
  if (!request.random_speed.empty()) {
    const auto [range, options] = field_request(request.random_speed, {0.1, 1}, request.field_seed);
    data.set({"speed", 1, random_speed(mesh, range, options)});
  }
  if (!request.random_tensors.empty()) {
    const auto [range, options] = field_request(request.random_tensors, {1, 9}, request.field_seed);
    data.set(tensor_array("metric", random_tensors(mesh, range, options)));
  }
  if (request.random_fibers) data.set(vector_array("fiber", random_fibers(mesh, request.field_seed)));
  if (!request.rotating_fibers.empty()) {
    const int axis = request.rotating_fibers.size() == 2 ? static_cast<int>(request.rotating_fibers[1]) : 0;
    data.set(vector_array("fiber", rotating_fibers(mesh, request.rotating_fibers[0], axis)));
  }
  restore_mesh<Corners>(dataset, std::move(mesh));
}

/// Takes "N" or "N,low,high".
Take into_field(std::vector<double>& target) {
  return [&target](const std::string& text) {
    const std::vector<double> numbers = parse_numbers(text);
    const bool whole = numbers[0] >= 0 && numbers[0] <= 10000 && numbers[0] == static_cast<int>(numbers[0]);
    if (!whole || (numbers.size() != 1 && numbers.size() != 3))
      throw UsageError(fmt::format("'{}' is not a number of smoothing steps; write it like 10 or 10,0.1,1", text));
    target = numbers;
  };
}

/// Takes "TURNS" or "TURNS,AXIS".
Take into_turns(std::vector<double>& target) {
  return [&target](const std::string& text) {
    const std::vector<double> numbers = parse_numbers(text);
    const bool axis_good = numbers.size() < 2 || numbers[1] == 0 || numbers[1] == 1 || numbers[1] == 2;
    if (numbers.size() > 2 || !axis_good)
      throw UsageError(fmt::format("'{}' is not a number of turns; write it like 0.5 or 0.5,2 (axis z)", text));
    target = numbers;
  };
}

int write_generated(Dataset&& dataset, const OutputRequest& request, double seconds, Console& console) {
  GenerateSummary summary{.kind = request.kind, .file = request.file, .generate_seconds = seconds};
  Timer timer;
  {
    const InterruptGuard guard;
    const Activity activity(console, "writing " + request.file.string());
    write_dataset(request.file, dataset, request.overwrite());
  }
  summary.write_seconds = timer.seconds();
  KeptArrays arrays = kept_arrays(request.file, dataset);
  summary.arrays = std::move(arrays.kept);
  if (!arrays.dropped.empty()) {
    console.warn(fmt::format(
        "{}: left out {} (the format has no place for {}); write .vtu, .vtk or .msh to keep everything",
        request.file.string(), fmt::join(arrays.dropped, ", "), arrays.dropped.size() == 1 ? "it" : "them"));
  }
  const std::string extension = FileName(request.file).extension;
  if (extension == ".pts" || extension == ".elem" || extension == ".lon")
    console.warn(fmt::format(
        "{}: the numbers are written as they are{}, but CARP files are in µm; solve it with --length-unit mm",
        request.file.string(), request.kind == "ventricle" ? " (in mm)" : " (take them as mm)"));
  summary.vertices = dataset.points.size();
  summary.triangles = dataset.triangles.cells.size();
  summary.tetrahedra = dataset.tets.cells.size();
  print_summary(summary, console);
  return 0;
}

/// Every rank makes and writes its own part; no rank ever has the whole mesh.
template <class GeneratePart>
int generate_over_ranks(const OutputRequest& request, GeneratePart&& generate_part, Console& console) {
  return run_on_all_ranks([&](Communicator& communicator) {
    const PartChoice choice = part_of_rank(communicator);
    GenerateSummary summary{.kind = request.kind, .file = request.file};
    using Data = decltype(to_part_data(generate_part(choice)));
    Data data;
    Timer timer;
    all_or_none(communicator, [&] {
      const Activity activity(console, "generating " + request.kind);
      check_set_name(request.file, request.overwrite());
      data = to_part_data(generate_part(choice));
      constexpr int corners = decltype(data.part.mesh)::corners;
      check_set_holds<corners>(request.file);
      (corners == 4 ? summary.tetrahedra : summary.triangles) = data.part.whole_elements;
    });
    summary.generate_seconds = timer.seconds();
    summary.vertices = data.part.whole_vertices;
    for (const DataArrays* arrays : {&data.point_data, &data.cell_data})
      for (const std::string& name : arrays->names()) summary.arrays.push_back(name);
    timer.restart();
    write_shared(communicator, request.file, std::move(data));
    summary.write_seconds = timer.seconds();
    if (communicator.rank() == 0) print_summary(summary, console);
    return 0;
  });
}

/// Refuses what is not made in parts.
void check_parts_request(const OutputRequest& request) {
  if (request.over_ranks && request.any_field())
    throw UsageError(
        "arrays of noise or fibres are not made in parts (--backend mpi); leave them out, or leave out --backend");
}

/// Adds what all kinds have in common, and the action: `generate(options)` makes the mesh, and `generate_part(options,
/// choice)` a part of it, for kinds that have parts.
template <class Options, class Generate, class GeneratePart = NoParts>
void finish_kind(Command& command, const std::string& kind, const std::shared_ptr<Options>& options, Generate generate,
                 Console& console, GeneratePart generate_part = {}) {
  const auto request = std::make_shared<OutputRequest>();
  request->kind = kind;
  command.group("Arrays, one value per element");
  command.option("--random-speed", "N[,LO,HI]", "Array 'speed': noise smoothed N times, in LO…HI (0.1…1)",
                 into_field(request->random_speed));
  command.option("--random-tensors", "N[,LO,HI]", "Array 'metric': tensors with eigenvalues in LO…HI (1…9)",
                 into_field(request->random_tensors));
  command.flag("--random-fibers", "Array 'fiber': independent random directions", request->random_fibers);
  command.option("--rotating-fibers", "TURNS[,AXIS]", "Array 'fiber': turning about z along axis 0, 1 or 2",
                 into_turns(request->rotating_fibers));
  command.option("--field-seed", "SEED", "Of the random arrays (1)", into(request->field_seed));
  command.group("Output");
  command.option("-o,--output", "FILE", "Where the mesh goes; the extension picks the format", into(request->file),
                 Need::required);
  command.flag("--force", "Replace an existing file", request->force);
  if constexpr (std::is_same_v<GeneratePart, NoParts>) declare_serial_backend(command, kind);
  else
    command.option("--backend", "NAME", "serial, or mpi under mpirun: a piece of FILE.pvtu (or .pvtp) from each rank",
                   one_of(request->over_ranks, {{"serial", false}, {"mpi", true}}));
  declare_common(command, console);
  command.action([options, request, generate, generate_part, &console] {
    check_parts_request(*request);
    static_cast<void>(generate_part);  // most kinds have none
    if constexpr (!std::is_same_v<GeneratePart, NoParts>)
      if (request->over_ranks)
        return generate_over_ranks(
            *request, [&](const PartChoice& choice) { return generate_part(*options, choice); }, console);
    if (request->random_fibers && !request->rotating_fibers.empty())
      throw UsageError(
          "--random-fibers and --rotating-fibers exclude each other (both make the array 'fiber'); give one");
    check_writable(request->file, request->overwrite());
    Timer timer;
    Dataset dataset;
    {
      const Activity activity(console, "generating " + request->kind);
      dataset = to_dataset(generate(*options));
      add_fields<3>(dataset, *request);
      add_fields<4>(dataset, *request);
    }
    return write_generated(std::move(dataset), *request, timer.seconds(), console);
  });
}

template <class Options>
void lattice_options(Command& command, Options& options, const std::string& default_jitter) {
  command.option("--n", "N", fmt::format("Vertices a side ({})", options.n), into(options.n));
  command.option("--extent", "E", "Length of a side (1)", into(options.extent));
  command.option("--jitter", "J", "Move inner vertices by up to this share of a cell (" + default_jitter + ")",
                 into(options.jitter));
  command.option("--seed", "SEED", "Of the random moves (1)", into(options.seed));
}

void declare_square(Command& parent, Console& console) {
  Command command = parent.subcommand("square", "A flat square of triangles on a lattice",
                                      "isochron generate square --n 1024 -o square.vtu");
  const auto options = std::make_shared<SquareOptions>();
  lattice_options(command, *options, "0");
  command.option(
      "--pattern", "NAME", "How cells are cut: diagonal (default) or alternating",
      one_of(options->pattern, {{"diagonal", SquarePattern::diagonal}, {"alternating", SquarePattern::alternating}}));
  finish_kind(command, "square", options, generate_square, console, generate_square_part);
}

void declare_irregular_square(Command& parent, Console& console) {
  Command command = parent.subcommand("irregular-square", "A square with many different valences (paper 000, Mesh 2)",
                                      "isochron generate irregular-square --n 256 -o square.vtu");
  const auto options = std::make_shared<IrregularSquareOptions>();
  lattice_options(command, *options, "0.25");
  command.option("--extra", "SHARE", "Share of cells with a vertex in the middle (0.125)", into(options->extra));
  command.option("--flips", "F", "Edge flips tried per triangle (1)", into(options->flips));
  command.option("--max-valence", "N", "Flips add no triangles at a vertex beyond N (11)", into(options->max_valence));
  finish_kind(command, "irregular-square", options, generate_irregular_square, console);
}

Take into_lattice(CubeOptions& options) {
  return [&options](const std::string& text) {
    const std::vector<std::uint32_t> n = parse_size(text, 3);
    options.nx = n[0];
    options.ny = n[1];
    options.nz = n[2];
  };
}

/// Takes "E" or "X,Y,Z".
Take into_extent(Vec3d& extent) {
  return [&extent](const std::string& text) {
    const std::vector<double> e = parse_numbers(text);
    if (e.size() != 1 && e.size() != 3)
      throw UsageError(fmt::format("'{}' is not a size; write it like 1 or 2,1,1", text));
    extent = e.size() == 1 ? Vec3d{e[0], e[0], e[0]} : Vec3d{e[0], e[1], e[2]};
  };
}

void declare_cube(Command& parent, Console& console) {
  Command command = parent.subcommand("cube", "A box of tetrahedra, six to a cell",
                                      "isochron generate cube --n 64 --jitter 0.2 -o cube.vtu");
  const auto options = std::make_shared<CubeOptions>();
  command.option("--n", "N|NX,NY,NZ", "Vertices along each axis (64)", into_lattice(*options));
  command.option("--extent", "E|X,Y,Z", "Size of the box (1)", into_extent(options->extent));
  command.option("--jitter", "J", "Move inner vertices by up to this share of a cell (0)", into(options->jitter));
  command.option("--seed", "SEED", "Of the random moves (1)", into(options->seed));
  command.option("--diagonal", "NAME", "Which diagonal cells share: ppp (default), npp, pnp, ppn",
                 one_of(options->diagonal, {{"ppp", KuhnDiagonal::ppp},
                                            {"npp", KuhnDiagonal::npp},
                                            {"pnp", KuhnDiagonal::pnp},
                                            {"ppn", KuhnDiagonal::ppn}}));
  finish_kind(command, "cube", options, generate_cube, console, generate_cube_part);
}

void declare_irregular_cube(Command& parent, Console& console) {
  Command command = parent.subcommand("irregular-cube", "A cube with many different valences (paper 003, Mesh 2)",
                                      "isochron generate irregular-cube --n 32 -o cube.vtu");
  const auto options = std::make_shared<IrregularCubeOptions>();
  lattice_options(command, *options, "0.2");
  command.option("--random-faces", "SHARE", "Share of cell faces with a random diagonal (0.58)",
                 into(options->random_faces));
  finish_kind(command, "irregular-cube", options, generate_irregular_cube, console);
}

void declare_sphere(Command& parent, Console& console) {
  Command command = parent.subcommand("sphere", "A geodesic sphere of nearly equal triangles",
                                      "isochron generate sphere --frequency 64 -o sphere.vtp");
  const auto options = std::make_shared<SphereOptions>();
  command.option("--frequency", "F", "Parts of each icosahedron edge (320): 10 F² + 2 vertices",
                 into(options->frequency));
  command.option("--radius", "R", "Of the sphere (1)", into(options->radius));
  finish_kind(command, "sphere", options, generate_sphere, console);
}

void declare_ventricle(Command& parent, Console& console) {
  Command command = parent.subcommand("ventricle", "A left ventricle with arrays 'fiber' and 'sheet', in mm",
                                      "isochron generate ventricle --elements 400000 -o heart.vtu");
  const auto options = std::make_shared<VentricleOptions>();
  command.option("--edge", "MM", "Size of a cell before it is cut into six (1)", into(options->edge));
  command.option("--elements", "N", "Wanted number of tetrahedra, instead of --edge", into(options->elements));
  command.option("--helix-endo", "DEG", "Fibre angle on the inner surface (60)", into(options->helix_endo));
  command.option("--helix-epi", "DEG", "Fibre angle on the outer surface (-60)", into(options->helix_epi));
  command.option("--endo-short", "MM", "Half-axis of the inner surface, across (17)", into(options->endo_short));
  command.option("--endo-long", "MM", "Half-axis of the inner surface, along (47)", into(options->endo_long));
  command.option("--epi-short", "MM", "Half-axis of the outer surface, across (27)", into(options->epi_short));
  command.option("--epi-long", "MM", "Half-axis of the outer surface, along (54)", into(options->epi_long));
  command.option("--base", "MM", "Height of the base plane (15)", into(options->base));
  const auto on_all_threads = [&console](VentricleOptions with_threads) {
    with_threads.threads = console.threads();
    return generate_ventricle(with_threads);
  };
  finish_kind(command, "ventricle", options, on_all_threads, console, generate_ventricle_part);
}

void declare_lens(Command& parent, Console& console) {
  Command command = parent.subcommand("lens", "A lens in a cube of air, with arrays 'region' and 'speed' (paper 003)",
                                      "isochron generate lens --n 48 -o lens.vtu");
  const auto options = std::make_shared<LensOptions>();
  lattice_options(command, *options, "0.1");
  command.option("--radius", "R", "Of the lens's spheres, as a share of the extent (0.55)", into(options->radius));
  command.option("--thickness", "T", "Of the lens, as a share of the extent (0.25)", into(options->thickness));
  command.option("--refractive-index", "N", "Of the lens; its speed is 1/N (2.419)", into(options->refractive_index));
  finish_kind(command, "lens", options, generate_lens, console);
}

void declare_blobs(Command& parent, Console& console) {
  Command command = parent.subcommand("blobs", "Fast blobs in a cube, with arrays 'region' and 'speed' (paper 003)",
                                      "isochron generate blobs --n 48 -o blobs.vtu");
  const auto options = std::make_shared<BlobsOptions>();
  lattice_options(command, *options, "0.1");
  command.option("--blobs", "N", "Balls that melt together (12)", into(options->blobs));
  command.option("--speed-outside", "S", "Region 0 (1)", into(options->speed_outside));
  command.option("--speed-inside", "S", "Region 1, the blobs (10)", into(options->speed_inside));
  finish_kind(command, "blobs", options, generate_blobs, console);
}

}  // namespace

void declare_generate(Command& root, Console& console) {
  Command command = root.subcommand("generate", "Make a mesh or an image to try things on",
                                    "isochron generate cube --n 32 -o cube.vtu\n"
                                    "  isochron generate cube --help          shows the options of a kind");
  declare_square(command, console);
  declare_irregular_square(command, console);
  declare_cube(command, console);
  declare_irregular_cube(command, console);
  declare_sphere(command, console);
  declare_ventricle(command, console);
  declare_lens(command, console);
  declare_blobs(command, console);
  declare_image_kinds(command, console);
}

}  // namespace isochron::cli
