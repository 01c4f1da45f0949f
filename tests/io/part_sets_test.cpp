// Sets of pieces that several processes read and write together.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "io/io_test_support.h"
#include "isochron/communicator.h"
#include "isochron/generate.h"
#include "isochron/io/mesh/formats.h"
#include "isochron/io/pieces/part_files.h"
#include "isochron/io/pieces/part_input.h"
#include "isochron/io/pieces/piece_index.h"
#include "isochron/io/vtk_xml.h"
#include "isochron/partition.h"
#include "support/delayed_messages.h"

namespace {
bool no_second_names = false;  ///< as on a file system that has none
}

extern "C" int link(const char* from, const char* to) noexcept {
  if (!no_second_names) return ::linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
  errno = EPERM;
  return -1;
}

namespace isochron::test {
namespace TEST_FILE {

using testing::HasSubstr;

/// Arrays that tell where a vertex is and which element it is.
template <int Corners>
void set_arrays(const SimplexMesh<Corners>& mesh, const std::vector<std::uint64_t>& elements, DataArrays& points,
                DataArrays& cells) {
  std::vector<double> x;
  for (const Vec3d& p : mesh.points) x.push_back(p.x);
  points.set({"x", 1, std::move(x)});
  cells.set({"id", 1, std::vector<std::int64_t>(elements.begin(), elements.end())});
}

template <int Corners>
void write_own_part(Communicator& communicator, const fs::path& path, const SimplexMesh<Corners>& mesh,
                    const std::vector<std::uint32_t>& part_of, const std::function<void(MeshPart<Corners>&)>& change,
                    Overwrite overwrite) {
  PartData<Corners> data;
  data.part = cut_part(mesh, std::span<const std::uint32_t>(part_of), static_cast<std::uint32_t>(communicator.index()));
  if (communicator.index() == 1) change(data.part);
  set_arrays(data.part.mesh, data.part.global_element, data.point_data, data.cell_data);
  write_parts(communicator, path, std::move(data), overwrite);
}

/// `change` may do something to the second part before it is written.
template <int Corners>
void write_set(
    const fs::path& path, const SimplexMesh<Corners>& mesh, std::uint32_t parts,
    const std::function<void(MeshPart<Corners>&)>& change = [](MeshPart<Corners>&) {},
    Overwrite overwrite = Overwrite::yes) {
  const auto part_of = partition_vertices(mesh, parts, Partitioner::curve);
  run_on_threads(
      parts, [&](Communicator& communicator) { write_own_part(communicator, path, mesh, part_of, change, overwrite); });
}

template <int Corners>
PartData<Corners> read_own_part(Communicator& communicator, const fs::path& path, std::uint32_t blocks = 0) {
  OwnPieces own = read_own_pieces(communicator, path);
  if (own.ready_parts && blocks == 0) return take_ready_part<Corners>(communicator, std::move(own));
  return part_of_pieces(communicator, number_pieces<Corners>(communicator, std::move(own)), blocks);
}

template <int Corners>
std::vector<PartData<Corners>> read_set(const fs::path& path, std::size_t ranks, std::uint32_t blocks = 0) {
  std::vector<PartData<Corners>> parts(ranks);
  run_on_threads(ranks, [&](Communicator& communicator) {
    parts[communicator.index()] = read_own_part<Corners>(communicator, path, blocks);
  });
  return parts;
}

/// The parts are those of the mesh that one process reads, numbered alike, and none is much larger than its share.
template <int Corners>
void expect_parts_of(const Dataset& whole, const std::vector<PartData<Corners>>& parts) {
  const auto& cells = whole.block<Corners>().cells;
  std::vector<int> owned(whole.points.size(), 0), counted(cells.size(), 0);
  for (const PartData<Corners>& data : parts) {
    const MeshPart<Corners>& part = data.part;
    ASSERT_EQ(part.whole_vertices, whole.points.size());
    ASSERT_EQ(part.whole_elements, cells.size());
    const double share = static_cast<double>(whole.points.size()) / static_cast<double>(parts.size());
    EXPECT_LE(static_cast<double>(part.owned), 1.3 * share + 30);
    for (std::size_t v = 0; v < part.mesh.vertex_count(); ++v) {
      const std::uint64_t id = part.global_vertex[v];
      if (v < part.owned) ++owned[id];
      ASSERT_EQ(part.mesh.points[v], whole.points[id]);
      ASSERT_EQ(data.point_data.require("x", "points").at(v), whole.point_data.require("x", "points").at(id));
    }
    for (std::size_t e = 0; e < part.mesh.element_count(); ++e) {
      const std::uint64_t id = part.global_element[e];
      if (part.counts(ElementId(e))) ++counted[id];
      for (int k = 0; k < Corners; ++k)
        ASSERT_EQ(part.global_vertex[part.mesh.elements[e][k].index()], cells[id][k].index());
      ASSERT_EQ(data.cell_data.require("id", "cells").at(e), whole.block<Corners>().data.require("id", "cells").at(id));
    }
    if (part.mesh.vertex_count() > 0) {
      EXPECT_EQ(data.point_data.names(), whole.point_data.names());
    }
  }
  EXPECT_EQ(owned, std::vector<int>(owned.size(), 1));
  EXPECT_EQ(counted, std::vector<int>(counted.size(), 1));
}

TEST(PartSets, AnyNumberOfProcessesReadsAnyNumberOfPieces) {
  const TemporaryFolder folder;
  const TetMesh cube = generate_cube({.nx = 8, .ny = 7, .nz = 6, .extent = {1, 1, 1}, .jitter = 0.2});
  const TriangleMesh square = generate_square({.n = 15, .jitter = 0.2});
  for (const std::uint32_t written : {1U, 3U, 6U}) {
    write_set(folder.path() / "cube.pvtu", cube, written);
    write_set(folder.path() / "square.pvtp", square, written);
    const Dataset whole = read_dataset(folder.path() / "cube.pvtu"), flat = read_dataset(folder.path() / "square.pvtp");
    EXPECT_EQ(whole.points.size(), cube.vertex_count());
    for (const std::size_t ranks : {1, 2, 3, 6, 8}) {
      SCOPED_TRACE(fmt::format("{} pieces, {} processes", written, ranks));
      expect_parts_of<4>(whole, read_set<4>(folder.path() / "cube.pvtu", ranks));
      expect_parts_of<3>(flat, read_set<3>(folder.path() / "square.pvtp", ranks));
    }
    expect_parts_of<4>(whole, read_set<4>(folder.path() / "cube.pvtu", 3, 4));  // cut anew
  }
}

TEST(PartSets, AsManyProcessesAsPiecesKeepThem) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "cube.pvtu";
  const TetMesh cube = generate_cube({.nx = 6, .ny = 6, .nz = 6});
  write_set(path, cube, 4);
  const auto part_of = partition_vertices(cube, 4, Partitioner::curve);
  const std::vector<PartData<4>> parts = read_set<4>(path, 4), halves = read_set<4>(path, 2);
  for (std::uint32_t r = 0; r < 4; ++r) {
    const MeshPart<4> expected = cut_part(cube, std::span<const std::uint32_t>(part_of), r);
    EXPECT_EQ(parts[r].part.global_vertex, expected.global_vertex);
    EXPECT_EQ(parts[r].part.ghost_owner, expected.ghost_owner);
  }
  std::vector<std::uint32_t> dealt;  // two pieces each, where they are
  for (const std::uint32_t part : part_of) dealt.push_back(part / 2);
  for (std::uint32_t r = 0; r < 2; ++r)
    EXPECT_EQ(halves[r].part.global_vertex, cut_part(cube, std::span<const std::uint32_t>(dealt), r).global_vertex);
}

enum class Ids { none, with_gaps, cells_twice, below_zero };

/// Slabs of elements as another program writes them, which knows nothing of parts.
void write_foreign(const fs::path& path, const TetMesh& mesh, std::size_t count, Ids ids) {
  PieceIndex index;
  for (std::size_t p = 0; p < count; ++p) {
    Dataset piece;
    std::map<VertexId, VertexId> local;
    std::vector<double> x;
    std::vector<std::int64_t> vertex_ids, element_ids, id;
    const std::size_t all = mesh.element_count();
    for (std::size_t e = p * all / count; e < (p + 1) * all / count; ++e) {
      auto cell = mesh.elements[e];
      for (VertexId& v : cell) {
        const auto [at, fresh] = local.emplace(v, VertexId(local.size()));
        if (fresh) {
          piece.points.push_back(mesh.point(v));
          x.push_back(mesh.point(v).x);
          vertex_ids.push_back(3 * static_cast<std::int64_t>(v.index()) + 5);
        }
        v = at->second;
      }
      piece.tets.cells.push_back(cell);
      id.push_back(static_cast<std::int64_t>(e));
      element_ids.push_back(2 * static_cast<std::int64_t>(all - e));  // the other way round
    }
    piece.point_data.set({"x", 1, std::move(x)});
    piece.tets.data.set({"id", 1, std::move(id)});
    if (p == 0) index = mesh_index(piece, PieceKind::grid);
    if (ids == Ids::cells_twice) element_ids[0] = 2 * static_cast<std::int64_t>(all);  // the first one's, in all pieces
    if (ids == Ids::below_zero && p + 1 == count) vertex_ids.back() = -4;
    if (ids != Ids::none) {
      piece.point_data.set({global_point_ids, 1, std::move(vertex_ids)});
      piece.tets.data.set({global_cell_ids, 1, std::move(element_ids)});
    }
    index.pieces.push_back(path.parent_path() / fmt::format("foreign_{}.vtu", p));
    write_vtk_piece({index.pieces.back(), index.pieces.back()}, piece, PieceKind::grid);
  }
  index.path = path;
  write_piece_index({path, path}, index);
}

TEST(PartSets, ForeignPiecesAreNumberedAsByOneProcess) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "foreign.pvtu";
  const TetMesh cube = generate_cube({.nx = 7, .ny = 6, .nz = 8, .extent = {1, 1, 1}, .jitter = 0.2});
  for (const Ids ids : {Ids::none, Ids::with_gaps})
    for (const std::size_t pieces : {1, 4, 5}) {
      write_foreign(path, cube, pieces, ids);
      const Dataset whole = read_dataset(path);
      ASSERT_EQ(whole.points.size(), cube.vertex_count());
      for (const std::size_t ranks : {1, 2, 4, 7}) {
        SCOPED_TRACE(fmt::format("{} pieces, {} processes", pieces, ranks));
        expect_parts_of<4>(whole, read_set<4>(path, ranks));
      }
    }
}

