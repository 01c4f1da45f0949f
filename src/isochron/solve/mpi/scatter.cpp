#include "isochron/solve/mpi/scatter.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "isochron/core/parallel.h"
#include "isochron/mesh/ordering.h"
#include "isochron/solve/mpi/collectives.h"
#include "isochron/solve/mpi/wire_metric.h"
#include "isochron/solve/simplex/obtuse_split.h"

namespace isochron::mpi {
namespace {

/// Enough pieces to keep ranks busy, of enough vertices to keep borders short (bench/NOTES.md).
constexpr int tuned_pieces = 64;
constexpr std::size_t min_piece = 3500;

std::uint32_t piece_count(std::size_t vertices, int ranks, int wanted) {
  const auto most = static_cast<int>(vertices / min_piece / static_cast<std::size_t>(ranks));
  return static_cast<std::uint32_t>(ranks * (wanted > 0 ? wanted : std::clamp(most, 1, tuned_pieces)));
}

/// The pieces in the order in which a curve passes through their middles.
std::vector<std::uint32_t> along_curve(std::span<const Vec3d> points, std::span<const std::uint32_t> piece_of,
                                       std::uint32_t pieces) {
  std::vector<Vec3d> middle(pieces);
  std::vector<double> count(pieces, 0);
  for (std::size_t v = 0; v < points.size(); ++v) {
    middle[piece_of[v]] = middle[piece_of[v]] + points[v];
    count[piece_of[v]] += 1;
  }
  for (std::uint32_t p = 0; p < pieces; ++p)
    if (count[p] > 0) middle[p] = middle[p] / count[p];
  return hilbert_order(middle).new_to_old;
}

template <int Corners>
Bytes packed(const Share<Corners>& share) {
  const MeshPart<Corners>& part = share.part;
  Bytes bytes;
  const auto size_of = [](const auto& values) { return values.size() * sizeof(values[0]); };
  constexpr std::size_t counts = 1024;  // and what else is small
  bytes.reserve(size_of(part.mesh.points) + size_of(part.mesh.elements) + size_of(part.global_vertex) +
                size_of(part.global_element) + size_of(part.ghost_owner) + size_of(share.virtual_elements) +
                share.metric.bytes_per_element() * part.mesh.element_count() + counts);
  put_vector(bytes, part.mesh.points);
  put_vector(bytes, part.mesh.elements);
  put<std::uint64_t>(bytes, part.owned);
  put_vector(bytes, part.global_vertex);
  put_vector(bytes, part.global_element);
  put_vector(bytes, part.ghost_owner);
  put(bytes, part.whole_vertices);
  put(bytes, part.whole_elements);
  put_metric(bytes, share.metric);
  put_vector(bytes, share.virtual_elements);
  return bytes;
}

template <int Corners>
Share<Corners> unpacked(const Bytes& bytes) {
  Unpack unpack(bytes);
  Share<Corners> share;
  MeshPart<Corners>& part = share.part;
  part.mesh.points = unpack.take_vector<Vec3d>();
  part.mesh.elements = unpack.take_vector<typename SimplexMesh<Corners>::Element>();
  part.owned = unpack.take<std::uint64_t>();
  part.global_vertex = unpack.take_vector<std::uint64_t>();
  part.global_element = unpack.take_vector<std::uint64_t>();
  part.ghost_owner = unpack.take_vector<std::uint32_t>();
  part.whole_vertices = unpack.take<std::uint64_t>();
  part.whole_elements = unpack.take<std::uint64_t>();
  share.metric = take_metric(unpack);
  share.virtual_elements = unpack.take_vector<VirtualRecord<double, Corners>>();
  return share;
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
void add_virtual_elements(const Whole<Corners>& whole, std::uint32_t rank, Share<Corners>& share) {
  if (whole.virtual_elements.empty()) return;
  MeshPart<Corners>& part = share.part;
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
    share.virtual_elements.push_back(record);
  }
}

template <int Corners>
Share<Corners> share_of(const Whole<Corners>& whole, int to) {
  const auto rank = static_cast<std::uint32_t>(to);
  Share<Corners> share;
  share.part = whole.cutter.cut(rank);
  std::vector<ElementId> elements;
  elements.reserve(share.part.global_element.size());
  for (const std::uint64_t e : share.part.global_element) elements.emplace_back(static_cast<std::size_t>(e));
  share.metric = whole.metric.of(elements);
  add_virtual_elements(whole, rank, share);
  return share;
}

}  // namespace

template <int Corners>
std::vector<std::uint32_t> deal_vertices(const SimplexMesh<Corners>& mesh, int ranks, const DealOptions& options) {
  if (ranks == 1) return std::vector<std::uint32_t>(mesh.vertex_count(), 0);
  const std::uint32_t pieces = piece_count(mesh.vertex_count(), ranks, options.pieces);
  std::vector<std::uint32_t> rank_of = partition_vertices(mesh, pieces, options.partitioner, options.threads);
  std::vector<std::uint32_t> dealt_to(pieces);
  const std::vector<std::uint32_t> order = along_curve(mesh.points, rank_of, pieces);
  for (std::uint32_t i = 0; i < pieces; ++i) dealt_to[order[i]] = i % static_cast<std::uint32_t>(ranks);
  for (std::uint32_t& rank : rank_of) rank = dealt_to[rank];
  return rank_of;
}

template <int Corners>
Share<Corners> scatter(Transport& transport, const SimplexMesh<Corners>* mesh, const Metric* metric,
                       std::vector<std::uint32_t> rank_of, ObtuseSplit obtuse, int threads) {
  const int tag = transport.next_tag();
  if (transport.rank() != 0) {
    Message message;
    while (!transport.receive(tag, message)) transport.pause();
    return unpacked<Corners>(message.bytes);
  }
  const int ranks = transport.size();
  const Whole<Corners> whole{*mesh, *metric, split_whole(*mesh, *metric, obtuse, threads),
                             PartCutter<Corners>(*mesh, std::move(rank_of), static_cast<std::size_t>(ranks), threads)};
  // As many at a time as there are threads: each takes the memory of a part.
  const int at_a_time = std::max(1, threads);
  for (int first = 1; first < ranks; first += at_a_time) {
    std::vector<Bytes> shares(static_cast<std::size_t>(std::min(at_a_time, ranks - first)));
    parallel_region(static_cast<int>(shares.size()), [&](int thread, int team) {
      for (std::size_t i = static_cast<std::size_t>(thread); i < shares.size(); i += static_cast<std::size_t>(team))
        shares[i] = packed(share_of(whole, first + static_cast<int>(i)));
    });
    for (std::size_t i = 0; i < shares.size(); ++i)
      transport.send(first + static_cast<int>(i), tag, std::move(shares[i]));
  }
  return share_of(whole, 0);
}

Arrival gather_arrival(Transport& transport, std::span<const std::uint64_t> own, std::uint64_t whole,
                       const DistributedArrival& arrival) {
  Bytes mine;
  put_vector(mine, own);
  put_vector(mine, arrival.times);
  put_vector(mine, arrival.source);
  const std::vector<Bytes> parts = gather(transport, std::move(mine));
  Arrival result = common_result(arrival);
  result.unreached = whole - arrival.reached;
  if (parts.empty()) return result;
  result.times.assign(whole, std::numeric_limits<double>::infinity());
  for (const Bytes& bytes : parts) {
    Unpack unpack(bytes);
    const auto vertices = unpack.take_vector<std::uint64_t>();
    const auto times = unpack.take_vector<double>();
    const auto source = unpack.take_vector<std::int32_t>();
    if (!source.empty()) result.source.resize(whole, -1);
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      result.times[vertices[i]] = times[i];
      if (!source.empty()) result.source[vertices[i]] = source[i];
    }
  }
  return result;
}

template std::vector<std::uint32_t> deal_vertices(const SimplexMesh<3>&, int, const DealOptions&);
template std::vector<std::uint32_t> deal_vertices(const SimplexMesh<4>&, int, const DealOptions&);
template Share<3> scatter(Transport&, const SimplexMesh<3>*, const Metric*, std::vector<std::uint32_t>, ObtuseSplit,
                          int);
template Share<4> scatter(Transport&, const SimplexMesh<4>*, const Metric*, std::vector<std::uint32_t>, ObtuseSplit,
                          int);

}  // namespace isochron::mpi
