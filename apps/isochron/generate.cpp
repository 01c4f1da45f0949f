// isochron generate: meshes and images to try things on.
#include <algorithm>
#include <array>
#include <memory>
#include <tuple>

#include "apps/isochron/commands.h"
#include "apps/isochron/image_input.h"
#include "apps/isochron/report.h"
#include "apps/isochron/shared_output.h"
#include "apps/isochron/solve_mpi.h"
#include "isochron/comm/collectives.h"
#include "isochron/core/join_text.h"
#include "isochron/core/timer.h"
#include "isochron/generate.h"
#include "isochron/generate/check.h"
#include "isochron/generate/option_tables.h"
#include "isochron/io.h"
#include "isochron/io/file.h"
#include "isochron/io/image/formats.h"
#include "isochron/io/pieces/image_pieces.h"
#include "isochron/io/pieces/part_files.h"
#include "isochron/io/tables.h"

namespace isochron::cli {
namespace {

/// In place of the function that makes a part: the kind is made in one piece only.
struct NoParts {};

/// What every kind has: where it goes; and random arrays on meshes.
struct GenerateRequest {
  std::string kind;
  std::filesystem::path file;
  Overwrite overwrite = Overwrite::no;
  bool over_ranks = false;
  std::vector<double> random_speed;    // smoothing[,low,high]
  std::vector<double> random_tensors;  // smoothing[,low,high]
  bool random_fibers = false;
  std::vector<double> rotating_fibers;  // turns[,axis]
  std::uint64_t field_seed = 1;
  [[nodiscard]] bool any_field() const {
    return !random_speed.empty() || !random_tensors.empty() || random_fibers || !rotating_fibers.empty();
  }
};

// ---- meshes

// All nine components: any reader then knows which is which.
DataArray tensor_array(std::string name, const std::vector<SymTensor3f>& tensors) {
  std::vector<float> values;
  values.reserve(9 * tensors.size());
  for (const SymTensor3f& m : tensors)
    values.insert(values.end(), {m.xx, m.xy, m.xz, m.xy, m.yy, m.yz, m.xz, m.yz, m.zz});
  return {std::move(name), 9, std::move(values)};
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
void add_fields(Dataset& dataset, const GenerateRequest& request) {
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
      throw usage_error("'{}' is not a number of smoothing steps; write it like 10 or 10,0.1,1", text);
    target = numbers;
  };
}

/// Takes "TURNS" or "TURNS,AXIS".
Take into_turns(std::vector<double>& target) {
  return [&target](const std::string& text) {
    const std::vector<double> numbers = parse_numbers(text);
    const bool axis_good = numbers.size() < 2 || numbers[1] == 0 || numbers[1] == 1 || numbers[1] == 2;
    if (numbers.size() > 2 || !axis_good)
      throw usage_error("'{}' is not a number of turns; write it like 0.5 or 0.5,2 (axis z)", text);
    target = numbers;
  };
}

void declare_fields(Command& command, GenerateRequest& request) {
  command.group("Arrays, one value per element");
  command.option("--random-speed", "N[,LO,HI]", "Array 'speed': noise smoothed N times, in LO…HI (0.1…1)",
                 into_field(request.random_speed));
  command.option("--random-tensors", "N[,LO,HI]", "Array 'metric': tensors with eigenvalues in LO…HI (1…9)",
                 into_field(request.random_tensors));
  command.flag("--random-fibers", "Array 'fiber': independent random directions", request.random_fibers);
  command.option("--rotating-fibers", "TURNS[,AXIS]", "Array 'fiber': turning about z along axis 0, 1 or 2",
                 into_turns(request.rotating_fibers));
  command.option("--field-seed", "SEED", "Of the random arrays (1)", into(request.field_seed));
}

struct MeshCounts {
  std::uint64_t vertices = 0, triangles = 0, tetrahedra = 0;
};

void report_mesh(const GenerateRequest& request, const MeshCounts& counts, const std::vector<std::string>& arrays,
                 double generate_seconds, double write_seconds, const Console& console) {
  Report report(9);
  report.title("file", request.file.string(),
               counted(counts.vertices, "vertex", "vertices") + ", " +
                   (counts.tetrahedra > 0 ? counted(counts.tetrahedra, "tetrahedron", "tetrahedra")
                                          : counted(counts.triangles, "triangle", "triangles")));
  report.add({{"kind", request.kind},
              {"vertices", counts.vertices},
              {"triangles", counts.triangles},
              {"tetrahedra", counts.tetrahedra},
              {"arrays", arrays}});
  if (!arrays.empty()) report.row("arrays", "{}", join_text(arrays, ", "));
  report.times({{"generate", generate_seconds}, {"write", write_seconds}});
  report.print(console);
}

int write_generated(Dataset&& dataset, const GenerateRequest& request, double seconds, Console& console) {
  const std::string file = request.file.string();
  const Timer timer;
  {
    const InterruptGuard guard;
    const Activity activity(console, "writing " + file);
    write_dataset(request.file, dataset, request.overwrite);
  }
  const double write_seconds = timer.seconds();
  const KeptArrays arrays = kept_arrays(request.file, dataset);
  warn_dropped_arrays(request.file, arrays.dropped, ".vtu, .vtk or .msh", console);
  if (is_carp_file(request.file))
    console.warn("{}: the numbers are written as they are{}, but CARP files are in µm; solve it with --length-unit mm",
                 file, request.kind == "ventricle" ? " (in mm)" : " (take them as mm)");
  report_mesh(request, {dataset.points.size(), dataset.triangles.cells.size(), dataset.tets.cells.size()}, arrays.kept,
              seconds, write_seconds, console);
  return 0;
}

/// Every rank makes and writes its own part; no rank ever has the whole mesh.
template <int Corners>
int write_part(Communicator& communicator, const GenerateRequest& request,
               const std::function<PartData<Corners>()>& make, Console& console) {
  PartData<Corners> data;
  Timer timer;
  all_or_none(communicator, [&] {
    const Activity activity(console, "generating " + request.kind);
    check_set_name(request.file, request.overwrite);
    data = make();
    check_set_holds<Corners>(request.file);
  });
  const double generate_seconds = timer.seconds();
  MeshCounts counts{.vertices = data.part.whole_vertices};
  (Corners == 4 ? counts.tetrahedra : counts.triangles) = data.part.whole_elements;
  std::vector<std::string> names = data.point_data.names();
  for (const std::string& name : data.cell_data.names()) names.push_back(name);
  timer.restart();
  write_shared(communicator, request.file, std::move(data), request.overwrite);
  if (communicator.rank() == 0) report_mesh(request, counts, names, generate_seconds, timer.seconds(), console);
  return 0;
}

template <class Options, class Generate>
int generate_mesh(const GenerateRequest& request, const Options& options, Generate generate, Console& console) {
  if (request.random_fibers && !request.rotating_fibers.empty())
    throw UsageError(
        "--random-fibers and --rotating-fibers exclude each other (both make the array 'fiber'); give one");
  check_writable(request.file, request.overwrite);
  const Timer timer;
  Dataset dataset;
  {
    const Activity activity(console, "generating " + request.kind);
    dataset = to_dataset(generate(options));
    add_fields<3>(dataset, request);
    add_fields<4>(dataset, request);
  }
  return write_generated(std::move(dataset), request, timer.seconds(), console);
}

// ---- images

/// The first array goes into the named file and each other one into a file beside it, whatever the format can hold.
Paths files_of(const GenerateRequest& request, const Image& image) {
  Paths files;
  for (const DataArray& array : image.data.all())
    files.push_back(files.empty() ? request.file : FileName(request.file).beside("_" + array.name));
  return files;
}

/// Takes one of an image's arrays out, as an image of its own.
Image taken(Image& image, std::size_t array) {
  Image one = image_of(image.grid, std::move(image.data.all()[array]));
  if (array == 0) one.tensor_order = image.tensor_order;
  return one;
}

/// All ranks together: the files of all arrays, or none.
void write_sets(Communicator& communicator, const Paths& files, ImagePart&& part, Overwrite overwrite) {
  write_together(communicator, [&] {
    std::size_t done = 0;
    try {
      for (; done < files.size(); ++done)
        write_image_part(communicator, files[done], {part.whole, part.boxes, taken(part.image, done)}, overwrite);
    } catch (...) {
      while (done > 0) remove_set(files[--done]);  // whoever is left does
      throw;
    }
  });
}

void report_image(const GenerateRequest& request, const ImageGrid& grid, const std::vector<std::string>& arrays,
                  const Paths& written, double generate_seconds, double write_seconds, const Console& console) {
  Report report(9);
  report.title("file", written.front().string(), fmt::format("{} voxels", join_text(grid.shape, " x ")));
  report.add({{"kind", request.kind}, {"shape", grid.shape}, {"arrays", arrays}, {"written", file_names(written)}});
  report.row("arrays", "{}", join_text(arrays, ", "));
  if (written.size() > 1) report.written(written, "files");
  report.times({{"generate", generate_seconds}, {"write", write_seconds}});
  report.print(console);
}

/// Every rank makes and writes its own box; no rank ever has the whole image.
int write_part(Communicator& communicator, const GenerateRequest& request, const std::function<ImagePart()>& make,
               Console& console) {
  ImagePart part;
  Paths files;
  Timer timer;
  all_or_none(communicator, [&] {
    const Activity activity(console, "generating " + request.kind);
    check_image_set(request.file, request.overwrite);
    part = make();
    files = files_of(request, part.image);
    for (const auto& file : files) check_set_writable(file, request.overwrite);
  });
  const double generate_seconds = timer.seconds();
  const ImageGrid whole = part.whole;
  const std::vector<std::string> names = part.image.data.names();
  timer.restart();
  write_sets(communicator, files, std::move(part), request.overwrite);
  if (communicator.rank() == 0) report_image(request, whole, names, files, generate_seconds, timer.seconds(), console);
  return 0;
}

template <class Options, class Generate>
int generate_image(const GenerateRequest& request, const Options& options, Generate generate, Console& console) {
  check_image_writable(request.file, request.overwrite);
  if constexpr (requires { options.file; }) check_output_files({request.file}, {options.file}, request.overwrite);
  else check_output_files({request.file}, {}, request.overwrite);
  Timer timer;
  Image image = generate(options);
  const double generate_seconds = timer.seconds();
  timer.restart();
  const Paths files = files_of(request, image);
  for (const auto& file : files) check_image_writable(file, request.overwrite);
  const ImageGrid grid = image.grid;
  const std::vector<std::string> names = image.data.names();
  write_images(files, request.overwrite, console, [&](std::size_t i) { return taken(image, i); });
  report_image(request, grid, names, files, generate_seconds, timer.seconds(), console);
  return 0;
}

// ---- all kinds

/// Declares the options of a generator; some of them are lists.
struct DeclareGenerator : DeclareOptions {
  using DeclareOptions::operator();