/// What all processes say; they must say the same.
std::string set_error(const fs::path& path, std::size_t ranks) {
  std::mutex mutex;
  std::vector<std::string> said;
  run_on_threads(ranks, [&](Communicator& communicator) {
    try {
      static_cast<void>(read_own_part<4>(communicator, path));
    } catch (const InputError& error) {
      const std::lock_guard lock(mutex);
      said.emplace_back(error.what());
    }
  });
  EXPECT_EQ(said.size(), ranks);
  return said.empty() ? "" : said[0];
}

TEST(PartSets, WhatOneProcessFindsAllSay) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "cube.pvtu";
  const TetMesh cube = generate_cube({.nx = 5, .ny = 5, .nz = 5});
  for (const std::size_t ranks : {2, 3, 5}) {
    write_set(path, cube, 3);
    const std::string piece = content_of(piece_path(path, 1));
    fs::remove(piece_path(path, 1));
    EXPECT_THAT(set_error(path, ranks), testing::AllOf(HasSubstr("piece 1 of 3"), HasSubstr("is missing")));
    folder.put("cube/cube_0001.vtu", piece.substr(0, piece.size() / 2));
    EXPECT_THAT(set_error(path, ranks), HasSubstr("cube_0001.vtu"));
    folder.put("cube/cube_0001.vtu", content_of(piece_path(path, 2)));
    EXPECT_NE(set_error(path, ranks), "");  // another part in its place
    EXPECT_THAT(set_error(folder.path() / "none.pvtu", ranks), HasSubstr("none.pvtu"));
  }
}

