// A mesh without the elements that do not conduct.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "isochron/error.h"
#include "isochron/mesh.h"
#include "isochron/metric.h"

namespace isochron {

[[noreturn]] inline void refuse_standstill() {
  throw InputError("no element conducts (all speeds are 0); give some of them a speed");
}

/// Some elements of a mesh, on all of its vertices.
template <int Corners>
SimplexMesh<Corners> with_elements(const SimplexMesh<Corners>& mesh, std::span<const ElementId> elements) {
  SimplexMesh<Corners> result{mesh.points, {}};
  result.elements.reserve(elements.size());
  for (const ElementId e : elements) result.elements.push_back(mesh.element(e));
  return result;
}

/// A mesh and its metric with the elements that conduct; the vertices are all there. Where all elements do, it refers
/// to what it is made of, which must live longer in any case. Throws InputError as `conducting_elements` does, and when
/// none conducts.
template <int Corners>
class ConductingMesh {
 public:
  ConductingMesh(const SimplexMesh<Corners>& mesh, const Metric& metric, int threads = 1)
      : mesh_(&mesh), metric_(&metric) {
    if (metric.conducts_everywhere(threads)) return;
    const auto kept = conducting_elements(metric, mesh.element_count(), Subject::metric, threads);
    if (!kept) return;
    if (kept->empty()) refuse_standstill();
    left_out_ = mesh.element_count() - kept->size();
    own_ = std::make_unique<Own>(Own{with_elements<Corners>(mesh, *kept), metric.of(*kept), *kept});
    mesh_ = &own_->mesh;
    metric_ = &own_->metric;
  }

  [[nodiscard]] const SimplexMesh<Corners>& mesh() const { return *mesh_; }
  [[nodiscard]] const Metric& metric() const { return *metric_; }
  /// Refers to another metric of the same mesh, which conducts everywhere, as the one before did.
  void refer_to(const Metric& metric) { metric_ = &metric; }
  /// Elements that do not conduct.
  [[nodiscard]] std::size_t left_out() const { return left_out_; }
  /// What an element of `mesh()` is in the mesh that was given.
  [[nodiscard]] ElementId original(ElementId e) const { return own_ ? own_->kept[e.index()] : e; }

 private:
  struct Own {
    SimplexMesh<Corners> mesh;
    Metric metric;
    std::vector<ElementId> kept;
  };

  std::unique_ptr<Own> own_;
  const SimplexMesh<Corners>* mesh_;
  const Metric* metric_;
  std::size_t left_out_ = 0;
};

/// Does `work`, which looks for places on a mesh without `left_out` elements; its InputError says so.
template <class Work>
auto find_where_it_conducts(std::size_t left_out, Work&& work) {
  try {
    return work();
  } catch (const InputError& error) {
    if (left_out == 0) throw;
    throw InputError(Message(fmt::format("{} that {} not conduct {} left out: ",
                                         left_out == 1 ? "1 element" : fmt::format("{} elements", left_out),
                                         left_out == 1 ? "does" : "do", left_out == 1 ? "is" : "are")) +
                         error.detail(),
                     error.file());
  }
}

}  // namespace isochron
