#include "isochron/solve/mpi/rank_exchange.h"

#include <algorithm>
#include <utility>

#include "isochron/solve/mpi/collectives.h"

namespace isochron::mpi {
namespace {

/// On all ranks: the values of all of them, combined one by one.
template <class T, class Combine>
void reduce(Transport& transport, std::span<T> values, Combine&& combine) {
  Bytes bytes;
  put_span(bytes, std::span<const T>(values));
  const std::vector<Bytes> parts = gather(transport, std::move(bytes));
  std::vector<T> other(values.size());
  for (std::size_t r = 1; r < parts.size(); ++r) {
    Unpack(parts[r]).take_span(std::span<T>(other));
    for (std::size_t i = 0; i < other.size(); ++i) values[i] = combine(values[i], other[i]);
  }
  bytes.clear();
  put_span(bytes, std::span<const T>(values));
  Unpack(broadcast(transport, std::move(bytes))).take_span(values);
}

}  // namespace

std::vector<Bytes> RankExchange::all_to_all(std::vector<Bytes> messages) {
  std::vector<Bytes> received(messages.size());
  std::vector<Message> blocks;
  for (std::size_t r = 0; r < messages.size(); ++r) {
    if (r == rank()) received[r] = std::move(messages[r]);
    else if (!messages[r].empty()) put_vector(blocks.emplace_back(Message{static_cast<int>(r), {}}).bytes, messages[r]);
    if (r != rank()) messages[r] = {};
  }
  // With their lengths in front: large messages are filled up on their way.
  for (Message& message : exchange(transport_, std::move(blocks))) {
    received[static_cast<std::size_t>(message.rank)] = Unpack(message.bytes).take_vector<std::byte>();
    message.bytes = {};
  }
  return received;
}

void RankExchange::sum(std::span<std::uint64_t> numbers) {
  reduce(transport_, numbers, [](std::uint64_t a, std::uint64_t b) { return a + b; });
}

void RankExchange::max(std::span<double> numbers) {
  reduce(transport_, numbers, [](double a, double b) { return std::max(a, b); });
}

}  // namespace isochron::mpi
