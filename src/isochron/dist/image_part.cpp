#include "isochron/parts.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>

#include "isochron/comm/collectives.h"

namespace isochron {
namespace {

template <std::size_t I = 0>
DataArray::Values values_of_type(std::size_t type, std::size_t count) {
  if constexpr (I + 1 < std::variant_size_v<DataArray::Values>)
    if (type != I) return values_of_type<I + 1>(type, count);
  return std::variant_alternative_t<I, DataArray::Values>(count);
}

/// Arrays, their order as tensors and warnings, as lines of text.
std::string description(const Image& image) {
  std::ostringstream text;
  text << (image.tensor_order ? static_cast<int>(*image.tensor_order) : -1) << '\n';
  for (const DataArray& array : image.data.all())
    text << "a " << array.values.index() << ' ' << array.components << ' ' << array.name << '\n';
  for (const std::string& warning : image.warnings) text << "w " << warning << '\n';
  return text.str();
}

void read_description(const std::string& text, Image& image) {
  std::istringstream lines(text);
  int order = -1;
  lines >> order;
  if (order >= 0) image.tensor_order = static_cast<TensorOrder>(order);
  char kind = 0;
  while (lines >> kind) {
    std::string rest;
    if (kind == 'a') {
      std::size_t type = 0;
      int components = 1;
      lines >> type >> components;
      std::getline(lines.ignore(), rest);
      image.data.set({rest, components, values_of_type(type, 0)});
    } else {
      std::getline(lines.ignore(), rest);
      image.warnings.push_back(rest);
    }
  }
}

void put_region(Bytes& bytes, const DataArray& array, const IndexBox& box, const IndexBox& region) {
  std::visit(
      [&](const auto& values) {
        const auto step = static_cast<std::size_t>(array.components) * sizeof(values[0]);
        const std::size_t before = bytes.size();
        bytes.resize(before + region.count() * step);
        copy_region(reinterpret_cast<const std::byte*>(values.data()), box, bytes.data() + before, region, region,
                    step);
      },
      array.values);
}

const std::byte* take_region(const std::byte* bytes, DataArray& array, const IndexBox& box, const IndexBox& region) {
  return std::visit(
      [&](auto& values) {
        const auto step = static_cast<std::size_t>(array.components) * sizeof(values[0]);
        copy_region(bytes, region, reinterpret_cast<std::byte*>(values.data()), box, region, step);
        return bytes + region.count() * step;
      },
      array.values);
}

/// The boxes of this rank as messages to those that want some of them.
std::vector<Bytes> packed(std::vector<BoxData>&& own, std::span<const IndexBox> wanted) {
  std::vector<Bytes> messages(wanted.size());
  for (BoxData& from : own) {
    for (std::size_t r = 0; r < wanted.size(); ++r) {
      const IndexBox region = common(from.box, wanted[r]);
      if (region.empty()) continue;
      const auto* header = reinterpret_cast<const std::byte*>(&region);
      messages[r].insert(messages[r].end(), header, header + sizeof(region));
      for (const DataArray& array : from.data.all()) put_region(messages[r], array, from.box, region);
    }
    from.data = {};
  }
  return messages;
}

}  // namespace

IndexBox whole_box(const ImageGrid& grid) { return {{}, {grid.shape[0], grid.shape[1], grid.shape[2]}}; }

std::vector<IndexBox> partition_boxes(const ImageGrid& whole, std::size_t ranks) {
  const IndexBox all = whole_box(whole);
  const std::uint64_t pairs = std::max<std::uint64_t>(1, all.high[2] / 2);
  const BlockPartition blocks({{all.high[0], all.high[1], pairs}}, static_cast<std::uint32_t>(ranks), 1);
  std::vector<IndexBox> boxes;
  for (std::uint32_t part = 0; part < ranks; ++part)
    for (const BlockPartition::Box& own : blocks.boxes_of(part)) {
      IndexBox box = own.box;
      box.low[2] *= 2;
      box.high[2] = box.high[2] == pairs ? all.high[2] : 2 * box.high[2];
      boxes.push_back(box);
    }
  boxes.resize(ranks);
  return boxes;
}

ImageGrid grid_of_box(const ImageGrid& whole, const IndexBox& box) {
  ImageGrid grid = whole;
  for (std::size_t d = 0; d < 3; ++d) {
    grid.shape[d] = static_cast<std::uint32_t>(box.high[d] - box.low[d]);
    grid.origin += static_cast<double>(box.low[d]) * whole.axes[d];
  }
  return grid;
}

Image broadcast_header(Communicator& communicator, std::size_t root, const Image& own) {
  const bool is_root = communicator.index() == root;
  const std::string text = is_root ? description(own) : "";
  const std::vector<char> bytes(text.begin(), text.end());
  const std::vector<char> header = exchange_values(communicator, std::vector(communicator.ranks(), bytes))[root];
  const std::vector<ImageGrid> grid(is_root ? 1 : 0, own.grid);
  Image image;
  image.grid = exchange_values(communicator, std::vector(communicator.ranks(), grid))[root][0];
  read_description({header.begin(), header.end()}, image);
  return image;
}

MovedBoxes move_boxes(Communicator& communicator, std::vector<BoxData> own, std::span<const IndexBox> wanted,
                      const DataArrays& kinds) {
  std::vector<Bytes> received = all_to_all(communicator, packed(std::move(own), wanted));
  const IndexBox& box = wanted[communicator.index()];
  MovedBoxes result;
  for (const DataArray& kind : kinds.all())
    result.data.set({kind.name, kind.components,
                     values_of_type(kind.values.index(), box.count() * static_cast<std::size_t>(kind.components))});
  std::vector<bool> known(box.count(), false);
  for (Bytes& message : received) {
    const std::byte* at = message.data();
    while (at != message.data() + message.size()) {
      IndexBox region;
      std::memcpy(&region, at, sizeof(region));
      at += sizeof(region);
      for (DataArray& array : result.data.all()) at = take_region(at, array, box, region);
      for_each_row(region, [&](const LatticeIndex& first, std::uint64_t length) {
        std::fill_n(known.begin() + static_cast<std::ptrdiff_t>(box.offset(first)), length, true);
      });
    }
    message = {};
  }
  result.missing = static_cast<std::uint64_t>(std::count(known.begin(), known.end(), false));
  return result;
}

ImagePart empty_image_part(const ImageGrid& whole, const PartChoice& choice) {
  check_choice(choice);
  ImagePart part;
  part.whole = whole;
  part.boxes = partition_boxes(whole, choice.parts);
  part.image.grid = grid_of_box(whole, part.boxes[choice.part]);
  return part;
}

ImagePart scatter_image(Communicator& communicator, Image&& whole) {
  ImagePart part;
  part.image = broadcast_header(communicator, 0, whole);
  part.whole = part.image.grid;
  part.boxes = partition_boxes(part.whole, communicator.ranks());
  std::vector<BoxData> own;
  if (communicator.index() == 0) own.push_back({whole_box(part.whole), std::move(whole.data)});
  part.image.data = move_boxes(communicator, std::move(own), part.boxes, part.image.data).data;
  part.image.grid = grid_of_box(part.whole, part.boxes[communicator.index()]);
  return part;
}

}  // namespace isochron
