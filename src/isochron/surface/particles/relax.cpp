#include "isochron/surface/particles/relax.h"

#include "isochron/surface/particles/cuda/relax_on_device.h"
#include "isochron/surface/particles/published_relaxation.h"
#include "isochron/surface/particles/relaxation.h"

namespace isochron {

Particles relax(const SplineField& distance, const SizeField& sizes, const std::vector<Vec3d>& seeds,
                const ParticleOptions& options, const Progress& progress) {
  for (const Vec3d seed : seeds) {
    if (!(sizes.view().size(seed) > 0)) refuse_size();
  }
  if (options.backend == Backend::cuda) return cuda::relax_on_device(distance, sizes, seeds, options, progress);
  const auto run = [&]<class Course>(auto relaxation) {
    relaxation.place(seeds);
    if (relaxation.particle_count() == 0) refuse_no_particles();
    return run_relaxation<decltype(relaxation), Course>(relaxation, options, progress);
  };
  const SurfaceFields<double> fields{distance.view(), sizes.view()};
  if (options.scheme == ParticleScheme::published)
    return run.operator()<PublishedCourse>(PublishedRelaxation(fields, options));
  return run.operator()<OurCourse>(Relaxation(fields, options));
}

}  // namespace isochron
