#include "isochron/io/values.h"

#include "isochron/io/stretches.h"

namespace isochron {
namespace {

JoinedArray& find_or_start(std::vector<JoinedArray>& joined, const DataArray& array, const ArrayBlock& block,
                           std::span<const ArrayBlock> blocks) {
  const auto called = [&](const std::string& name) {
    return std::find_if(joined.begin(), joined.end(), [&](const JoinedArray& j) { return j.name == name; });
  };
  auto it = called(array.name);
  if (it != joined.end() && it->components == array.components) {
    if (it->type != scalar_type(array.values)) it->type = ScalarType::float64;
    return *it;
  }
  std::string name = array.name;
  while (called(name) != joined.end()) name += "_" + block.kind;
  JoinedArray fresh{std::move(name), array.components, scalar_type(array.values), {}};
  for (const ArrayBlock& b : blocks) fresh.parts.push_back({nullptr, b.tuples});
  return joined.emplace_back(std::move(fresh));
}

template <class T>
void write_part(ByteWriter& writer, const JoinedArray::Part& part, std::size_t values, Encoding encoding) {
  if (part.array == nullptr) {
    const T nothing = std::is_floating_point_v<T> ? std::numeric_limits<T>::quiet_NaN() : T{};
    return write_each<T>(writer, values, encoding, [&](std::size_t) { return nothing; });
  }
  std::visit(
      [&](const auto& from) {
        using From = typename std::decay_t<decltype(from)>::value_type;
        if constexpr (std::is_same_v<From, T>) {
          if (encoding == native_encoding) {
            writer.write(from.data(), from.size() * sizeof(T));
            return;
          }
        }
        write_each<T>(writer, from.size(), encoding, [&](std::size_t i) { return from[i]; });
      },
      part.array->values);
}

/// Values that `read_to` puts where it is told, where a DataArray keeps them as they are; else `read_items` gives them
/// in stretches. Both on several threads.
template <class ReadTo, class ReadItems>
DataArray::Values values_from(std::size_t count, ScalarType type, Encoding encoding, const ReadTo& read_to,
                              const ReadItems& read_items) {
  return with_type(type, [&]<class T>() -> DataArray::Values {
    std::vector<Stored<T>> values;
    GrowingVector<Stored<T>> places(values, count);
    if (std::is_same_v<T, Stored<T>> && (encoding == native_encoding || sizeof(T) == 1)) {
      read_to([&](std::size_t first, std::size_t bytes) {
        return reinterpret_cast<char*>(places.up_to((first + bytes + sizeof(T) - 1) / sizeof(T))) + first;
      });
    } else {
      read_items([&](std::size_t first, std::size_t some, const char* bytes) {
        Stored<T>* const to = places.up_to(first + some) + first;
        for (std::size_t i = 0; i < some; ++i) to[i] = to_stored(value_at<T>(bytes + i * sizeof(T), encoding));
      });
    }
    return values;
  });
}

}  // namespace

std::optional<ScalarType> type_named(std::span<const TypeNames> table, std::string_view name) {
  for (const TypeNames& row : table)
    for (std::string_view left = row.names; !left.empty();) {
      const std::size_t bar = std::min(left.find('|'), left.size());
      if (left.substr(0, bar) == name) return row.type;
      left.remove_prefix(std::min(bar + 1, left.size()));
    }
  return std::nullopt;
}

std::string_view name_of(std::span<const TypeNames> table, ScalarType type) {
  const auto row = std::find_if(table.begin(), table.end(), [&](const TypeNames& r) { return r.type == type; });
  return row == table.end() ? std::string_view() : row->names.substr(0, row->names.find('|'));
}

DataArray::Values read_values(ByteReader& reader, ScalarType type, Encoding encoding, std::size_t count) {
  reader.require_room(count, min_bytes(type, encoding));
  if (encoding == Encoding::text)
    return with_type(type, [&]<class T>() -> DataArray::Values {
      std::vector<Stored<T>> values;
      make_room(values, count);
      values.resize(count);
      for_each_tuple<T>(reader, encoding, count,
                        [&](std::size_t i, const std::array<T, 1>& value) { values[i] = to_stored(value[0]); });
      return values;
    });
  return values_from(
      count, type, encoding, [&](const PlaceOfBytes& place) { reader.read_to(count * size_of(type), place); },
      [&](const TakeItems& take) { reader.read_items(count, size_of(type), take); });
}

DataArray::Values read_values(const FileBytes& file, std::string_view part, ScalarType type, Encoding encoding) {
  const std::size_t count = part.size() / size_of(type);
  return values_from(
      count, type, encoding,
      [&](const PlaceOfBytes& place) { file.read_to(part.substr(0, count * size_of(type)), place); },
      [&](const TakeItems& take) { file.read_items(part, size_of(type), take); });
}

DataArray::Values values_of_bytes(std::string_view bytes, ScalarType type, Encoding encoding) {
  return values_from(
      bytes.size() / size_of(type), type, encoding,
      [&](const PlaceOfBytes& place) {
        take_items(bytes, size_of(type), [&](std::size_t first, std::size_t count, const char* from) {
          std::memcpy(place(first * size_of(type), count * size_of(type)), from, count * size_of(type));
        });
      },
      [&](const TakeItems& take) { take_items(bytes, size_of(type), take); });
}

DataArray::Values empty_values(ScalarType type) {
  return with_type(type, []<class T>() -> DataArray::Values { return std::vector<Stored<T>>(); });
}

void check_arrays(const std::filesystem::path& path, const DataArrays& arrays, std::size_t tuples,
                  std::string_view kind, std::string_view what) {
  for (const DataArray& array : arrays.all())
    if (array.components < 1 || array.value_count() != tuples * static_cast<std::size_t>(array.components))
      bad_file(path, "array '{}' does not fit (values: {} in tuples of {}, {}: {}); export the {} again", array.name,
               array.value_count(), array.components, kind, tuples, what);
}

bool may_be_wanted(std::string_view name, const ArrayNames& wanted) {
  if (!wanted || name.empty()) return true;
  return std::any_of(wanted->begin(), wanted->end(), [&](std::string_view one) {
    if (!one.starts_with(name)) return false;
    const std::string_view behind = one.substr(name.size());
    return behind.empty() || (behind[0] == '_' && behind.find_first_not_of("_0123456789") == std::string_view::npos);
  });
}

void keep_wanted(DataArrays& data, const ArrayNames& wanted) {
  if (wanted)
    std::erase_if(data.all(), [&](const DataArray& array) {
      return std::find(wanted->begin(), wanted->end(), array.name) == wanted->end();
    });
}

void add_named(DataArrays& data, DataArray array, const std::string& fallback) {
  if (array.name.empty()) array.name = fallback;
  if (data.find(array.name) != nullptr) {
    // A number behind a taken one that is free; files with thousands of equal names do not take for ever.
    const auto numbered = [&](int number) { return fmt::format("{}_{}", array.name, number); };
    const auto taken = [&](int number) { return data.find(numbered(number)) != nullptr; };
    int high = 2;
    while (taken(high)) high *= 2;
    int low = high / 2;
    while (high > 2 && low + 1 < high) {
      const int middle = (low + high) / 2;
      (taken(middle) ? low : high) = middle;
    }
    array.name = numbered(high);
  }
  data.set(std::move(array));
}

void make_names_printable(DataArrays& data) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  const auto printable = [&](const DataArray& array) {
    return std::none_of(array.name.begin(), array.name.end(), control);
  };
  if (std::all_of(data.all().begin(), data.all().end(), printable)) return;
  DataArrays result;
  for (DataArray& array : data.all()) {
    std::replace_if(array.name.begin(), array.name.end(), control, '?');
    add_named(result, std::move(array), "array");
  }
  data = std::move(result);
}

