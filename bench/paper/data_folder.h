// Where data is that does not come with Isochron.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace isochron::bench {

/// The folder that ISOCHRON_DATA names, else `../shared/data` seen from where the user is. It need not be there.
inline std::filesystem::path data_folder() {
  const char* named = std::getenv("ISOCHRON_DATA");
  return named != nullptr ? named : "../shared/data";
}

}  // namespace isochron::bench
