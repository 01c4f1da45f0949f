// What all ranks do together before and after the bands of a solve, made of messages and tallies. Every rank must call
// them in the same order.
#pragma once

#include <span>
#include <vector>

#include "isochron/solve/mpi/wire.h"

namespace isochron::mpi {

/// The reduction, waited for.
Tally agree(Transport& transport, const Tally& own);

/// Sends each block to its rank and gives what the others sent here, in the order of their ranks (at most one a rank).
std::vector<Message> exchange(Transport& transport, std::vector<Message> blocks);

/// Rank 0's bytes, on all ranks.
Bytes broadcast(Transport& transport, Bytes bytes);

/// Every rank's bytes by rank, on rank 0; empty elsewhere.
std::vector<Bytes> gather(Transport& transport, Bytes bytes);

/// Every rank's value by rank, on all ranks.
template <class T>
std::vector<T> all_values(Transport& transport, const T& own) {
  Bytes bytes;
  put(bytes, own);
  Bytes all;
  for (const Bytes& part : gather(transport, std::move(bytes))) put_span(all, std::span<const std::byte>(part));
  all = broadcast(transport, std::move(all));
  std::vector<T> values(static_cast<std::size_t>(transport.size()));
  Unpack(all).take_span(std::span<T>(values));
  return values;
}

}  // namespace isochron::mpi
