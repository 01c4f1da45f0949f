#include "isochron/io/set_files.h"

#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "isochron/comm/collectives.h"
#include "isochron/core/error.h"
#include "isochron/io/piece_index.h"

namespace isochron {
namespace {

namespace fs = std::filesystem;

/// Pieces of a set from one on.
void remove_pieces(const fs::path& path, std::size_t first) {
  std::error_code ignored;
  while (fs::remove(piece_path(path, first), ignored)) ++first;
}

/// The files of a set that all processes write. Whoever is left removes all of them when one process is killed.
class SetFiles {
 public:
  /// `own` is where this process writes first; nothing when it has no piece.
  SetFiles(Communicator& communicator, const fs::path& index, const fs::path& own) : index_(index) {
    const std::string name = own.string();
    const std::vector<char> text(name.begin(), name.end());
    for (const auto& told : exchange_values(communicator, std::vector(communicator.ranks(), text)))
      if (!told.empty()) files_.emplace_back(std::string(told.begin(), told.end()));
  }
  ~SetFiles() {
    std::error_code ignored;
    for (const fs::path& file : files_) fs::remove(file, ignored);
  }
  SetFiles(const SetFiles&) = delete;
  SetFiles& operator=(const SetFiles&) = delete;

  /// From now on pieces have their own names, and there may be an index. That is the first to go, because it stands for
  /// all, and the last: another process may write it meanwhile.
  void start_renaming() {
    pieces_ = files_.size();
    files_.insert(files_.begin(), index_);
    for (std::size_t piece = 0; piece < pieces_; ++piece) files_.push_back(piece_path(index_, piece));
    files_.push_back(index_);
  }
  /// When the index is there: throws Cancelled if a process was told to stop before that and has removed pieces. One
  /// that removes them later removes the index, too.
  void check_pieces() const {
    for (std::size_t piece = 0; piece < pieces_; ++piece)
      if (std::error_code ignored; !fs::exists(piece_path(index_, piece), ignored)) throw Cancelled();
  }
  void keep() { files_.clear(); }

 private:
  fs::path index_;
  std::vector<fs::path> files_;
  std::size_t pieces_ = 0;
};

}  // namespace

void check_set_writable(const fs::path& path, Overwrite overwrite) {
  check_output_file(path, overwrite);
  std::error_code ignored;
  if (overwrite == Overwrite::no && fs::exists(piece_path(path, 0), ignored))
    throw InputError(
        fmt::format("{}: exists already (it would be replaced); allow that (--force) or choose another name",
                    piece_path(path, 0).string()));
}

void write_set(Communicator& communicator, const fs::path& path, const PieceIndex& index, const SetWriters& writers,
               const std::function<void(PieceFile&)>& write) {
  std::optional<PieceFile> file;
  all_or_none(communicator, [&] {
    if (communicator.index() < writers.pieces) file.emplace(path, communicator.index());
  });
  SetFiles files(communicator, path, file ? file->temporary() : fs::path());
  all_or_none(communicator, [&] {
    if (file) write(*file);
  });
  // Pieces replace old ones one by one, so that the old set is none from here on.
  all_or_none(communicator, [&] {
    std::error_code ignored;
    if (communicator.index() == writers.index) fs::remove(path, ignored);
  });
  files.start_renaming();
  all_or_none(communicator, [&] {
    if (file) file->commit();
  });
  all_or_none(communicator, [&] {
    if (communicator.index() != writers.index) return;
    commit_piece_index(path, index, writers.pieces);
    files.check_pieces();
  });
  if (file) file->keep();
  files.keep();
  if (communicator.index() == writers.index) remove_pieces(path, writers.pieces);
}

void remove_set(const fs::path& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
  remove_pieces(path, 0);
  fs::remove(piece_path(path, 0).parent_path(), ignored);
}

}  // namespace isochron
