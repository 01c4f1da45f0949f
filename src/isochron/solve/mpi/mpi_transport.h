// MPI as a transport. The only file that calls MPI is mpi_transport.cpp.
#pragma once

#include <memory>

#include "isochron/solve/mpi/transport.h"

namespace isochron::mpi {

/// True in a build with MPI.
bool available();

/// The rank that the launcher (mpirun and relatives) gave this process, told by its environment before MPI has started;
/// 0 when there is no launcher.
int launched_rank();
/// How many processes the launcher has started, likewise; 1 when it does not tell.
int launched_ranks();

/// Starts MPI and joins all processes of the job; a process without a launcher is a job of its own. Once in a process.
/// MPI ends when the transport is destroyed, which waits for the other ranks. Throws RuntimeError in a build without
/// MPI.
std::unique_ptr<Transport> join_world();

}  // namespace isochron::mpi
