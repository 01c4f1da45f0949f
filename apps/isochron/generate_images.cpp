#include "apps/isochron/generate_images.h"

#include <algorithm>
#include <array>
#include <memory>

#include "apps/isochron/commands.h"
#include "apps/isochron/generate_report.h"
#include "apps/isochron/output_files.h"
#include "apps/isochron/shared_output.h"
#include "apps/isochron/solve_mpi.h"
#include "isochron/comm/collectives.h"
#include "isochron/core/timer.h"
#include "isochron/generate/check.h"
#include "isochron/generate/images.h"
#include "isochron/io/file.h"
#include "isochron/io/image/formats.h"
#include "isochron/io/image_io.h"
#include "isochron/io/pieces/image_pieces.h"
#include "isochron/io/pieces/part_files.h"
#include "isochron/io/tables.h"

namespace isochron::cli {
namespace {

struct ImageRequest {
  std::string kind;
  std::filesystem::path file;
  bool force = false;
  bool over_ranks = false;

  [[nodiscard]] Overwrite overwrite() const { return force ? Overwrite::yes : Overwrite::no; }
};

struct FromRawOptions {
  std::filesystem::path file;
  std::array<std::uint32_t, 3> shape{};
  std::string type = "float32";
  std::vector<double> spacing{1};
  std::size_t skip = 0;
  bool swap = false;
  std::string name = "speed";
};

/// What the other kinds read: nothing.
template <class Options>
Paths inputs_of(const Options&) {
  return {};
}
Paths inputs_of(const FromRawOptions& options) { return {options.file}; }

/// The first array goes into the named file and each other one into a file beside it, whatever the format can hold.
Paths files_of(const ImageRequest& request, const Image& image) {
  Paths files;
  for (const DataArray& array : image.data.all())
    files.push_back(files.empty() ? request.file : FileName(request.file).beside("_" + array.name));
  return files;
}

/// Takes one of an image's arrays out, as an image of its own.
Image taken(Image& image, std::size_t array) {
  Image one;
  one.grid = image.grid;
  if (array == 0) one.tensor_order = image.tensor_order;
  one.data.set(std::move(image.data.all()[array]));
  return one;
}

/// All files appear, or none.
Paths write_arrays(const ImageRequest& request, Image&& image, Console& console) {
  Paths files = files_of(request, image);
  for (const auto& file : files) check_image_writable(file, request.overwrite());
  const InterruptGuard guard;
  OutputFiles outputs;
  for (std::size_t i = 0; i < files.size(); ++i) {
    check_interrupted();
    const Activity activity(console, "writing " + files[i].string());
    write_image(outputs.add(files[i]), taken(image, i));
  }
  check_interrupted();
  outputs.commit();
  return files;
}

/// All ranks together: the same with sets of pieces.
void write_sets(Communicator& communicator, const Paths& files, ImagePart&& part) {
  write_together(communicator, [&] {
    std::size_t done = 0;
    try {
      for (; done < files.size(); ++done)
        write_image_part(communicator, files[done], {part.whole, part.boxes, taken(part.image, done)});
    } catch (...) {
      while (done > 0) remove_set(files[--done]);  // whoever is left does
      throw;
    }
  });
}

/// Every rank makes and writes its own box; no rank ever has the whole image.
template <class GeneratePart>
int generate_over_ranks(const ImageRequest& request, GeneratePart&& generate_part, Console& console) {
  return run_on_all_ranks([&](Communicator& communicator) {
    ImageSummary summary{.kind = request.kind};
    ImagePart part;
    Timer timer;
    all_or_none(communicator, [&] {
      const Activity activity(console, "generating " + request.kind);
      check_image_set(request.file, request.overwrite());
      part = generate_part(part_of_rank(communicator));
      summary.written = files_of(request, part.image);
      for (const auto& file : summary.written) check_set_writable(file, request.overwrite());
    });
    summary.generate_seconds = timer.seconds();
    summary.shape = part.whole.shape;
    summary.arrays = part.image.data.names();
    timer.restart();
    write_sets(communicator, summary.written, std::move(part));
    summary.write_seconds = timer.seconds();
    if (communicator.rank() == 0) print_summary(summary, console);
    return 0;
  });
}

/// Adds what all kinds have in common, and the action: `generate(options)` makes the image, and `generate_part(options,
/// choice)` a part of it, for kinds that have parts.
template <class Options, class Generate, class GeneratePart = NoParts>
void finish_kind(Command& command, const std::string& kind, const std::shared_ptr<Options>& options, Generate generate,
                 Console& console, GeneratePart generate_part = {}) {
  constexpr bool has_parts = !std::is_same_v<GeneratePart, NoParts>;
  const auto request = std::make_shared<ImageRequest>();
  request->kind = kind;
  command.group("Output");
  command.option("-o,--output", "FILE", "Where the image goes; the extension picks the format", into(request->file),
                 Need::required);
  command.flag("--force", "Replace existing files", request->force);
  if constexpr (has_parts)
    command.option("--backend", "NAME", "serial, or mpi under mpirun: a piece of FILE.pvti from each rank",
                   one_of(request->over_ranks, {{"serial", false}, {"mpi", true}}));
  else declare_serial_backend(command, kind);
  declare_common(command, console);
  command.action([options, request, generate, generate_part, &console] {
    static_cast<void>(generate_part);  // one kind has none
    if constexpr (has_parts)
      if (request->over_ranks)
        return generate_over_ranks(
            *request, [&](const PartChoice& choice) { return generate_part(*options, choice); }, console);
    check_image_writable(request->file, request->overwrite());
    check_output_files({request->file}, inputs_of(*options), request->overwrite());
    Timer timer;
    Image image = generate(*options);
    ImageSummary summary{.kind = request->kind, .shape = image.grid.shape, .arrays = image.data.names()};
    summary.generate_seconds = timer.seconds();
    timer.restart();
    summary.written = write_arrays(*request, std::move(image), console);
    summary.write_seconds = timer.seconds();
    print_summary(summary, console);
    return 0;
  });
}

template <class Size>
Take into_size(Size& size) {
  return [&size](const std::string& text) {
    const std::vector<std::uint32_t> numbers = parse_size(text, size.size());
    std::copy(numbers.begin(), numbers.end(), size.begin());
  };
}

void box_options(Command& command, ImageSize& size, const std::string& n) {
  command.option("--n", "N|NX,NY,NZ", "Voxels along each axis (" + n + ")", into_size(size.n));
  command.option("--spacing", "H", fmt::format("Size of a voxel ({})", size.spacing), into(size.spacing));
}

template <class Options>
void model_options(Command& command, Options& options) {
  command.option("--n", "N|NX,NZ", "Pixels along x and down (301,101)", into_size(options.n));
  command.option("--spacing", "H", "Size of a pixel, m (10)", into(options.spacing));
  command.option("--speed-top", "S", fmt::format("On top, m/s ({})", options.speed_top), into(options.speed_top));
  command.option("--speed-bottom", "S", fmt::format("At the bottom, m/s ({})", options.speed_bottom),
                 into(options.speed_bottom));
  command.option("--seed", "SEED", "Of the random shapes (1)", into(options.seed));
}

void declare_diagonal_tensors(Command& parent, Console& console) {
  Command command =
      parent.subcommand("diagonal-tensors", "Image: one velocity tensor everywhere (paper 004, Example 1)",
                        "isochron generate diagonal-tensors -o example1.nii.gz");
  const auto options = std::make_shared<DiagonalTensorsOptions>();
  box_options(command, options->size, "64");
  command.option("--coupling", "C", "Off-diagonal components; the diagonal is 1 (0.9)", into(options->coupling));
  finish_kind(command, "diagonal-tensors", options, generate_diagonal_tensors, console, generate_diagonal_tensors_part);
}

void declare_helix_tensors(Command& parent, Console& console) {
  Command command =
      parent.subcommand("helix-tensors", "Image: velocity tensors along a helix (after paper 004, Example 2)",
                        "isochron generate helix-tensors --turns 3 -o example2.nii.gz");
  const auto options = std::make_shared<HelixTensorsOptions>();
  box_options(command, options->size, "64");
  command.option("--radius", "R", "Of the helix, as a share of the smaller side (0.3)", into(options->radius));
  command.option("--tube", "R", "Radius of the tube around it, as a share too (0.08)", into(options->tube));
  command.option("--turns", "N", "From the first slice to the last (2)", into(options->turns));
  command.option("--along", "E", "Eigenvalue along the helix (1)", into(options->along));
  command.option("--across", "E", "The other two, and all outside the tube (0.0001)", into(options->across));
  finish_kind(command, "helix-tensors", options, generate_helix_tensors, console, generate_helix_tensors_part);
}

void declare_crossing_fibers(Command& parent, Console& console) {
  Command command = parent.subcommand("crossing-fibers",
                                      "Image: diffusion tensors of two crossing bundles, with _mask and _fa beside",
                                      "isochron generate crossing-fibers --angle 45 -o crossing.nii.gz");
  const auto options = std::make_shared<CrossingFibersOptions>();
  box_options(command, options->size, "64,64,24");
  command.option("--angle", "DEG", "Between the bundles (60)", into(options->angle));
  command.option("--radius", "R", "Of a bundle, as a share of the smaller side (0.12)", into(options->radius));
  command.option("--along", "D", "Diffusivity along a bundle, mm²/s (0.0017)", into(options->along));
  command.option("--across", "D", "Across it (0.0002)", into(options->across));
  command.option("--background", "D", "Outside (0.0008)", into(options->background));
  command.option("--noise", "SHARE", "Added to the components, as a share of --along (0)", into(options->noise));
  command.option("--seed", "SEED", "Of the noise (1)", into(options->seed));
  finish_kind(command, "crossing-fibers", options, generate_crossing_fibers, console, generate_crossing_fibers_part);
}

void declare_layers(Command& parent, Console& console) {
  Command command = parent.subcommand("layers", "Image: speeds of a layered underground, with _layer beside",
                                      "isochron generate layers --layers 12 -o layers.nii.gz");
  const auto options = std::make_shared<LayersOptions>();
  model_options(command, *options);
  command.option("--layers", "N", "How many (8)", into(options->layers));
  command.option("--relief", "SHARE", "How far interfaces wave; 0 is flat, below 1 (0.6)", into(options->relief));
  finish_kind(command, "layers", options, generate_layers, console, generate_layers_part);
}

void declare_salt(Command& parent, Console& console) {
  Command command = parent.subcommand("salt", "Image: speeds of an underground with a salt body, with _salt beside",
                                      "isochron generate salt --seed 4 -o salt.nii.gz");
  const auto options = std::make_shared<SaltOptions>();
  model_options(command, *options);
  command.option("--speed-salt", "S", "Of the salt, m/s (4500)", into(options->speed_salt));
  command.option("--radius", "R", "Of the salt, as a share of the depth (0.25)", into(options->radius));
  command.option("--roughness", "SHARE", "How far its outline leaves the circle (0.25)", into(options->roughness));
  finish_kind(command, "salt", options, generate_salt, console, generate_salt_part);
}

void declare_phantom(Command& parent, Console& console) {
  Command command = parent.subcommand("phantom", "Image: labels of a chamber in a ring, with _density beside",
                                      "isochron generate phantom --n 96 -o phantom.nii.gz");
  const auto options = std::make_shared<PhantomOptions>();
  box_options(command, options->size, "64");
  command.option("--radius", "R", "Of the chamber, as a share of the smallest side (0.28)", into(options->radius));
  command.option("--wall", "T", "How thick its wall is, as a share too (0.08)", into(options->wall));
  command.option("--tube", "R", "Radius of the ring's tube, as a share too (0.06)", into(options->tube));
  finish_kind(command, "phantom", options, generate_phantom, console, generate_phantom_part);
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
  if (options.spacing.size() != 1 && options.spacing.size() != 3)
    throw UsageError("--spacing: not a spacing (one number, or three); write it like 10 or 10,10,5");
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
  for (std::size_t d = 0; d < 3; ++d) {
    const double spacing = options.spacing[options.spacing.size() == 3 ? d : 0];
    require_positive("spacing", spacing);
    image.grid.axes[d] = spacing * image.grid.axes[d];
  }
  image.data.all().front().name = options.name;
  return image;
}

void declare_from_raw(Command& parent, Console& console) {
  Command command = parent.subcommand(
      "from-raw", "Image: bare numbers of a file without a header",
      "isochron generate from-raw marmousi.bin --shape 401,1601 --swap --spacing 10 -o marmousi.nii.gz");
  const auto options = std::make_shared<FromRawOptions>();
  command.positional("FILE", "The numbers", into(options->file));
  command.option("--shape", "NX,NY[,NZ]", "Values along each axis, the one that runs fastest first",
                 [options](const std::string& text) {
                   const bool flat = std::count(text.begin(), text.end(), ',') < 2;
                   const std::vector<std::uint32_t> shape = parse_size(text, flat ? 2 : 3);
                   options->shape = {shape[0], shape[1], flat ? 1 : shape[2]};
                 });
  command.option("--type", "NAME", "uint8, int16, float32 (default), float64 …, with le or be behind it; or text",
                 into(options->type));
  command.option("--skip", "BYTES", "Before the first value (0)", into(options->skip));
  command.flag("--swap", "Swap the first two axes, so that the depth of seismic traces comes second", options->swap);
  command.option("--spacing", "H|X,Y,Z", "Size of a voxel (1)", into(options->spacing));
  command.option("--name", "NAME", "Of the array (speed)", into(options->name));
  finish_kind(command, "from-raw", options, from_raw, console);
}

}  // namespace

void declare_serial_backend(Command& command, const std::string& kind) {
  command.option("--backend", "NAME", "serial (over MPI ranks: square, cube, ventricle and the images but from-raw)",
                 [kind](const std::string& text) {
                   if (text != "serial")
                     throw UsageError(fmt::format(
                         "{} is made by one process (over MPI ranks: square, cube, ventricle and the images but "
                         "from-raw); leave the option out",
                         kind));
                 });
}

void declare_image_kinds(Command& generate, Console& console) {
  declare_diagonal_tensors(generate, console);
  declare_helix_tensors(generate, console);
  declare_crossing_fibers(generate, console);
  declare_layers(generate, console);
  declare_salt(generate, console);
  declare_phantom(generate, console);
  declare_from_raw(generate, console);
}

}  // namespace isochron::cli
