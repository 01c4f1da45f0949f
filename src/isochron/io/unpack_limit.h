// How much compressed files may unpack to: a few kilobytes can stand for gigabytes.
#pragma once

#include <cstdint>
#include <filesystem>

#include "isochron/core/error.h"

namespace isochron {

/// A file unpacks to more than the limit that is set.
class UnpackedTooLarge : public InputError {
 public:
  using InputError::InputError;
};

/// While one lives, this thread reads no more than so many bytes out of compressed files, all of them together: what is
/// more is refused before there is memory for it. Of several that live the last one counts.
class UnpackLimit {
 public:
  explicit UnpackLimit(std::uint64_t max_bytes);
  ~UnpackLimit();
  UnpackLimit(const UnpackLimit&) = delete;
  UnpackLimit& operator=(const UnpackLimit&) = delete;

  /// How many bytes may still be unpacked; the largest number where no limit is set.
  static std::uint64_t left();
  /// Throws UnpackedTooLarge, which names the file, when so many more are too many.
  static void require(std::uint64_t bytes, const std::filesystem::path& path);
  /// The same, and counts them.
  static void take(std::uint64_t bytes, const std::filesystem::path& path);

 private:
  std::uint64_t most_;
  std::uint64_t left_;
  UnpackLimit* outer_;
};

}  // namespace isochron