TEST(PartSets, PiecesThatDoNotFitAreRefused) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "cube.pvtu";
  const TetMesh cube = generate_cube({.nx = 5, .ny = 5, .nz = 5});
  for (const std::size_t ranks : {3, 2}) {
    write_set<4>(path, cube, 3, [](MeshPart<4>& part) {
      for (std::size_t v = part.owned; v < part.mesh.points.size(); ++v) part.mesh.points[v].x += 3;
    });
    EXPECT_THAT(set_error(path, ranks), HasSubstr("at two places"));
    write_set<4>(path, cube, 3, [](MeshPart<4>& part) {
      part.mesh.elements.resize(part.mesh.elements.size() / 2);
      part.global_element.resize(part.mesh.elements.size());
    });
    EXPECT_THAT(set_error(path, ranks), testing::AnyOf(HasSubstr("the whole mesh"), HasSubstr("do not number")));
  }
}

TEST(PartSets, IdsThatCannotBeAreRefused) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "foreign.pvtu";
  const TetMesh cube = generate_cube({.nx = 4, .ny = 4, .nz = 4});
  for (const std::size_t ranks : {2, 3, 5}) {
    write_foreign(path, cube, 4, Ids::cells_twice);
    EXPECT_THAT(set_error(path, ranks), HasSubstr(fmt::format("cell {} is in two pieces", 2 * cube.element_count())));
    write_foreign(path, cube, 4, Ids::below_zero);
    EXPECT_THAT(set_error(path, ranks), testing::AllOf(HasSubstr("piece 3 of 4"), HasSubstr("the id -4")));
  }
}

