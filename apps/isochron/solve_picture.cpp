// A picture of the result, in builds with VTK.
#include "apps/isochron/solve_report.h"
#include "isochron/core/error.h"
#include "isochron/io/file.h"

namespace isochron::cli {

#if defined(ISOCHRON_WITH_VTK)

void check_picture(const SolveRequest& request) {
  const std::filesystem::path& file = request.picture.file;
  if (const FileName name(file); name.extension != ".png" || name.gzip)
    throw UsageError(file.string() + ": is no name of a picture (they are PNG files); give one that ends in .png");
  check_picture_options(request.picture.options);
  check_output_file(file, request.overwrite());
}

void check_picture_cut(const PictureRequest& picture, const Dataset& dataset) {
  if (!picture.file.empty() && picture.options.cut) check_cut(dataset, *picture.options.cut);
}

void write_picture(const PictureRequest& picture, const Dataset& dataset) {
  draw_picture(picture.file, dataset, picture.options, interruptible());
}

#else

void check_picture(const SolveRequest&) {
  throw RuntimeError("--picture needs VTK (this build has none); rebuild with -DISOCHRON_WITH_VTK=ON");
}

void check_picture_cut(const PictureRequest&, const Dataset&) {}

void write_picture(const PictureRequest&, const Dataset&) {}

#endif

std::optional<RuntimeError> draw_result(const SolveRequest& request, const Dataset& dataset, SolveSummary& summary,
                                        const Console& console) {
  if (request.picture.file.empty()) return std::nullopt;
  const Activity activity(console, "drawing " + request.picture.file.string());
  try {
    write_picture(request.picture, dataset);
  } catch (const RuntimeError& error) {
    return error;
  }
  summary.written.push_back(request.picture.file);
  return std::nullopt;
}

}  // namespace isochron::cli
