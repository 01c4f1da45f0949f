// What all ranks of a communicator do together: exchanging values, reducing them, and agreeing on errors. Every rank
// must make the same calls in the same order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "isochron/comm/packing.h"
#include "isochron/communicator.h"
#include "isochron/error.h"

namespace isochron {

/// The reduction, waited for.
Tally agree(Communicator& communicator, const Tally& own);

/// Sends each message to its rank and gives what the others sent here, in the order of their ranks (at most one a
/// rank). Long messages may arrive with more bytes than they have: put their length in front.
std::vector<RankMessage> exchange_messages(Communicator& communicator, std::vector<RankMessage> messages);

/// Rank 0's bytes, on all ranks.
Bytes broadcast(Communicator& communicator, Bytes bytes);

/// Rank 0's values, on all ranks.
template <class T>
std::vector<T> broadcast_values(Communicator& communicator, const std::vector<T>& values) {
  Bytes bytes;
  put_vector(bytes, values);
  return Unpack(broadcast(communicator, std::move(bytes))).template take_vector<T>();
}
template <class T>
T broadcast_value(Communicator& communicator, const T& value) {
  return broadcast_values(communicator, std::vector<T>{value})[0];
}

/// Every rank's bytes by rank, on rank 0; empty elsewhere.
std::vector<Bytes> gather(Communicator& communicator, Bytes bytes);

/// Gives `messages[r]` to rank r (one for each, empty or not) and returns what each rank gave to this one.
std::vector<Bytes> all_to_all(Communicator& communicator, std::vector<Bytes> messages);

/// `all_to_all` of plain values.
template <class T>
std::vector<std::vector<T>> exchange_values(Communicator& communicator, const std::vector<std::vector<T>>& lists) {
  std::vector<Bytes> messages(lists.size());
  for (std::size_t r = 0; r < lists.size(); ++r) put_span(messages[r], std::span<const T>(lists[r]));
  std::vector<std::vector<T>> result;
  for (const Bytes& message : all_to_all(communicator, std::move(messages)))
    Unpack(message).take_span(std::span<T>(result.emplace_back(message.size() / sizeof(T))));
  return result;
}

/// Every rank's value by rank, on all ranks.
template <class T>
std::vector<T> all_values(Communicator& communicator, const T& own) {
  Bytes bytes;
  put(bytes, own);
  Bytes all;
  for (const Bytes& part : gather(communicator, std::move(bytes))) put_span(all, std::span<const std::byte>(part));
  all = broadcast(communicator, std::move(all));
  std::vector<T> values(communicator.ranks());
  Unpack(all).take_span(std::span<T>(values));
  return values;
}

/// Puts in place of each number its sum over all ranks.
void sum_over_ranks(Communicator& communicator, std::span<std::uint64_t> numbers);
/// Puts in place of each number the largest of all ranks.
void max_over_ranks(Communicator& communicator, std::span<double> numbers);
/// The sum of a number over all ranks.
std::uint64_t sum_of_all(Communicator& communicator, std::uint64_t own);
/// The sum of a number over all lower ranks.
std::uint64_t sum_before(Communicator& communicator, std::uint64_t own);
/// The number that is in the middle of all ranks' positive finite numbers, when these are sorted (the upper one of
/// two); none when there are none.
std::optional<double> median_of_all(Communicator& communicator, std::span<const double> own);

/// When any rank brings a failure, throws that of the lowest one on all of them, as an Error of its kind.
void throw_together(Communicator& communicator, const std::optional<Failure>& own);

/// Each rank does its own work, and what one of them throws all throw. The work must not wait for other ranks, which
/// may have failed.
template <class Work>
void all_or_none(Communicator& communicator, Work&& work) {
  std::optional<Failure> own;
  try {
    std::forward<Work>(work)();
  } catch (...) {
    own = current_failure();
  }
  throw_together(communicator, own);
}

}  // namespace isochron
