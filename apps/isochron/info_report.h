// How `isochron info` shows what it found.
#pragma once

#include "apps/isochron/console.h"
#include "apps/isochron/info.h"
#include "isochron/io/io.h"

namespace isochron::cli {

/// As text for people or as one JSON object, as asked for.
void print_infos(const std::vector<FileInfo>& infos, const Console& console);
void print_formats(const std::vector<Format>& formats, const Console& console);

}  // namespace isochron::cli
