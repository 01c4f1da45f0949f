// Measured times and sources by shot: from tables to Measurements. Checkpoints.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <system_error>

#include "apps/isochron/invert.h"
#include "isochron/core/join_text.h"
#include "isochron/io/file.h"
#include "isochron/io/image/formats.h"

namespace isochron::cli {
namespace {

void warn_of_columns(const std::filesystem::path& file, const ShotTable& table, Console& console) {
  if (!table.ignored.empty())
    console.warn("{}: {} not used ({}); the names are shot, x, y, z, vertex, time, weight and name", file.string(),
                 table.ignored.size() == 1 ? "a column is" : "columns are", join_text(table.ignored, ", "));
}

/// Throws about the line of the file.
void check_id(const IdSpace& ids, std::string_view what, const ShotRow& row, const std::filesystem::path& file) {
  about_file(file, [&] { ids.check(fmt::format("line {}: {}", row.line, what), row.vertex.index()); });
}

/// Numbers of things in the order in which they are first named.
template <class Key>
class Numbering {
 public:
  /// The number of a thing, and whether it is new.
  std::pair<std::uint32_t, bool> number(const Key& key) {
    const auto [at, added] = numbers_.emplace(key, static_cast<std::uint32_t>(numbers_.size()));
    return {at->second, added};
  }

 private:
  std::map<Key, std::uint32_t> numbers_;
};

std::map<std::string, Sources> sources_by_shot(const InvertRequest& request, const ShotTable& table,
                                               const IdSpace& ids) {
  std::map<std::string, Sources> result;
  for (const ShotRow& row : table.rows) {
    const double onset = row.time.value_or(request.problem.sources.time.value_or(0.0));
    Sources& sources = result[row.shot];
    if (row.point) {
      sources.points.push_back({*row.point, onset});
      continue;
    }
    check_id(ids, "source", row, request.shots);
    sources.vertices.push_back({row.vertex, onset});
  }
  return result;
}

/// Says which shots have sources and no times.
void warn_of_unused_shots(const InvertRequest& request, const std::map<std::string, Sources>& sources,
                          const std::vector<std::string>& shots, Console& console) {
  const std::set<std::string_view> used(shots.begin(), shots.end());
  std::vector<std::string> unused;
  for (const auto& [shot, ignored] : sources)
    if (!used.contains(shot)) unused.push_back(shot);
  if (!unused.empty())
    console.warn("{}: {} left out ({}): {} has no times of {}", request.shots.string(),
                 unused.size() == 1 ? "a shot is" : "shots are", join_text(unused, ", "), request.times.string(),
                 unused.size() == 1 ? "it" : "them");
}

}  // namespace

ShotTables read_shot_tables(const InvertRequest& request, Console& console) {
  ShotTables tables{read_shot_table(request.times, ShotTableKind::measured_times), {}};
  warn_of_columns(request.times, tables.times, console);
  if (request.shots.empty()) return tables;
  if (!tables.times.has_shots)
    throw InputError("there is no column 'shot' (the sources are given by shot); add it, or leave out --shots",
                     request.times.string());
  tables.sources = read_shot_table(request.shots, ShotTableKind::sources);
  warn_of_columns(request.shots, *tables.sources, console);
  return tables;
}

std::size_t NamedMeasurements::time_count() const {
  std::size_t count = 0;
  for (const Shot& shot : measured.shots) count += shot.picks.size();
  return count;
}

NamedMeasurements gather_measurements(const InvertRequest& request, const ShotTables& tables, const IdSpace& ids,
                                      const PlaceOf& place_of, const Sources& common, Console& console) {
  std::map<std::string, Sources> sources;
  if (tables.sources) sources = sources_by_shot(request, *tables.sources, ids);
  NamedMeasurements result;
  Measurements& measured = result.measured;
  Numbering<std::string> shots;
  Numbering<std::array<double, 3>> receivers;
  for (const ShotRow& row : tables.times.rows) {
    const auto [shot, new_shot] = shots.number(row.shot);
    if (new_shot) {
      const auto found = sources.find(row.shot);
      if (tables.sources && found == sources.end())
        throw InputError(fmt::format("line {}: shot '{}' has no source in {}; add a row there", row.line, row.shot,
                                     request.shots.string()),
                         request.times.string());
      measured.shots.push_back({tables.sources ? found->second : common, {}});
      result.shots.push_back(row.shot);
      result.names.emplace_back();
    }
    if (!row.point) check_id(ids, "receiver", row, request.times);
    const Vec3d place = row.point ? *row.point : place_of(row.vertex);
    const auto [receiver, new_receiver] = receivers.number({place.x, place.y, place.z});
    if (new_receiver) measured.receivers.push_back(place);
    measured.shots[shot].picks.push_back({receiver, *row.time, row.weight});
    result.names[shot].push_back(row.name);
  }
  warn_of_unused_shots(request, sources, result.shots, console);
  return result;
}

std::optional<InversionState> read_checkpoint(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  const Image table = read_npy_image(file);
  const DataArray& values = table.data.all().front();
  InversionState state;
  bool good = values.components == 1;
  for (std::size_t i = 0; good && i < values.tuple_count(); ++i) {
    const double value = values.at(i);
    good = std::isfinite(value) && (i > 2 || value >= 0);
    if (i == 0) state.smoothing_weight = value;
    else if (i == 1) state.damping = value;
    else if (i == 2) state.problem = value;
    else state.values.push_back(value);
  }
  if (!good)
    throw InputError("is no checkpoint of an inversion (a row of finite numbers); give another name, or remove it",
                     file.string());
  return state;
}

void write_checkpoint(const std::filesystem::path& file, const InversionState& state) {
  std::vector<double> row{state.smoothing_weight, state.damping, state.problem};
  row.insert(row.end(), state.values.begin(), state.values.end());
  OutputFiles files(Overwrite::yes);
  NpyWriter writer(files.add(file), 1, row.size());
  writer.row(row);
  writer.finish();
  files.commit();
}

}  // namespace isochron::cli
