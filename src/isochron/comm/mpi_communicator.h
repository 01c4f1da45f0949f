// MPI processes as ranks. The only file that calls MPI is mpi_communicator.cpp.
#pragma once

#include <memory>

#include "isochron/comm/communicator.h"

namespace isochron::mpi {

/// True in a build with MPI.
bool available();

/// The rank that the launcher (mpirun and relatives) gave this process, as its environment says before MPI has started;
/// 0 when there is no launcher.
int launched_rank();
/// How many processes the launcher has started, likewise; 1 when it does not say.
int launched_ranks();

/// Starts MPI and joins all processes of the job; a process without a launcher is a job of its own. Once in a process.
/// MPI ends when the communicator is destroyed, which waits for the other ranks. Throws RuntimeError in a build without
/// MPI.
std::unique_ptr<Communicator> join_world();

}  // namespace isochron::mpi
