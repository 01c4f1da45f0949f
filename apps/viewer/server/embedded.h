// The client's files, which are a part of the program. The build makes the list.
#pragma once

#include <span>
#include <string_view>

namespace isochron::viewer {

struct EmbeddedFile {
  std::string_view name;  ///< "index.html", "assets/index-1a2b.js"
  std::string_view bytes;
};

std::span<const EmbeddedFile> embedded_files();

/// Whether they are the real client or a page that says it was not built.
bool client_built();

}  // namespace isochron::viewer