/// What is in all files of a folder, and where links lead.
std::map<std::string, std::string> contents_of(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    std::string& content = all[entry.path().string()];
    if (entry.is_symlink()) content = "-> " + fs::read_symlink(entry.path()).string() + ": ";
    if (entry.is_regular_file()) content += content_of(entry.path());
  }
  return all;
}

/// Writes a set with three ranks; the first is killed when `now` is true: nothing more comes from it, and it removes
/// nothing. The others are told to stop. Gives what is there when they have ended.
std::map<std::string, std::string> contents_after_a_kill(const fs::path& path, const TetMesh& mesh, Overwrite overwrite,
                                                         const std::function<bool()>& now) {
  constexpr int ranks = 3;
  const auto part_of = partition_vertices(mesh, ranks, Partitioner::curve);
  std::atomic<bool> killed = false;
  std::atomic<int> ended = 0;
  std::map<std::string, std::string> left;
  const auto watch_first = [&] {
    if (!now()) return;
    killed = true;
    while (ended < ranks - 1) std::this_thread::yield();
    left = contents_of(path.parent_path());
    throw Cancelled();
  };
  const auto watch_other = [&] {
    if (killed) throw Cancelled();
  };
  const auto write = [&](Communicator& communicator) {
    if (communicator.rank() == 0) communicator.watch = watch_first;
    else communicator.watch = watch_other;
    try {
      write_own_part<4>(
          communicator, path, mesh, part_of, [](MeshPart<4>&) {}, overwrite);
    } catch (const Cancelled&) {
      ++ended;
    }
  };
  run_delayed(ranks, {.looks = 20}, write);
  EXPECT_TRUE(killed);
  return left;
}

TEST(PartSets, LeaveNothingBehindWhenOneCannotBeWritten) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "cube.pvtu";
  const TetMesh cube = generate_cube({.nx = 4, .ny = 4, .nz = 4});
  fs::create_directories(piece_path(path, 2) / "in the way");  // a rename cannot replace it
  EXPECT_THROW(write_set(path, cube, 3), RuntimeError);
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path() / "cube"), fs::directory_iterator()), 1);
}

