// A picture of the mesh by the shapes of its elements, in builds with VTK.
#include "apps/isochron/surface.h"
#include "isochron/core/error.h"
#include "isochron/io/file.h"
#if defined(ISOCHRON_WITH_VTK)
#include "isochron/draw/picture.h"
#endif

namespace isochron::cli {

#if defined(ISOCHRON_WITH_VTK)

void check_quality_picture(const SurfaceRequest& request) {
  if (const FileName name(request.picture); name.extension != ".png" || name.gzip)
    throw UsageError(request.picture.string() +
                     ": is no name of a picture (they are PNG files); give one that ends in .png");
  check_output_file(request.picture, request.overwrite());
}

void write_quality_picture(const SurfaceRequest& request, const TriangleMesh& surface, const TetMesh* tets) {
  PictureOptions options;
  options.title = request.output.filename().string();
  if (tets != nullptr) draw_quality(request.picture, *tets, options, interruptible());
  else draw_quality(request.picture, surface, options, interruptible());
}

#else

void check_quality_picture(const SurfaceRequest&) {
  throw RuntimeError("--picture needs VTK (this build has none); rebuild with -DISOCHRON_WITH_VTK=ON");
}

void write_quality_picture(const SurfaceRequest&, const TriangleMesh&, const TetMesh*) {}

#endif

}  // namespace isochron::cli
