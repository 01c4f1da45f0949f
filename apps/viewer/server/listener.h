// cpp-httplib's server on connections whose header has been read already: its threads see whole headers only.
#pragma once

#include <cstddef>
#include <string>

#include <httplib.h>

#include "apps/viewer/server/connections.h"

namespace isochron::viewer {

class Listener : public httplib::Server {
 public:
  /// Answers until it is stopped. `known_threads` are for those who have the token.
  void listen(const std::string& token, std::size_t known_threads);

 private:
  struct Traffic;

  bool process_and_close_socket(socket_t socket) override;

  Traffic* traffic_ = nullptr;  ///< while it listens
};

}  // namespace isochron::viewer