TEST(PartSets, KeepTheOldSetWhenOneCannotBeReplaced) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.pvtu";
  write_set(path, generate_cube({.nx = 3, .ny = 3, .nz = 3}), 2);
  fs::create_directories(piece_path(path, 2) / "in the way");
  const auto before = contents_of(folder.path());
  EXPECT_THROW(write_set(path, generate_cube({.nx = 4, .ny = 4, .nz = 4}), 3), RuntimeError);
  EXPECT_EQ(contents_of(folder.path()), before);
}

TEST(PartSets, KeepWhatLinksLeadTo) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.pvtu";
  const TetMesh small = generate_cube({.nx = 3, .ny = 3, .nz = 3}), large = generate_cube({.nx = 4, .ny = 4, .nz = 4});
  write_set(path, small, 3);
  for (const std::size_t piece : {0, 1, 2}) {
    const fs::path real = folder.path() / fmt::format("real{}.vtu", piece);
    fs::rename(piece_path(path, piece), real);
    fs::create_symlink(real, piece_path(path, piece));
  }
  const fs::path in_the_way = piece_path(path, 3) / "in the way";
  fs::create_directories(in_the_way);
  const auto before = contents_of(folder.path());
  EXPECT_THROW(write_set(path, large, 4), RuntimeError);
  EXPECT_EQ(contents_of(folder.path()), before);
  fs::remove_all(in_the_way.parent_path());
  write_set(path, large, 2);
  EXPECT_EQ(read_dataset(path).points.size(), large.vertex_count());
  for (const std::size_t piece : {0, 1}) EXPECT_TRUE(fs::is_symlink(piece_path(path, piece)));
  EXPECT_FALSE(fs::exists(folder.path() / "real2.vtu"));
}

TEST(PartSets, LeaveNothingOfTheFirstRankWhenItIsKilled) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.pvtu";
  const auto left = contents_after_a_kill(path, generate_cube({.nx = 4, .ny = 4, .nz = 4}), Overwrite::no,
                                          [&] { return fs::exists(piece_path(path, 0)); });
  EXPECT_EQ(left.count(piece_path(path, 0).string()), 0U);
  EXPECT_LE(left.size(), 1U);  // the folder
  write_set<4>(
      path, generate_cube({.nx = 3, .ny = 3, .nz = 3}), 2, [](MeshPart<4>&) {}, Overwrite::no);
}

TEST(PartSets, AreRestoredByWhoeverIsLeft) {
  const TetMesh small = generate_cube({.nx = 3, .ny = 3, .nz = 3}), large = generate_cube({.nx = 4, .ny = 4, .nz = 4});
  for (const bool has_links : {true, false}) {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "a.pvtu";
    write_set(path, small, 3);
    const auto before = contents_of(folder.path());
    no_second_names = !has_links;
    const auto old_first = content_of(piece_path(path, 0));
    const auto replaced = [&] {
      return fs::exists(piece_path(path, 0)) && content_of(piece_path(path, 0)) != old_first;
    };
    const auto index_gone = [&] { return !fs::exists(path); };
    EXPECT_EQ(contents_after_a_kill(path, large, Overwrite::yes, index_gone), before);
    EXPECT_EQ(contents_after_a_kill(path, large, Overwrite::yes, replaced), before);
    no_second_names = false;
  }
}

