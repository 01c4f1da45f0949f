// isochron-netgen REQUEST ANSWER: fills a closed surface with tetrahedra. Netgen prints, loads some hundred libraries
// and may crash, so the isochron command runs it in this process of its own (see surface/tetrahedra).
#include <cstddef>
#include <cstdio>
#include <exception>

#include "isochron/surface/tetrahedra/exchange.h"

namespace nglib {
#include <nglib.h>
}

namespace {

using isochron::SizePoint;
using isochron::TetAnswer;
using isochron::TetRequest;
using isochron::Vec3d;

/// The largest coordinate must not meet Netgen's fixed tolerances: it gets meshes with edges around 1.
struct Scale {
  Vec3d middle;
  double factor = 1;

  explicit Scale(const TetRequest& request) {
    if (request.points.empty() || request.triangles.empty()) return;
    double edges = 0;
    for (const auto& t : request.triangles)
      for (int k = 0; k < 3; ++k) edges += norm(request.points[t[(k + 1) % 3]] - request.points[t[k]]);
    factor = edges > 0 ? 3.0 * static_cast<double>(request.triangles.size()) / edges : 1;
    for (const Vec3d& p : request.points) middle += p / static_cast<double>(request.points.size());
  }
  [[nodiscard]] Vec3d there(Vec3d p) const { return factor * (p - middle); }
  [[nodiscard]] Vec3d back(Vec3d p) const { return p / factor + middle; }
};

/// Netgen counts from 1.
void fill(nglib::Ng_Mesh* mesh, const TetRequest& request, const Scale& scale) {
  for (const Vec3d& p : request.points) {
    const Vec3d q = scale.there(p);
    double x[3] = {q.x, q.y, q.z};
    nglib::Ng_AddPoint(mesh, x);
  }
  for (const auto& t : request.triangles) {
    int ids[3] = {static_cast<int>(t[0]) + 1, static_cast<int>(t[1]) + 1, static_cast<int>(t[2]) + 1};
    nglib::Ng_AddSurfaceElement(mesh, nglib::NG_TRIG, ids);
  }
  for (const SizePoint& size : request.sizes) {
    const Vec3d q = scale.there(size.at);
    double x[3] = {q.x, q.y, q.z};
    nglib::Ng_RestrictMeshSizePoint(mesh, x, scale.factor * size.size);
  }
}

TetAnswer collect(nglib::Ng_Mesh* mesh, const TetRequest& request, const Scale& scale) {
  TetAnswer answer;
  answer.points = request.points;
  for (int i = static_cast<int>(request.points.size()) + 1; i <= nglib::Ng_GetNP(mesh); ++i) {
    double x[3];
    nglib::Ng_GetPoint(mesh, i, x);
    answer.points.push_back(scale.back({x[0], x[1], x[2]}));
  }
  for (int i = 1; i <= nglib::Ng_GetNE(mesh); ++i) {
    int ids[NG_VOLUME_ELEMENT_MAXPOINTS];
    nglib::Ng_GetVolumeElement(mesh, i, ids);
    std::array<std::uint32_t, 4> tet;
    for (int k = 0; k < 4; ++k) tet[k] = static_cast<std::uint32_t>(ids[k] - 1);
    answer.tets.push_back(tet);
  }
  return answer;
}

void run(const char* request_file, const char* answer_file) {
  const auto request = isochron::exchange::load<TetRequest>(request_file);
  const Scale scale(request);
  nglib::Ng_Init();
  nglib::Ng_Mesh* mesh = nglib::Ng_NewMesh();
  nglib::Ng_Meshing_Parameters parameters;
  parameters.maxh = scale.factor * request.largest;
  parameters.grading = request.grading;
  parameters.optsteps_3d = request.optimisation_steps;
  parameters.optvolmeshenable = request.optimisation_steps > 0 ? 1 : 0;
  nglib::Ng_RestrictMeshSizeGlobal(mesh, parameters.maxh);
  fill(mesh, request, scale);
  const auto result = nglib::Ng_GenerateVolumeMesh(mesh, &parameters);
  if (result != nglib::NG_OK) throw isochron::RuntimeError("Netgen could not fill the surface");
  auto answer = collect(mesh, request, scale);
  isochron::exchange::save(answer_file, answer);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: isochron-netgen REQUEST ANSWER (files that the isochron command writes and reads)\n", stderr);
    return 2;
  }
  try {
    run(argv[1], argv[2]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  } catch (...) {
    std::fputs("Netgen stopped with an error of its own\n", stderr);
  }
  return 1;
}
