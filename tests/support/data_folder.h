// Where the real meshes and images are, for tests that use them and skip without.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

namespace isochron::test {

/// The folder in ISOCHRON_DATA, else ../shared/data beside the sources; nothing when neither is there. Throws when
/// ISOCHRON_DATA names a folder that does not exist, so that a typing error is not taken for "no data".
inline std::optional<std::filesystem::path> data_folder() {
  if (const char* named = std::getenv("ISOCHRON_DATA"); named != nullptr && *named != '\0') {
    if (std::filesystem::is_directory(named)) return named;
    throw std::runtime_error(std::string("ISOCHRON_DATA is not a folder: ") + named);
  }
  const auto beside = std::filesystem::path(ISOCHRON_SOURCE_DIR) / ".." / "shared" / "data";
  if (std::filesystem::is_directory(beside)) return beside;
  return std::nullopt;
}

}  // namespace isochron::test
