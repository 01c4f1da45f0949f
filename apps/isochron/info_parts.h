// What the reports on meshes and images share. Only *_report.cpp include this: JSON is slow to compile.
#pragma once

#include <string>
#include <vector>

#include "apps/isochron/info_image.h"
#include "apps/isochron/json_text.h"

namespace isochron::cli {

Json json_of(const ArraySummary& array);
Json json_of(const ImageInfo& info);
void append_arrays(std::string& text, const std::vector<ArraySummary>& arrays);
std::string text_of(const ImageInfo& info);

}  // namespace isochron::cli