std::size_t JoinedArray::value_count() const {
  std::size_t tuples = 0;
  for (const Part& part : parts) tuples += part.tuples;
  return tuples * static_cast<std::size_t>(components);
}

std::vector<JoinedArray> join_arrays(std::span<const ArrayBlock> blocks) {
  std::vector<JoinedArray> joined;
  const bool nothing =
      std::all_of(blocks.begin(), blocks.end(), [](const ArrayBlock& block) { return block.tuples == 0; });
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].tuples == 0 && !nothing) continue;
    for (const DataArray& array : blocks[b].data->all())
      find_or_start(joined, array, blocks[b], blocks).parts[b].array = &array;
  }
  return joined;
}

void write_values(ByteWriter& writer, const JoinedArray& array, Encoding encoding) {
  with_type(array.type, [&]<class T>() {
    for (const JoinedArray::Part& part : array.parts)
      write_part<T>(writer, part, part.tuples * static_cast<std::size_t>(array.components), encoding);
  });
}

ScalarType smallest_type(const std::vector<Vec3d>& points) {
  const auto exact = [](double v) { return static_cast<double>(static_cast<float>(v)) == v; };
  const std::size_t inexact = parallel_find(usual_threads(), points.size(), [&](std::size_t i) {
    return !exact(points[i].x) || !exact(points[i].y) || !exact(points[i].z);
  });
  return inexact == points.size() ? ScalarType::float32 : ScalarType::float64;
}

void write_points(ByteWriter& writer, std::span<const Vec3d> points, ScalarType type, Encoding encoding) {
  const auto write = [&]<class T>() {
    writer.write_items(points.size(), 3 * sizeof(T), [&](std::size_t first, std::size_t some, char* to) {
      for (const Vec3d& p : points.subspan(first, some))
        for (int k = 0; k < 3; ++k, to += sizeof(T)) put_value(to, static_cast<T>(p[k]), encoding);
    });
  };
  if (type == ScalarType::float32) write.operator()<float>();
  else write.operator()<double>();
}

}  // namespace isochron
