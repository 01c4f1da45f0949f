// Lets chosen allocations fail. It replaces the global operators: one source of a program may include it.
#pragma once

#include <cstdlib>
#include <functional>
#include <new>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isochron/error.h"

namespace isochron::test {

/// Allocations of this thread until one fails; 0: none does.
inline thread_local long allocations_left = 0;

}  // namespace isochron::test

// All allocations of the program that are aligned as usual come through here. Inlined, they look to the compiler as if
// memory of one kind were given back as another.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (isochron::test::allocations_left > 0 && --isochron::test::allocations_left == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  if (isochron::test::allocations_left > 0 && --isochron::test::allocations_left == 0) return nullptr;
  return std::malloc(bytes > 0 ? bytes : 1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace isochron::test {

/// Calls `work` with its n-th allocation failing; true when it succeeds all the same.
inline bool succeeds(const std::function<void()>& work, long n) {
  allocations_left = n;
  try {
    work();
    allocations_left = 0;
    return true;
  } catch (const std::bad_alloc&) {
    allocations_left = 0;
  } catch (const Error& error) {
    allocations_left = 0;
    EXPECT_THAT(error.what(), testing::HasSubstr("memory"));
  }
  return false;
}

/// Calls `work` with its n-th allocation failing, for all n until it succeeds; after each failure calls `check`.
inline void fail_each_allocation(const std::function<void()>& work, const std::function<void()>& check) {
  constexpr long most = 10'000;
  for (long n = 1; n < most; ++n) {
    if (succeeds(work, n)) return;
    check();
  }
  FAIL() << "it never succeeds";
}

}  // namespace isochron::test