TEST(PartSets, AreWholeOnceTheirIndexIsThere) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.pvtu";
  const TetMesh large = generate_cube({.nx = 4, .ny = 4, .nz = 4});
  write_set(path, generate_cube({.nx = 3, .ny = 3, .nz = 3}), 2);
  const std::string old = content_of(path);
  const auto part_of = partition_vertices(large, 2, Partitioner::curve);
  const auto old_pieces = [&] {
    const auto is_old = [](const auto& entry) { return entry.path().extension() == ".old"; };
    return std::count_if(fs::directory_iterator(folder.path() / "a"), fs::directory_iterator(), is_old);
  };
  bool stopped = false;
  // The second rank is told to stop when the first one knows that all is done. It does not wait for that for ever: the
  // first one may have to hear from it before.
  const auto watch = [&] {
    if (!fs::exists(path) || content_of(path) == old) return;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    while (old_pieces() > 1)
      if (std::chrono::steady_clock::now() > end) return;
    stopped = true;
    throw Cancelled();
  };
  const auto write = [&](Communicator& communicator) {
    if (communicator.rank() == 1) communicator.watch = watch;
    write_own_part<4>(
        communicator, path, large, part_of, [](MeshPart<4>&) {}, Overwrite::yes);
  };
  EXPECT_THROW(run_delayed(2, {.looks = 20}, write), Cancelled);
  EXPECT_TRUE(stopped);
  EXPECT_EQ(read_dataset(path).points.size(), large.vertex_count());
  EXPECT_EQ(std::distance(fs::recursive_directory_iterator(folder.path()), fs::recursive_directory_iterator()), 4);
}

TEST(PartSets, LeaveAloneWhatAnotherJobHasWrittenMeanwhile) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "cube.pvtu";
  const TetMesh cube = generate_cube({.nx = 4, .ny = 4, .nz = 4});
  const auto unchanged = [](MeshPart<4>&) {};
  write_set<4>(path, cube, 2, unchanged, Overwrite::no);
  const std::string piece = content_of(piece_path(path, 1));
  for (const bool has_index : {true, false}) {
    if (!has_index) fs::remove(path);
    EXPECT_THROW(write_set<4>(path, generate_cube({.nx = 3, .ny = 3, .nz = 3}), 3, unchanged, Overwrite::no),
                 InputError);
    EXPECT_EQ(fs::exists(path), has_index);
    EXPECT_EQ(content_of(piece_path(path, 1)), piece);
    EXPECT_FALSE(fs::exists(piece_path(path, 2)));
  }
}

TEST(PartSets, KeepALinkToTheirIndex) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "cube.pvtu";
  fs::create_symlink("real.pvtu", path);
  for (int i = 0; i < 2; ++i) write_set(path, generate_cube({.nx = 3, .ny = 3, .nz = 3}), 2);
  EXPECT_TRUE(fs::is_symlink(path));
  EXPECT_TRUE(fs::is_regular_file(folder.path() / "real.pvtu"));
}

TEST(PartSets, EveryPieceHasEveryArray) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "tiny.pvtu";
  const TetMesh tiny = generate_cube({.nx = 2, .ny = 2, .nz = 2});
  write_set(path, tiny, 11);  // more than there are vertices
  const PieceIndex index = read_piece_index(path);
  EXPECT_EQ(index.point_arrays.size(), 4U);
  for (std::size_t piece = 0; piece < 11; ++piece) {
    const std::string text = content_of(piece_path(path, piece));
    for (const auto* arrays : {&index.point_arrays, &index.cell_arrays})
      for (const PieceArray& array : *arrays) EXPECT_THAT(text, HasSubstr("Name=\"" + array.name + "\""));
  }
  for (const std::size_t ranks : {1, 3, 11, 13}) expect_parts_of<4>(read_dataset(path), read_set<4>(path, ranks));
}

TEST(PartSets, ReplaceAnOldSetAsAWhole) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "cube.pvtu";
  write_set(path, generate_cube({.nx = 4, .ny = 4, .nz = 4}), 5);
  const TetMesh other = generate_cube({.nx = 5, .ny = 4, .nz = 3});
  write_set(path, other, 2);
  EXPECT_EQ(read_dataset(path).points.size(), other.vertex_count());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path() / "cube"), fs::directory_iterator()), 2);
  EXPECT_THROW(check_set_name(path, Overwrite::no), InputError);
  check_set_name(path, Overwrite::yes);
  fs::remove(path);
  EXPECT_THROW(check_set_name(path, Overwrite::no), InputError);  // its pieces are there
  EXPECT_THROW(check_set_name(folder.path() / "a.vtu", Overwrite::no), UsageError);
  EXPECT_THROW(check_set_holds<4>("a.pvtp"), UsageError);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
