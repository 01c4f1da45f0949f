#include <cstdlib>

#include "isochron/solve/mpi/mpi_transport.h"

namespace isochron::mpi {

int launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return 0;
}

int launched_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return 1;
}

}  // namespace isochron::mpi
