#include "isochron/mesh/agreement.h"

#include <exception>
#include <new>

#include "isochron/core/error.h"

namespace isochron {
namespace {

template <class Kind>
struct Joint final : Kind, ThrownTogether {
  using Kind::Kind;
};

[[noreturn]] void throw_as(const Failure& failure) {
  switch (failure.exit_code) {
    case 2: throw Joint<UsageError>(failure.message);
    case 3: throw Joint<InputError>(failure.message);
    case 5: throw Joint<NoAnswerError>(failure.message);
    case 130: throw Joint<Cancelled>();
    default: throw Joint<RuntimeError>(failure.message);
  }
}

}  // namespace

Failure current_failure() {
  try {
    throw;
  } catch (const Error& error) {
    return {error.what(), error.exit_code()};
  } catch (const std::bad_alloc&) {
    return {"out of memory; use more processes or --precision single, or machines with more memory", 1};
  } catch (const std::exception& error) {
    return {error.what(), 1};
  } catch (...) {
    return {"unknown failure; please report it", 1};
  }
}

void throw_together(Exchange& exchange, const Failure& own) {
  if (sum_of_all(exchange, own.exit_code != 0 ? 1 : 0) == 0) return;
  const std::vector<char> text(own.message.begin(), own.message.end());
  const auto codes = exchange_values(exchange, std::vector(exchange.ranks(), std::vector<int>{own.exit_code}));
  const auto texts = exchange_values(exchange, std::vector(exchange.ranks(), text));
  for (std::size_t r = 0; r < codes.size(); ++r)
    if (codes[r][0] != 0) throw_as({{texts[r].begin(), texts[r].end()}, codes[r][0]});
}

}  // namespace isochron
