#include "isochron/mesh/agreement.h"

#include <string>
#include <vector>

namespace isochron {
namespace {

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

void throw_together(Exchange& exchange, const std::optional<Failure>& own) {
  if (sum_of_all(exchange, own ? 1 : 0) == 0) return;
  const std::string bytes = own ? pack(*own) : std::string();
  const auto all =
      exchange_values(exchange, std::vector(exchange.ranks(), std::vector<char>(bytes.begin(), bytes.end())));
  for (const std::vector<char>& packed : all)
    if (!packed.empty()) throw_joint(unpack_failure({packed.data(), packed.size()}));
}

}  // namespace isochron