  template <std::size_t Axes>
  void operator()(const OptionText& text, std::array<std::uint32_t, Axes>& size) const {
    const bool equal = std::count(size.begin(), size.end(), size[0]) == static_cast<std::ptrdiff_t>(Axes);
    command.option(flag_name(text.name), text.value,
                   shown_help(text.help, equal ? fmt::format("{}", size[0]) : join_text(size, ",")),
                   [&size](const std::string& value) {
                     const std::vector<std::uint32_t> numbers = parse_size(value, Axes);
                     std::copy(numbers.begin(), numbers.end(), size.begin());
                   });
  }
  void operator()(const OptionText& text, const std::tuple<std::size_t&, std::size_t&, std::size_t&>& size) const {
    declare(text, std::get<0>(size), [size](const std::string& value) {
      const std::vector<std::uint32_t> numbers = parse_size(value, 3);
      auto target = size;
      target = std::make_tuple(numbers[0], numbers[1], numbers[2]);
    });
  }
  void operator()(const OptionText& text, BoxExtent extent) const {
    declare(text, extent, [extent](const std::string& value) {
      const std::vector<double> e = parse_numbers(value);
      if (e.size() != 1 && e.size() != 3) throw usage_error("'{}' is not a size; write it like 1 or 2,1,1", value);
      extent.sides = e.size() == 1 ? Vec3d{e[0], e[0], e[0]} : Vec3d{e[0], e[1], e[2]};
    });
  }
};

/// --backend of a kind: over ranks where it is made in parts too, else of one process only, which it says.
void declare_backend(Command& command, GenerateRequest& request, const char* piece) {
  if (piece != nullptr)
    return command.option("--backend", "NAME", fmt::format("serial, or mpi under mpirun: a piece of {}", piece),
                          one_of(request.over_ranks, {{"serial", false}, {"mpi", true}}));
  command.option("--backend", "NAME", "serial (over MPI ranks: square, cube, ventricle and the images but from-raw)",
                 [&request](const std::string& text) {
                   if (text != "serial")
                     throw usage_error(
                         "{} is made by one process (over MPI ranks: square, cube, ventricle and the images but "
                         "from-raw); leave the option out",
                         request.kind);
                 });
}

/// What the command says of a kind.
struct Kind {
  const char *name, *what, *example;
};

class Kinds {
 public:
  Kinds(Command& parent, Console& console) : parent_(parent), console_(console) {}

