// Images that are written together, and sets of pieces that all ranks of a job write.
#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "apps/isochron/exit_code.h"
#include "apps/isochron/problem.h"
#include "isochron/communicator.h"
#include "isochron/error.h"
#include "isochron/io.h"
#include "isochron/io/bytes.h"
#include "isochron/io/file.h"
#include "isochron/io/mesh/formats.h"
#include "isochron/io/pieces/image_pieces.h"
#include "isochron/io/pieces/part_files.h"
#include "isochron/partition.h"

namespace isochron::cli {

/// An image of one array.
inline Image image_of(const ImageGrid& grid, DataArray array) {
  Image image{grid, {}, {}, {}};
  image.data.set(std::move(array));
  return image;
}

/// Writes images, all of them or none; `image(i)` gives each when it is its turn.
template <class GetImage>
void write_images(const Paths& names, Overwrite overwrite, const Console& console, GetImage&& image) {
  const InterruptGuard guard;
  OutputFiles files(overwrite);
  for (std::size_t i = 0; i < names.size(); ++i) {
    check_interrupted();
    const Activity activity(console, "writing " + names[i].string());
    write_image(files.add(names[i]), image(i));
  }
  check_interrupted();
  files.commit();
}

/// Whether the extension is that of TrackVis, whose files say where the voxels of an image are. Looks at the name only.
inline bool is_trackvis_file(const std::filesystem::path& file) { return FileName(file).full_extension() == ".trk"; }

/// Writes lines in an image as one of several files that appear together.
inline void write_lines(const std::filesystem::path& name, const Dataset& lines, const ImageGrid& grid,
                        OutputFiles& files) {
  if (is_trackvis_file(name)) write_trk(files.add(name), lines, grid);
  else write_dataset(files, name, lines);
}

/// Before any work: throws when one of them exists and may not be replaced, or cannot be written, or is an input.
inline void check_output_files(const Paths& outputs, const Paths& inputs, Overwrite overwrite) {
  for (const auto& output : outputs) {
    check_output_file(output, overwrite);
    check_not_among(output, inputs, "is an input too (it would be replaced)");
  }
}

/// What a rank makes of something that ranks make in parts.
inline PartChoice part_of_rank(const Communicator& communicator) {
  return {static_cast<std::uint32_t>(communicator.rank()), static_cast<std::uint32_t>(communicator.size())};
}

/// All ranks together: calls `write()`. A signal ends the writing, and then nothing is left of it: a rank that waits
/// looks for signals too, because the launcher sends them to all when one rank is gone. One that alone gets a signal
/// ends the others.
template <class Write>
void write_together(Communicator& communicator, Write&& write) {
  const InterruptGuard guard;
  communicator.watch = check_interrupted;
  try {
    write();
  } catch (const ThrownTogether&) {
    throw;
  } catch (const Cancelled&) {
    communicator.abort(report_stopped());  // ranks but the first say nothing
  }
  communicator.watch = {};
}

template <int Corners>
void write_shared(Communicator& communicator, const std::filesystem::path& path, PartData<Corners> data,
                  Overwrite overwrite) {
  write_together(communicator, [&] { write_parts(communicator, path, std::move(data), overwrite); });
}
inline void write_shared(Communicator& communicator, const std::filesystem::path& path, ImagePart part,
                         Overwrite overwrite) {
  write_together(communicator, [&] { write_image_part(communicator, path, std::move(part), overwrite); });
}

}  // namespace isochron::cli
