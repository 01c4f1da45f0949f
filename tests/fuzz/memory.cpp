#include "fuzz/memory.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "fuzz/targets.h"
#include "isochron/io/bytes.h"

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

/// What readers take whatever the size: buffers of files, and those of zlib.
constexpr std::size_t reader_constant = std::size_t{768} << 10;

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

template <class T>
std::size_t held_by(const std::vector<T>& values) {
  return values.size() * sizeof(T);
}

std::size_t held_by(const DataArrays& arrays) {
  std::size_t result = held_by(arrays.all());
  for (const DataArray& array : arrays.all())
    result += std::visit([](const auto& values) { return held_by(values); }, array.values);
  return result;
}

}  // namespace

MemoryCount::MemoryCount() : counted_before_(counts), held_before_(held), most_before_(most) {
#ifdef ISOCHRON_COUNTS_MEMORY
  [[maybe_unused]] static const int installed = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
#endif
  most = held_before_;
  counts = true;
}

MemoryCount::~MemoryCount() {
  most = std::max<std::int64_t>(most, most_before_);
  counts = counted_before_;
}

std::size_t MemoryCount::peak() const {
  return static_cast<std::size_t>(std::max<std::int64_t>(most - held_before_, 0));
}

std::size_t bytes_in(const Dataset& d) {
  std::size_t result = held_by(d.points) + held_by(d.triangles.cells) + held_by(d.tets.cells) + held_by(d.lines);
  for (const auto& line : d.lines) result += held_by(line);
  for (const DataArrays* arrays : {&d.point_data, &d.line_data, &d.triangles.data, &d.tets.data})
    result += held_by(*arrays);
  return result;
}

std::size_t bytes_in(const Image& image) { return held_by(image.data); }

ReaderMemory::ReaderMemory(std::size_t bytes) : bytes_(bytes), left_to_unpack_(UnpackLimit::left()) {}

void ReaderMemory::check(std::size_t made) const {
  const std::size_t read = bytes_ + static_cast<std::size_t>(left_to_unpack_ - UnpackLimit::left());
  const std::size_t data = std::max(read, made);
  require(memory_.peak() <= 4 * data + reader_constant,
          "the reader took " + std::to_string(memory_.peak()) + " bytes for " + std::to_string(data));
}

}  // namespace isochron::fuzz
