#include "isochron/solve/ranks/cuda/border_lanes.h"

#include "isochron/core/cuda/launch.h"

namespace isochron::ranks {
namespace {

template <class T>
__global__ void count_copies(const BorderTime<T>* changed, std::uint32_t count, const std::uint32_t* offsets,
                             const HaloCopy* copies, std::uint32_t* counts) {
  const std::size_t i = cuda::thread_number();
  if (i >= count) return;
  const std::uint32_t border = changed[i].border;
  for (std::uint32_t k = offsets[border]; k < offsets[border + 1]; ++k) atomicAdd(counts + copies[k].peer, 1U);
}

template <class T>
__global__ void pack_copies(const BorderTime<T>* changed, std::uint32_t count, const std::uint32_t* offsets,
                            const HaloCopy* copies, const std::uint32_t* begins, const std::uint32_t* counts,
                            std::uint32_t* packed_counts, std::byte* packed) {
  const std::size_t i = cuda::thread_number();
  if (i >= count) return;
  const auto [border, time] = changed[i];
  for (std::uint32_t k = offsets[border]; k < offsets[border + 1]; ++k) {
    const auto [peer, vertex] = copies[k];
    const std::uint32_t place = atomicAdd(packed_counts + peer, 1U);
    T* times = reinterpret_cast<T*>(packed + begins[peer] * Outbox<T>::value_bytes);
    times[place] = time;
    reinterpret_cast<std::uint32_t*>(times + counts[peer])[place] = vertex;
  }
}

/// A lane begins at an even number of values, where a time of any size may lie.
std::vector<std::uint32_t> lane_begins(const Halo& halo) {
  std::vector<std::uint32_t> begins(halo.peers.size() + 1, 0);
  for (const HaloCopy& copy : halo.copies) ++begins[copy.peer + 1];
  for (std::size_t p = 1; p < begins.size(); ++p) begins[p] = begins[p - 1] + (begins[p] + 1) / 2 * 2;
  return begins;
}

}  // namespace

template <class T>
BorderLanes<T>::BorderLanes(const Halo& halo)
    : offsets_(std::span<const std::uint32_t>(halo.offsets)),
      copies_(std::span<const HaloCopy>(halo.copies)),
      begins_(lane_begins(halo)),
      device_begins_(std::span<const std::uint32_t>(begins_)),
      counts_(2 * halo.peers.size()),
      packed_(begins_.back() * Outbox<T>::value_bytes) {}

template <class T>
std::vector<PackedMessage> BorderLanes<T>::pack(const BorderTime<T>* changed, std::uint32_t count) {
  const std::size_t peers = begins_.size() - 1;
  counts_.clear();
  cuda::launch_for(count, count_copies<T>, changed, count, offsets_.data(), copies_.data(), counts_.data());
  cuda::launch_for(count, pack_copies<T>, changed, count, offsets_.data(), copies_.data(), device_begins_.data(),
                   counts_.data(), counts_.data() + peers, packed_.data());
  std::vector<std::uint32_t> counts(peers);
  counts_.download_to(counts);  // waits for the kernels
  std::vector<PackedMessage> messages(peers);
  for (std::size_t p = 0; p < peers; ++p)
    messages[p] = {packed_.data() + begins_[p] * Outbox<T>::value_bytes, counts[p] * Outbox<T>::value_bytes};
  return messages;
}

template class BorderLanes<float>;
template class BorderLanes<double>;

}  // namespace isochron::ranks