  /// Declares a kind: `generate(options)` makes the mesh or image, and `generate_part(options, choice)` a part of it,
  /// for kinds that have parts.
  template <class Options, class Made, class GeneratePart = NoParts>
  void add(const Kind& kind, Made (*generate)(const Options&), GeneratePart generate_part = {}) {
    constexpr bool image = std::is_same_v<Made, Image>, parts = !std::is_same_v<GeneratePart, NoParts>;
    Command command = parent_.subcommand(kind.name, kind.what, kind.example);
    const auto options = std::make_shared<Options>();
    const auto request = std::make_shared<GenerateRequest>();
    request->kind = kind.name;
    each_option(*options, DeclareGenerator{{command}});
    if (!image) declare_fields(command, *request);
    command.group("Output");
    command.option("-o,--output", "FILE",
                   fmt::format("Where the {} goes; the extension picks the format", image ? "image" : "mesh"),
                   into(request->file), Need::required);
    command.flag("--force", image ? "Replace existing files" : "Replace an existing file", request->overwrite,
                 Overwrite::yes);
    const char* piece = image ? "FILE.pvti from each rank" : "FILE.pvtu (or .pvtp) from each rank";
    declare_backend(command, *request, parts ? piece : nullptr);
    declare_common(command, console_);
    command.action([options, request, generate, generate_part, &console = console_] {
      if (request->over_ranks && request->any_field())
        throw UsageError(
            "arrays of noise or fibres are not made in parts (--backend mpi); leave them out, or leave out --backend");
      static_cast<void>(generate_part);  // some kinds have none
      if constexpr (parts)
        if (request->over_ranks) return run_parts(*request, *options, generate_part, console);
      if constexpr (requires { options->threads; }) options->threads = console.threads();
      if constexpr (image) return generate_image(*request, *options, generate, console);
      else return generate_mesh(*request, *options, generate, console);
    });
  }

