// The server behind `isochron view`: loopback only, a token for each run, nothing served but the opened data sets.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/viewer/server/data_set.h"

namespace isochron::viewer {

struct ServerOptions {
  int port = 0;  ///< 0: any that is free
  std::string version;
  OpenOptions open;
};

/// What a file turned out to be.
struct Opened {
  std::string kind;  ///< "mesh", "tensors" or "volume"
  std::string why;   ///< it can only be looked at; empty where more can be done with it
};

class Server {
 public:
  /// Takes the port; nothing is answered yet. Throws RuntimeError when the port is in use.
  explicit Server(ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Reads a file. Throws like DataSet.
  Opened open(const std::filesystem::path& file);
  /// The page, with the token.
  [[nodiscard]] std::string url() const;
  /// Answers until `ended`, which is asked several times a second, says so. Then stops all work.
  void run(const std::function<bool()>& ended);

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace isochron::viewer
