#include "isochron/io/file_name.h"

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/io/text_tools.h"

namespace isochron {

FileName::FileName(const std::filesystem::path& path) : base(path) {
  if (lower_case(base.extension().string()) == ".gz") {
    gzip = true;
    base.replace_extension();
  }
  extension = lower_case(base.extension().string());
  base.replace_extension();
}

std::filesystem::path FileName::with(std::string_view other_extension) const {
  std::filesystem::path result = base;
  result += other_extension;
  if (gzip) result += ".gz";
  return result;
}

std::filesystem::path FileName::beside(std::string_view suffix) const { return with(std::string(suffix) + extension); }

std::optional<std::filesystem::path> find_companion(const std::filesystem::path& path, std::string_view extension) {
  FileName name(path);
  if (name.extension == extension) return path;
  std::error_code ignored;
  for (int attempt = 0; attempt < 2; ++attempt, name.gzip = !name.gzip)
    for (const std::string& spelling : {std::string(extension), upper_case(extension)}) {
      const std::filesystem::path candidate = name.with(spelling);
      if (std::filesystem::is_regular_file(candidate, ignored)) return candidate;
    }
  return std::nullopt;
}

std::filesystem::path require_companion(const std::filesystem::path& path, std::string_view extension) {
  if (auto found = find_companion(path, extension)) return *found;
  throw InputError(
      fmt::format("{}: the {} file that goes with it is missing ({} was looked for); put it into the same folder",
                  path.string(), extension, FileName(path).with(extension).string()));
}

}  // namespace isochron
