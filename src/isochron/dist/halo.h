// The border of a part: which other ranks hold copies of its vertices, and the times on their way to them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "isochron/comm/packing.h"
#include "isochron/parts.h"

namespace isochron {

/// Where a time is sent to: a neighbour by its place in `Halo::peers`, and the number it has for the vertex.
struct HaloCopy {
  std::uint32_t peer;
  std::uint32_t vertex;
};

/// The copies of a rank's own vertices. Numbers are those of the local solvers.
struct Halo {
  static constexpr std::uint32_t none = 0xffffffffU;

  std::vector<int> peers;                ///< ranks that hold copies
  std::vector<std::uint32_t> border_of;  ///< by vertex, owned ones at least: its place in the border, or none
  std::vector<std::uint32_t> offsets;    ///< by place in the border: where its copies begin; one more at the end
  std::vector<HaloCopy> copies;

  [[nodiscard]] std::size_t border() const { return offsets.size() - 1; }
};

/// A copy that a rank holds of another's vertex.
struct Ghost {
  std::uint64_t global;  ///< id in the whole mesh or image
  std::uint32_t owner;   ///< its rank, which may be this one
  std::uint32_t vertex;  ///< this rank's number for the copy
};

/// All ranks together: every rank tells the owners of its ghosts what numbers it has for them. `own` gives the number
/// of an owned vertex, below `numbers`, or `Halo::none` when it is not owned here.
Halo make_halo(Communicator& communicator, const std::vector<Ghost>& ghosts, std::size_t numbers,
               const std::function<std::uint32_t(std::uint64_t)>& own);

/// The same of a mesh; `internal` numbers the vertices of a part.
template <int Corners>
Halo make_halo(Communicator& communicator, const MeshPart<Corners>& part,
               const std::function<std::uint32_t(VertexId)>& internal);

/// Times of border vertices on their way out, packed by neighbour. A message is all times, then all numbers.
template <class T>
class Outbox {
 public:
  /// Vertex number and time of one value.
  static constexpr std::size_t value_bytes = sizeof(std::uint32_t) + sizeof(T);

  Outbox(Communicator& communicator, const Halo& halo, int tag)
      : communicator_(communicator), halo_(halo), tag_(tag), lanes_(halo.peers.size()) {}

  void put(std::uint32_t border, T time) {
    for (std::uint32_t i = halo_.offsets[border]; i < halo_.offsets[border + 1]; ++i) {
      Lane& lane = lanes_[halo_.copies[i].peer];
      lane.vertex.push_back(halo_.copies[i].vertex);
      lane.time.push_back(time);
    }
  }

  /// Sends what was put, one message to each neighbour that something is for.
  void flush() {
    for (std::size_t p = 0; p < lanes_.size(); ++p) {
      Lane& lane = lanes_[p];
      if (lane.vertex.empty()) continue;
      Bytes bytes;
      bytes.reserve(lane.vertex.size() * value_bytes);
      put_span(bytes, std::span<const T>(lane.time));
      put_span(bytes, std::span<const std::uint32_t>(lane.vertex));
      ++messages_;
      bytes_ += bytes.size();
      communicator_.send(halo_.peers[p], tag_, std::move(bytes));
      lane.vertex.clear();
      lane.time.clear();
    }
  }

  /// Whether neighbours get messages out of device memory; then `send_from_device` sends one that was packed there.
  [[nodiscard]] bool takes_device_memory() const { return communicator_.takes_device_memory(); }
  void send_from_device(std::size_t peer, const std::byte* data, std::size_t bytes) {
    ++messages_;
    bytes_ += bytes;
    communicator_.send_from_device(halo_.peers[peer], tag_, data, bytes);
  }

  [[nodiscard]] std::uint64_t messages() const { return messages_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  struct Lane {
    std::vector<std::uint32_t> vertex;
    std::vector<T> time;
  };

  Communicator& communicator_;
  const Halo& halo_;
  int tag_;
  std::vector<Lane> lanes_;
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace isochron
