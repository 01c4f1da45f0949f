// A picture of the result, in builds with VTK.
#include "apps/isochron/solve.h"
#include "isochron/core/error.h"

namespace isochron::cli {

#if defined(ISOCHRON_WITH_VTK)

void check_picture(const SolveRequest& request) {
  const std::filesystem::path& file = request.picture.file;
  if (file.extension() != ".png")
    throw UsageError(file.string() + ": is no name of a picture (they are PNG files); give one that ends in .png");
  check_picture_options(request.picture.options);
  check_output_file(file, request.overwrite());
}

void check_picture_cut(const PictureRequest& picture, const Dataset& dataset) {
  if (!picture.file.empty() && picture.options.cut) check_cut(dataset, *picture.options.cut);
}

void write_picture(const PictureRequest& picture, const Dataset& dataset) {
  draw_picture(picture.file, dataset, picture.options);
}

#else

void check_picture(const SolveRequest&) {
  throw RuntimeError("--picture needs VTK (this build has none); rebuild with -DISOCHRON_WITH_VTK=ON");
}

void check_picture_cut(const PictureRequest&, const Dataset&) {}

void write_picture(const PictureRequest&, const Dataset&) {}

#endif

}  // namespace isochron::cli
