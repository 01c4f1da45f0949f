// Stands for mpi_transport.cpp in a build without MPI.
#include "isochron/core/error.h"
#include "isochron/solve/mpi/mpi_transport.h"

namespace isochron::mpi {

bool available() { return false; }

std::unique_ptr<Transport> join_world() {
  throw RuntimeError(
      "this build has no MPI back end (--backend mpi); use another one, or build where MPI is installed");
}

}  // namespace isochron::mpi
