// Vectors for arrays of many megabytes: on huge pages where the system has them, so that scattered reads do not also
// miss the address translation (a fifth to a third of a solve's time, bench/NOTES.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace isochron {

inline constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Asks for huge pages in a block of memory. It is only advice: without them the memory is as good as any.
inline void advise_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (bytes < 2 * huge_page) return;
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (address + huge_page - 1) / huge_page * huge_page;
  madvise(reinterpret_cast<void*>(first), address + bytes - first, MADV_HUGEPAGE);
#endif
}

/// Reserves room for values that are written soon; huge pages make the first writing of large vectors cheaper.
template <class T>
void make_room(std::vector<T>& values, std::size_t count) {
  if (count <= values.capacity()) return;
  values.reserve(count);
  advise_huge_pages(values.data(), count * sizeof(T));
}

template <class T>
struct HugePageAllocator {
  using value_type = T;
  static constexpr std::size_t worth_it = 2 * huge_page;

  HugePageAllocator() = default;
  template <class U>
  HugePageAllocator(const HugePageAllocator<U>&) {}  // NOLINT: allocators convert

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < worth_it) return static_cast<T*>(::operator new(bytes));
    void* memory = std::aligned_alloc(huge_page, (bytes + huge_page - 1) / huge_page * huge_page);
    if (memory == nullptr) throw std::bad_alloc();
    advise_huge_pages(memory, bytes);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < worth_it) ::operator delete(memory);
    else std::free(memory);
  }
  /// Without a value, elements of a plain type are left unset: they are written by the threads that use them.
  template <class U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Args>
  void construct(U* place, Args&&... args) {
    ::new (static_cast<void*>(place)) U(static_cast<Args&&>(args)...);
  }
  friend bool operator==(HugePageAllocator, HugePageAllocator) { return true; }
};

template <class T>
using BigVector = std::vector<T, HugePageAllocator<T>>;

}  // namespace isochron
