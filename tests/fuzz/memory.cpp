#include "fuzz/memory.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ISOCHRON_COUNTS_MEMORY 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ISOCHRON_COUNTS_MEMORY 1
#endif
#ifdef ISOCHRON_COUNTS_MEMORY
// GCC does not come with <sanitizer/allocator_interface.h>.
extern "C" {
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*, std::size_t),
                                              void (*on_free)(const volatile void*));
std::size_t __sanitizer_get_allocated_size(const volatile void*);
}
#endif

namespace isochron::fuzz {
namespace {

std::atomic<bool> counts{false};
std::atomic<std::int64_t> held{0}, most{0};

#ifdef ISOCHRON_COUNTS_MEMORY

void on_malloc(const volatile void*, std::size_t size) {
  if (!counts.load(std::memory_order_relaxed)) return;
  const std::int64_t now = held += static_cast<std::int64_t>(size);
  if (now > most.load(std::memory_order_relaxed)) most = now;
}

void on_free(const volatile void* block) {
  if (block != nullptr && counts.load(std::memory_order_relaxed))
    held -= static_cast<std::int64_t>(__sanitizer_get_allocated_size(block));
}

#endif

}  // namespace

MemoryCount::MemoryCount() {
#ifdef ISOCHRON_COUNTS_MEMORY
  [[maybe_unused]] static const int installed = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
#endif
  held = most = 0;
  counts = true;
}

MemoryCount::~MemoryCount() { counts = false; }

std::size_t MemoryCount::peak() const { return static_cast<std::size_t>(std::max<std::int64_t>(most, 0)); }

}  // namespace isochron::fuzz