 private:
  template <class Options, class GeneratePart>
  static int run_parts(const GenerateRequest& request, const Options& options, GeneratePart generate_part,
                       Console& console) {
    return run_on_all_ranks([&](Communicator& communicator) {
      const auto make = [&] { return generate_part(options, part_of_rank(communicator)); };
      if constexpr (std::is_same_v<decltype(make()), ImagePart>) {
        return write_part(communicator, request, make, console);
      } else {
        using Data = decltype(to_part_data(make()));
        constexpr int corners = decltype(Data::part.mesh)::corners;
        return write_part<corners>(
            communicator, request, [&] { return to_part_data(make()); }, console);
      }
    });
  }

  Command& parent_;
  Console& console_;
};

// ---- from-raw

struct FromRawOptions {
  std::filesystem::path file;
  std::array<std::uint32_t, 3> shape{};
  std::string type = "float32";
  ImagePlace place{};
  std::size_t skip = 0;
  bool swap = false;
  std::string name = "speed";
};

void each_option(FromRawOptions& options, const DeclareGenerator& visit) {
  Command& command = visit.command;
  command.positional("FILE", "The numbers", into(options.file));
  command.option("--shape", "NX,NY[,NZ]", "Values along each axis, the one that runs fastest first",
                 [&options](const std::string& text) {
                   const bool flat = std::count(text.begin(), text.end(), ',') < 2;
                   const std::vector<std::uint32_t> shape = parse_size(text, flat ? 2 : 3);
                   options.shape = {shape[0], shape[1], flat ? 1 : shape[2]};
                 });
  command.option("--type", "NAME", "uint8, int16, float32 (default), float64 …, with le or be behind it; or text",
                 into(options.type));
  command.option("--skip", "BYTES", "Before the first value (0)", into(options.skip));
  command.flag("--swap", "Swap the first two axes, so that the depth of seismic traces comes second", options.swap);
  declare_place(command, options.place);
  command.option("--name", "NAME", "Of the array (speed)", into(options.name));
}

/// The image with its first two axes swapped, values and all.
void swap_axes(Image& image) {
  ImageGrid turned = image.grid;
  std::swap(turned.shape[0], turned.shape[1]);
  for (DataArray& array : image.data.all()) {
    const auto components = static_cast<std::size_t>(array.components);
    std::visit(
        [&](auto& values) {
          auto moved = values;
          for (std::size_t v = 0; v < turned.voxel_count(); ++v) {
            const auto [i, j, k] = turned.index(VertexId(v));
            const std::size_t from = image.grid.voxel(j, i, k).index();
            std::copy_n(&values[from * components], components, &moved[v * components]);
          }
          values = std::move(moved);
        },
        array.values);
  }
  image.grid = turned;
}

Image from_raw(const FromRawOptions& options) {
  const bool text = options.type == "text";
  if (text != (options.shape[0] == 0))
    throw UsageError(text ? "--shape and --type text exclude each other (a text has rows); leave --shape out"
                          : "--shape is required (a raw file does not say it); give it like 401,1601");
  if (text && options.skip > 0)
    throw UsageError("--skip goes with bytes, not with --type text; leave it out, and take the lines out of the file");
  Image image;
  if (text) {
    image = read_text_image(options.file);
  } else {
    const auto [type, encoding] = parse_raw_type(options.type);
    image = read_raw_image(options.file,
                           {.shape = options.shape, .type = type, .encoding = encoding, .skip = options.skip});
  }
  if (options.swap) swap_axes(image);
  place_image(image.grid, options.place);
  image.data.all().front().name = options.name;
  return image;
}

}  // namespace

void declare_generate(Command& root, Console& console) {
  Command command = root.subcommand("generate", "Make a mesh or an image to try things on",
                                    "isochron generate cube --n 32 -o cube.vtu\n"
                                    "  isochron generate cube --help          shows the options of a kind");
  Kinds kinds(command, console);
  kinds.add({"square", "A flat square of triangles on a lattice", "isochron generate square --n 1024 -o square.vtu"},
            generate_square, generate_square_part);
  kinds.add({"irregular-square", "A square with many different valences (paper 000, Mesh 2)",
             "isochron generate irregular-square --n 256 -o square.vtu"},
            generate_irregular_square);
  kinds.add({"cube", "A box of tetrahedra, six to a cell", "isochron generate cube --n 64 --jitter 0.2 -o cube.vtu"},
            generate_cube, generate_cube_part);
  kinds.add({"irregular-cube", "A cube with many different valences (paper 003, Mesh 2)",
             "isochron generate irregular-cube --n 32 -o cube.vtu"},
            generate_irregular_cube);
  kinds.add({"sphere", "A geodesic sphere of nearly equal triangles",
             "isochron generate sphere --frequency 64 -o sphere.vtp"},
            generate_sphere);
  kinds.add({"ventricle", "A left ventricle with arrays 'fiber' and 'sheet', in mm",
             "isochron generate ventricle --elements 400000 -o heart.vtu"},
            generate_ventricle, generate_ventricle_part);
  kinds.add({"lens", "A lens in a cube of air, with arrays 'region' and 'speed' (paper 003)",
             "isochron generate lens --n 48 -o lens.vtu"},
            generate_lens);
  kinds.add({"blobs", "Fast blobs in a cube, with arrays 'region' and 'speed' (paper 003)",
             "isochron generate blobs --n 48 -o blobs.vtu"},
            generate_blobs);
  kinds.add({"diagonal-tensors", "Image: one velocity tensor everywhere (paper 004, Example 1)",
             "isochron generate diagonal-tensors -o example1.nii.gz"},
            generate_diagonal_tensors, generate_diagonal_tensors_part);
  kinds.add({"helix-tensors", "Image: velocity tensors along a helix (after paper 004, Example 2)",
             "isochron generate helix-tensors --turns 3 -o example2.nii.gz"},
            generate_helix_tensors, generate_helix_tensors_part);
  kinds.add({"crossing-fibers", "Image: diffusion tensors of two crossing bundles, with _mask and _fa beside",
             "isochron generate crossing-fibers --angle 45 -o crossing.nii.gz"},
            generate_crossing_fibers, generate_crossing_fibers_part);
  kinds.add({"layers", "Image: speeds of a layered underground, with _layer beside",
             "isochron generate layers --layers 12 -o layers.nii.gz"},
            generate_layers, generate_layers_part);
  kinds.add({"salt", "Image: speeds of an underground with a salt body, with _salt beside",
             "isochron generate salt --seed 4 -o salt.nii.gz"},
            generate_salt, generate_salt_part);
  kinds.add({"phantom", "Image: labels of a chamber in a ring, with _density beside",
             "isochron generate phantom --n 96 -o phantom.nii.gz"},
            generate_phantom, generate_phantom_part);
  kinds.add({"from-raw", "Image: bare numbers of a file without a header",
             "isochron generate from-raw marmousi.bin --shape 401,1601 --swap --spacing 10 -o marmousi.nii.gz"},
            from_raw);
}

}  // namespace isochron::cli
