// The ranks of a transport as processes that exchange messages.
#pragma once

#include "isochron/mesh/exchange.h"
#include "isochron/solve/mpi/transport.h"

namespace isochron::mpi {

class RankExchange final : public Exchange {
 public:
  explicit RankExchange(Transport& transport) : transport_(transport) {}

  [[nodiscard]] std::size_t rank() const override { return static_cast<std::size_t>(transport_.rank()); }
  [[nodiscard]] std::size_t ranks() const override { return static_cast<std::size_t>(transport_.size()); }
  std::vector<Bytes> all_to_all(std::vector<Bytes> messages) override;
  void sum(std::span<std::uint64_t> numbers) override;
  void max(std::span<double> numbers) override;

 private:
  Transport& transport_;
};

}  // namespace isochron::mpi
