// What the reports about one object and about several materials share. Only *_report.cpp include this.
#pragma once

#include <string>

#include "apps/isochron/json_text.h"
#include "apps/isochron/surface.h"

namespace isochron::cli {

/// The keys that both have.
Json common_json(const SurfaceRequest& request, const CommonSummary& summary, const TriangleMesh& mesh,
                 const TriangulateReport& triangulation, const ExtractTimes& times, const Console& console);

Json difference_json(const SurfaceDifference& difference);

/// Adds `tetrahedra`, which `tet_quality` of the summary is about.
void add_tetrahedra(Json& object, const TetMesh& mesh, const CommonSummary& summary);

/// Shapes, topology and distances of the triangles and, where there are some, tetrahedra.
void append_shapes(std::string& text, const SurfaceRequest& request, const CommonSummary& summary, const TetMesh* tets);

}  // namespace isochron::cli
