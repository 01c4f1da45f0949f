// Extensions, gzip suffixes and the files that belong together.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace isochron {

/// A path taken apart: "a/heart.Node.gz" is base "a/heart", extension ".node", gzip.
struct FileName {
  std::filesystem::path base;
  std::string extension;  ///< lower case with the dot, without ".gz"; empty when there is none
  bool gzip = false;

  explicit FileName(const std::filesystem::path& path);
  /// Whether such files are compressed when they are written.
  [[nodiscard]] bool compressed() const { return gzip || extension == ".mgz"; }
  /// The file of the same base and compression with another extension.
  [[nodiscard]] std::filesystem::path with(std::string_view other_extension) const;
  /// The file of the same folder, extension and compression whose name has a suffix: "m.csv" with "_a" is "m_a.csv".
  [[nodiscard]] std::filesystem::path beside(std::string_view suffix) const;
};

/// The existing file that goes with `path`, compressed or not, its extension in small letters or in capitals.
std::optional<std::filesystem::path> find_companion(const std::filesystem::path& path, std::string_view extension);

/// Like `find_companion`, but throws InputError when there is none.
std::filesystem::path require_companion(const std::filesystem::path& path, std::string_view extension);

}  // namespace isochron
