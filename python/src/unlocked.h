// Work without the interpreter's lock, also in processes made by fork.
#pragma once

#include <exception>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "python/src/ending.h"

namespace isochron::python {

/// Whether this process was made by fork since the module was loaded. Called first by the module itself.
bool forked();

/// Does it on a thread of its own and waits; exceptions come out here.
template <class Body>
auto on_new_thread(Body&& body) {
  using Result = decltype(body());
  std::exception_ptr error;
  std::conditional_t<std::is_void_v<Result>, std::nullptr_t, std::optional<Result>> result{};
  std::thread([&] {
    try {
      if constexpr (std::is_void_v<Result>) body();
      else result.emplace(body());
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  if (error) std::rethrow_exception(error);
  if constexpr (!std::is_void_v<Result>) return std::move(*result);
}

/// Calls `body()` without the interpreter's lock. All that uses several threads runs in here: a process made by fork
/// does not have the threads that the old one's OpenMP waits for, but a thread that is new gets new ones.
template <class Body>
auto unlocked(Body&& body) {
  const WithoutLock released;
  return forked() ? on_new_thread(body) : body();
}

}  // namespace isochron::python
