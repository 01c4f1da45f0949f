#include "isochron/comm/collectives.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

namespace isochron {
namespace {

void wait(Communicator& communicator) {
  if (communicator.watch) communicator.watch();
  communicator.pause();
}

RankMessage wait_for(Communicator& communicator, int tag) {
  RankMessage message;
  while (!communicator.receive(tag, message)) wait(communicator);
  return message;
}

/// All messages with a tag that no rank sends any more, `sent` of them from here: they are there once as many have come
/// as were sent in all.
std::vector<RankMessage> receive_all(Communicator& communicator, int tag, std::int64_t sent) {
  std::vector<RankMessage> received;
  while (true) {
    RankMessage message;
    while (communicator.receive(tag, message)) received.push_back(std::move(message));
    const Tally all = agree(communicator, {0, {sent, static_cast<std::int64_t>(received.size())}});
    if (all.sums[0] == all.sums[1]) return received;
    wait(communicator);
  }
}

/// On all ranks: the values of all of them, combined one by one.
template <class T, class Combine>
void reduce(Communicator& communicator, std::span<T> values, Combine&& combine) {
  Bytes bytes;
  put_span(bytes, std::span<const T>(values));
  const std::vector<Bytes> parts = gather(communicator, std::move(bytes));
  std::vector<T> other(values.size());
  for (std::size_t r = 1; r < parts.size(); ++r) {
    Unpack(parts[r]).take_span(std::span<T>(other));
    for (std::size_t i = 0; i < other.size(); ++i) values[i] = combine(values[i], other[i]);
  }
  bytes.clear();
  put_span(bytes, std::span<const T>(values));
  Unpack(broadcast(communicator, std::move(bytes))).take_span(values);
}

template <class Kind>
struct Joint final : Kind, ThrownTogether {
  explicit Joint(const Kind& error) : Kind(error) {}
};

[[noreturn]] void throw_joint(const Failure& failure) {
  try {
    throw_again(failure);
  } catch (const UsageError& error) {
    throw Joint(error);
  } catch (const InputError& error) {
    throw Joint(error);
  } catch (const NoAnswerError& error) {
    throw Joint(error);
  } catch (const Cancelled& error) {
    throw Joint(error);
  } catch (const DeviceError& error) {
    throw Joint(error);
  } catch (const RuntimeError& error) {
    throw Joint(error);
  }
}

}  // namespace

Tally agree(Communicator& communicator, const Tally& own) {
  Tally all;
  communicator.start_tally(own);
  while (!communicator.tally_done(all)) wait(communicator);
  return all;
}

std::vector<RankMessage> exchange_messages(Communicator& communicator, std::vector<RankMessage> messages) {
  const int tag = communicator.next_tag();
  for (RankMessage& message : messages) communicator.send(message.rank, tag, std::move(message.bytes));
  std::vector<RankMessage> received = receive_all(communicator, tag, static_cast<std::int64_t>(messages.size()));
  std::sort(received.begin(), received.end(),
            [](const RankMessage& a, const RankMessage& b) { return a.rank < b.rank; });
  return received;
}

Bytes broadcast(Communicator& communicator, Bytes bytes) {
  const int tag = communicator.next_tag();
  const int rank = communicator.rank();
  if (rank != 0) bytes = wait_for(communicator, tag).bytes;
  // Along a tree: no rank has more than two copies on their way.
  for (const int child : {2 * rank + 1, 2 * rank + 2})
    if (child < communicator.size()) communicator.send(child, tag, Bytes(bytes));
  return bytes;
}

std::vector<Bytes> gather(Communicator& communicator, Bytes bytes) {
  const int tag = communicator.next_tag();
  if (communicator.rank() != 0) {
    communicator.send(0, tag, std::move(bytes));
    return {};
  }
  std::vector<Bytes> parts(communicator.ranks());
  parts[0] = std::move(bytes);
  for (int others = 1; others < communicator.size(); ++others) {
    RankMessage message = wait_for(communicator, tag);
    parts[static_cast<std::size_t>(message.rank)] = std::move(message.bytes);
  }
  return parts;
}

std::vector<Bytes> all_to_all(Communicator& communicator, std::vector<Bytes> messages) {
  const std::size_t own = communicator.index();
  std::vector<Bytes> received(messages.size());
  std::vector<RankMessage> sent;
  for (std::size_t r = 0; r < messages.size(); ++r) {
    if (r == own) received[r] = std::move(messages[r]);
    else if (!messages[r].empty())
      put_vector(sent.emplace_back(RankMessage{static_cast<int>(r), {}}).bytes, messages[r]);
    if (r != own) messages[r] = Bytes();
  }
  for (RankMessage& message : exchange_messages(communicator, std::move(sent))) {
    received[static_cast<std::size_t>(message.rank)] = Unpack(message.bytes).take_vector<std::byte>();
    message.bytes = Bytes();
  }
  return received;
}

void sum_over_ranks(Communicator& communicator, std::span<std::uint64_t> numbers) {
  reduce(communicator, numbers, [](std::uint64_t a, std::uint64_t b) { return a + b; });
}

void max_over_ranks(Communicator& communicator, std::span<double> numbers) {
  reduce(communicator, numbers, [](double a, double b) { return std::max(a, b); });
}

std::uint64_t sum_of_all(Communicator& communicator, std::uint64_t own) {
  sum_over_ranks(communicator, {&own, 1});
  return own;
}

std::uint64_t sum_before(Communicator& communicator, std::uint64_t own) {
  const std::vector<std::uint64_t> all = all_values(communicator, own);
  std::uint64_t before = 0;
  for (std::size_t r = 0; r < communicator.index(); ++r) before += all[r];
  return before;
}

std::optional<double> median_of_all(Communicator& communicator, std::span<const double> own) {
  const std::uint64_t count = sum_of_all(communicator, own.size());
  if (count == 0) return std::nullopt;
  std::uint64_t left = count / 2;  // numbers below the one that is looked for
  // The bits of positive numbers are in the order of the numbers. They are found eight at a time, highest first.
  std::uint64_t found = 0;
  for (int shift = 56; shift >= 0; shift -= 8) {
    const std::uint64_t known = shift == 56 ? 0 : ~std::uint64_t{0} << (shift + 8);
    std::array<std::uint64_t, 256> counts{};
    for (const double value : own)
      if (const auto bits = std::bit_cast<std::uint64_t>(value); (bits & known) == found)
        ++counts[bits >> shift & 255U];
    sum_over_ranks(communicator, counts);
    std::uint64_t next = 0;
    while (left >= counts[next]) left -= counts[next++];
    found |= next << shift;
  }
  return std::bit_cast<double>(found);
}

void throw_together(Communicator& communicator, const std::optional<Failure>& own) {
  if (sum_of_all(communicator, own ? 1 : 0) == 0) return;
  const std::string bytes = own ? pack(*own) : std::string();
  const auto all =
      exchange_values(communicator, std::vector(communicator.ranks(), std::vector<char>(bytes.begin(), bytes.end())));
  for (const std::vector<char>& packed : all)
    if (!packed.empty()) throw_joint(unpack_failure({packed.data(), packed.size()}));
}

}  // namespace isochron
