#include "isochron/io/unpack_limit.h"

#include <limits>

#include <fmt/format.h>

namespace isochron {
namespace {

/// Readers are many and take no options; each reads on the thread that asked.
thread_local UnpackLimit* current = nullptr;

}  // namespace

UnpackLimit::UnpackLimit(std::uint64_t max_bytes) : most_(max_bytes), left_(max_bytes), outer_(current) {
  current = this;
}

UnpackLimit::~UnpackLimit() { current = outer_; }

std::uint64_t UnpackLimit::left() {
  return current == nullptr ? std::numeric_limits<std::uint64_t>::max() : current->left_;
}

void UnpackLimit::require(std::uint64_t bytes, const std::filesystem::path& path) {
  if (bytes > left())
    throw UnpackedTooLarge(fmt::format("{}: unpacks to more than {} bytes (no more are allowed); give a smaller file",
                                       path.string(), current->most_));
}

void UnpackLimit::take(std::uint64_t bytes, const std::filesystem::path& path) {
  require(bytes, path);
  if (current != nullptr) current->left_ -= bytes;
}

}  // namespace isochron
