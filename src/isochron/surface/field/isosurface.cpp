#include "isochron/surface/field/isosurface.h"

#include "isochron/surface/field/lattice_values.h"

namespace isochron {

TriangleMesh marching_tetrahedra(const Lattice& lattice, int times, int threads,
                                 const std::function<double(Vec3d)>& value) {
  Lattice fine = lattice;
  for (int a = 0; a < 3; ++a) {
    fine.shape[a] = times * (lattice.shape[a] - 1) + 1;
    fine.spacing[a] = lattice.spacing[a] / times;
  }
  return marching_tetrahedra(fine, values_on(fine, threads, value));
}

}  // namespace isochron
