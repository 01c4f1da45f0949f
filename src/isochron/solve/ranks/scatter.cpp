#include "isochron/solve/ranks/scatter.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "isochron/comm/collectives.h"
#include "isochron/core/parallel.h"
#include "isochron/mesh/ordering.h"
#include "isochron/solve/ranks/solve_messages.h"
#include "isochron/solve/simplex/obtuse_split.h"

namespace isochron::ranks {
namespace {

/// Enough blocks to keep ranks busy, of enough vertices to keep borders short (bench/NOTES.md).
constexpr int tuned_mesh_blocks = 64;
constexpr std::size_t min_block = 3500;

std::uint32_t block_count(std::size_t vertices, int ranks, int wanted) {
  const auto most = static_cast<int>(vertices / min_block / static_cast<std::size_t>(ranks));
  return static_cast<std::uint32_t>(ranks * (wanted > 0 ? wanted : std::clamp(most, 1, tuned_mesh_blocks)));
}

/// The blocks in the order in which a curve passes through their middles.
std::vector<std::uint32_t> along_curve(std::span<const Vec3d> points, std::span<const std::uint32_t> block_of,
                                       std::uint32_t blocks) {
  std::vector<Vec3d> middle(blocks);
  std::vector<double> count(blocks, 0);
  for (std::size_t v = 0; v < points.size(); ++v) {
    middle[block_of[v]] = middle[block_of[v]] + points[v];
    count[block_of[v]] += 1;
  }
  for (std::uint32_t p = 0; p < blocks; ++p)
    if (count[p] > 0) middle[p] = middle[p] / count[p];
  return hilbert_order(middle).new_to_old;
}

template <class Part>
void visit_plain(Archive archive, Part& one) {
  auto& part = one.part;
  archive(part.mesh.points, part.mesh.elements, part.owned, part.global_vertex, part.global_element, part.ghost_owner,
          part.whole_vertices, part.whole_elements, one.virtual_elements);
}

template <int Corners>
Bytes packed(const SolvePart<Corners>& solve_part) {
  const MeshPart<Corners>& part = solve_part.part;
  Bytes bytes;
  const auto size_of = [](const auto& values) { return values.size() * sizeof(values[0]); };
  constexpr std::size_t counts = 1024;  // and what else is small
  bytes.reserve(size_of(part.mesh.points) + size_of(part.mesh.elements) + size_of(part.global_vertex) +
                size_of(part.global_element) + size_of(part.ghost_owner) + size_of(solve_part.virtual_elements) +
                solve_part.metric.bytes_per_element() * part.mesh.element_count() + counts);
  visit_plain(Archive(bytes), solve_part);
  put_metric(bytes, solve_part.metric);
  return bytes;
}

template <int Corners>
SolvePart<Corners> unpacked(const Bytes& bytes) {
  Unpack unpack(bytes);
  SolvePart<Corners> solve_part;
  visit_plain(Archive(unpack), solve_part);
  solve_part.metric = take_metric(unpack);
  return solve_part;
}

/// A mesh that rank 0 has, and whose each vertex is to be.
template <int Corners>
struct Whole {
  const SimplexMesh<Corners>& mesh;
  const Metric& metric;
  std::vector<VirtualRecord<double, Corners>> virtual_elements;  ///< in the user's units
  PartCutter<Corners> cutter;
};

template <int Corners>
std::vector<VirtualRecord<double, Corners>> split_whole(const SimplexMesh<Corners>& mesh, const Metric& metric,
                                                        ObtuseSplit obtuse, int threads) {
  if (obtuse == ObtuseSplit::none || (obtuse == ObtuseSplit::automatic && Corners == 4)) return {};
  auto problem = prepare_topology<double>(mesh, KeepOrder::yes, threads);
  apply_metric(problem, mesh, metric, threads);
  if (problem.obtuse_corners == 0) return {};
  auto records = std::move(split_obtuse(problem, mesh, metric, SplitLimits{}, threads).records);
  for (auto& record : records)
    for (double& length : record.length) length *= problem.unit * problem.unit;
  return records;
}

/// Adds the virtual elements of a part's own vertices, and the ghosts that their faces need.
template <int Corners>
void add_virtual_elements(const Whole<Corners>& whole, std::uint32_t rank, SolvePart<Corners>& solve_part) {
  if (whole.virtual_elements.empty()) return;
  MeshPart<Corners>& part = solve_part.part;
  std::unordered_map<std::uint64_t, std::uint32_t> local;
  for (std::size_t v = 0; v < part.global_vertex.size(); ++v)
    local.emplace(part.global_vertex[v], static_cast<std::uint32_t>(v));
  const auto number = [&](std::uint32_t v) {
    const auto [place, fresh] = local.try_emplace(v, static_cast<std::uint32_t>(part.global_vertex.size()));
    if (fresh) {
      part.global_vertex.push_back(v);
      part.ghost_owner.push_back(whole.cutter.part_of()[v]);
      part.mesh.points.push_back(whole.mesh.points[v]);
    }
    return place->second;
  };
  for (VirtualRecord<double, Corners> record : whole.virtual_elements) {
    if (whole.cutter.part_of()[record.target] != rank) continue;
    record.target = number(record.target);
    for (std::uint32_t& v : record.face) v = number(v);
    solve_part.virtual_elements.push_back(record);
  }
}

template <int Corners>
SolvePart<Corners> solve_part_of(const Whole<Corners>& whole, int to) {
  const auto rank = static_cast<std::uint32_t>(to);
  SolvePart<Corners> solve_part;
  solve_part.part = whole.cutter.cut(rank);
  std::vector<ElementId> elements;
  elements.reserve(solve_part.part.global_element.size());
  for (const std::uint64_t e : solve_part.part.global_element) elements.emplace_back(static_cast<std::size_t>(e));
  solve_part.metric = whole.metric.of(elements);
  add_virtual_elements(whole, rank, solve_part);
  return solve_part;
}

}  // namespace

template <int Corners>
std::vector<std::uint32_t> partition_in_blocks(const SimplexMesh<Corners>& mesh, int ranks,
                                               const RankOptions& options) {
  if (ranks == 1) return std::vector<std::uint32_t>(mesh.vertex_count(), 0);
  const std::uint32_t blocks = block_count(mesh.vertex_count(), ranks, options.blocks_per_rank);
  std::vector<std::uint32_t> rank_of = partition_vertices(mesh, blocks, options.partitioner, options.threads);
  std::vector<std::uint32_t> rank_of_block(blocks);
  const std::vector<std::uint32_t> order = along_curve(mesh.points, rank_of, blocks);
  for (std::uint32_t i = 0; i < blocks; ++i) rank_of_block[order[i]] = i % static_cast<std::uint32_t>(ranks);
  for (std::uint32_t& rank : rank_of) rank = rank_of_block[rank];
  return rank_of;
}

template <int Corners>
SolvePart<Corners> scatter(Communicator& communicator, const SimplexMesh<Corners>* mesh, const Metric* metric,
                           std::vector<std::uint32_t> rank_of, ObtuseSplit obtuse, int threads) {
  const int tag = communicator.next_tag();
  if (communicator.rank() != 0) {
    RankMessage message;
    while (!communicator.receive(tag, message)) communicator.pause();
    return unpacked<Corners>(message.bytes);
  }
  const int ranks = communicator.size();
  const Whole<Corners> whole{*mesh, *metric, split_whole(*mesh, *metric, obtuse, threads),
                             PartCutter<Corners>(*mesh, std::move(rank_of), static_cast<std::size_t>(ranks), threads)};
  // As many at a time as there are threads: each takes the memory of a part.
  const int at_a_time = std::max(1, threads);
  for (int first = 1; first < ranks; first += at_a_time) {
    std::vector<Bytes> messages(static_cast<std::size_t>(std::min(at_a_time, ranks - first)));
    parallel_region(static_cast<int>(messages.size()), [&](int thread, int team) {
      for (std::size_t i = static_cast<std::size_t>(thread); i < messages.size(); i += static_cast<std::size_t>(team))
        messages[i] = packed(solve_part_of(whole, first + static_cast<int>(i)));
    });
    for (std::size_t i = 0; i < messages.size(); ++i)
      communicator.send(first + static_cast<int>(i), tag, std::move(messages[i]));
  }
  return solve_part_of(whole, 0);
}

Arrival gather_arrival(Communicator& communicator, std::span<const std::uint64_t> own, std::uint64_t whole,
                       Arrival arrival) {
  Bytes mine;
  put_vector(mine, own);
  put_vector(mine, std::exchange(arrival.times, {}));
  put_vector(mine, std::exchange(arrival.source, {}));
  const std::vector<Bytes> parts = gather(communicator, std::move(mine));
  arrival.unreached = static_cast<std::size_t>(whole) - arrival.reached;
  if (parts.empty()) return arrival;
  arrival.times.assign(whole, std::numeric_limits<double>::infinity());
  for (const Bytes& bytes : parts) {
    Unpack unpack(bytes);
    const auto vertices = unpack.take_vector<std::uint64_t>();
    const auto times = unpack.take_vector<double>();
    const auto source = unpack.take_vector<std::int32_t>();
    if (!source.empty()) arrival.source.resize(whole, -1);
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      arrival.times[vertices[i]] = times[i];
      if (!source.empty()) arrival.source[vertices[i]] = source[i];
    }
  }
  return arrival;
}

template std::vector<std::uint32_t> partition_in_blocks(const SimplexMesh<3>&, int, const RankOptions&);
template std::vector<std::uint32_t> partition_in_blocks(const SimplexMesh<4>&, int, const RankOptions&);
template SolvePart<3> scatter(Communicator&, const SimplexMesh<3>*, const Metric*, std::vector<std::uint32_t>,
                              ObtuseSplit, int);
template SolvePart<4> scatter(Communicator&, const SimplexMesh<4>*, const Metric*, std::vector<std::uint32_t>,
                              ObtuseSplit, int);

}  // namespace isochron::ranks
