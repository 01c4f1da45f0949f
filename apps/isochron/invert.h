// What `isochron invert` was asked for, and its steps.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/isochron/solve.h"
#include "isochron/invert.h"
#include "isochron/io/tables.h"

namespace isochron::cli {

struct InvertRequest {
  SolveRequest problem;          ///< the mesh or image, its sources and metric, and -o
  std::filesystem::path times;   ///< what was measured
  std::filesystem::path shots;   ///< the sources of each shot; empty: all have those of the problem
  InversionOptions options;      ///< but for how it is solved: see `problem`
  std::vector<std::string> set;  ///< the options of the inversion that were given
  std::optional<double> receiver_tolerance;
  std::filesystem::path sources_output, velocities_output, times_output, curve;
  std::filesystem::path checkpoint;

  [[nodiscard]] bool looks_for(Unknown unknown) const;
  /// There is an unknown for each element or voxel.
  [[nodiscard]] bool has_field() const { return looks_for(Unknown::speed) || looks_for(Unknown::tensor_scale); }
  [[nodiscard]] bool has_source_unknowns() const {
    return looks_for(Unknown::onsets) || looks_for(Unknown::source_positions);
  }
  /// The array of -o that has the field.
  [[nodiscard]] const char* field_name() const { return looks_for(Unknown::speed) ? "speed" : "velocity_scale"; }
};

/// Runs everything; gives the exit code.
int run_invert(const InvertRequest& request, Console& console);

// ---- what was measured

/// The tables of times and shots.
struct ShotTables {
  ShotTable times;
  std::optional<ShotTable> sources;
};
ShotTables read_shot_tables(const InvertRequest& request, Console& console);

/// Measured times, and what the files call them.
struct NamedMeasurements {
  Measurements measured;
  std::vector<std::string> shots;               ///< empty text where the table has no shots
  std::vector<std::vector<std::string>> names;  ///< of each time of each shot

  [[nodiscard]] std::size_t time_count() const;
};

/// Where vertices or voxels are.
using PlaceOf = std::function<Vec3d(GlobalVertexId)>;

/// Files that go with the mesh or image, read before it so that what is wrong with them shows at once.
struct InvertInputs {
  ShotTables tables;
  SideInputs sources;
  std::optional<InversionState> start;  ///< of the checkpoint
};

/// Puts rows of the same shot together, and receivers of the same place. `common` are the sources of all shots where no
/// table has them. Throws InputError for ids that are not there and for shots without sources; warns of shots without
/// times.
NamedMeasurements gather_measurements(const InvertRequest& request, const ShotTables& tables, const IdSpace& ids,
                                      const PlaceOf& place_of, const Sources& common, Console& console);

// ---- where it stands

/// The state in a checkpoint; none where there is no such file. Throws InputError for a file that is none.
std::optional<InversionState> read_checkpoint(const std::filesystem::path& file);
void write_checkpoint(const std::filesystem::path& file, const InversionState& state);

// ---- what came out of it

struct InvertSummary {
  const InvertRequest& request;
  Paths written{};
  std::size_t vertices = 0;
  std::size_t elements = 0;
  int corners = 4;  ///< or `voxel_corners`
  std::vector<CutCells> cut_cells{};
  Inversion found{};  ///< with velocities in the unit that they were given in
  NamedMeasurements measured{};
  PlaceOf place_of{};  ///< valid until the mesh goes
  std::vector<std::string> notes{};
  double read_seconds = 0;
  double invert_seconds = 0;
  double write_seconds = 0;
};

/// Writes the tables that were asked for.
void write_inversion_tables(InvertSummary& summary, OutputFiles& files);
/// As text for people or as one JSON object, as asked for.
void print_inversion(const InvertSummary& summary, const Console& console);
/// Exit code of a finished run, and its line on stderr when that is not 0.
int judge(const InvertSummary& summary);

}  // namespace isochron::cli
