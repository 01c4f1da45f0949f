// How the quality of a mesh is shown. Only *_report.cpp include this: JSON is slow to compile.
#pragma once

#include <string>

#include "apps/isochron/json_text.h"
#include "apps/isochron/mesh_quality.h"

namespace isochron::cli {

enum class Histograms { show, hide };

/// Indented lines for people, in the columns of `isochron info`.
void append_quality(std::string& text, const MeshQuality& quality, Histograms histograms);

/// Adds `shape` and, for triangles, `surface` (and `distance`, where one was measured) to a report.
void add_quality(Json& report, const MeshQuality& quality);

}  // namespace isochron::cli
