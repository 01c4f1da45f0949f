// What work that is shared out over processes needs of them, whatever carries the messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace isochron {

using Bytes = std::vector<std::byte>;

/// All processes must make the same calls in the same order.
class Exchange {
 public:
  virtual ~Exchange() = default;
  [[nodiscard]] virtual std::size_t rank() const = 0;
  [[nodiscard]] virtual std::size_t ranks() const = 0;
  /// Gives `messages[r]` to process r (one for each, empty or not) and returns what each process gave to this one.
  virtual std::vector<Bytes> all_to_all(std::vector<Bytes> messages) = 0;
  /// Puts in place of each number its sum over all processes.
  virtual void sum(std::span<std::uint64_t> numbers) = 0;
  /// Puts in place of each number the largest of all processes.
  virtual void max(std::span<double> numbers) = 0;
};

/// `all_to_all` of plain values.
template <class T>
std::vector<std::vector<T>> exchange_values(Exchange& exchange, const std::vector<std::vector<T>>& lists) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<Bytes> messages;
  for (const std::vector<T>& list : lists) {
    Bytes& message = messages.emplace_back(list.size() * sizeof(T));
    if (!list.empty()) std::memcpy(message.data(), list.data(), message.size());
  }
  std::vector<std::vector<T>> result;
  for (const Bytes& message : exchange.all_to_all(std::move(messages))) {
    std::vector<T>& list = result.emplace_back(message.size() / sizeof(T));
    if (!list.empty()) std::memcpy(list.data(), message.data(), message.size());
  }
  return result;
}

/// The sum of a number over all processes of a lower rank.
inline std::uint64_t sum_before(Exchange& exchange, std::uint64_t own) {
  std::vector<std::uint64_t> all(exchange.ranks(), 0);
  all[exchange.rank()] = own;
  exchange.sum(all);
  std::uint64_t before = 0;
  for (std::size_t r = 0; r < exchange.rank(); ++r) before += all[r];
  return before;
}

/// The sum of a number over all processes.
inline std::uint64_t sum_of_all(Exchange& exchange, std::uint64_t own) {
  exchange.sum({&own, 1});
  return own;
}

}  // namespace isochron
