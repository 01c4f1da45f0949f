// Stretches of large arrays, filled by several threads.
#pragma once

#include <algorithm>
#include <mutex>
#include <vector>

#include "isochron/core/big_vector.h"
#include "isochron/core/parallel.h"

namespace isochron {

inline constexpr std::size_t task_bytes = std::size_t{1} << 18;  ///< of one thread at a time: in its cache
inline constexpr std::size_t worth_threads = 8 * task_bytes;     ///< of all threads

/// Calls `body(first, some)` for stretches of [0, count), of `stretch` each and fewer in the last, as `parallel_tasks`.
template <class Body>
void parallel_stretches(int threads, std::size_t count, std::size_t stretch, Body&& body) {
  parallel_tasks(threads, (count + stretch - 1) / stretch, [&](std::size_t task) {
    const std::size_t first = task * stretch;
    body(first, std::min(stretch, count - first));
  });
}

/// Gives a vector its elements while several threads fill it, from the front on: a stretch of them is zero-filled
/// shortly before it gets its values, when it stays in the cache, and not all by one thread before the others start.
template <class T>
class GrowingVector {
 public:
  /// Reserves room for so many more elements; only within that room may others write while it grows.
  GrowingVector(std::vector<T>& values, std::size_t count) : values_(values), before_(values.size()) {
    make_room(values, before_ + count);
  }
  /// Makes the first `end` of the new elements, as far as they are missing, and returns where the new ones begin; they
  /// do not move later.
  T* up_to(std::size_t end) {
    const std::lock_guard lock(mutex_);
    if (values_.size() < before_ + end) values_.resize(before_ + end);
    return values_.data() + before_;
  }

 private:
  std::vector<T>& values_;
  std::size_t before_;
  std::mutex mutex_;
};

}  // namespace isochron
