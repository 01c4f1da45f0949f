// Solves a case in every way that applies and compares the answers with each other and with the fixed point.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "differential/cases.h"

namespace isochron::test {

enum class Devices { cpu, gpu };
enum class Ranks { none, some };
/// Threads take far longer to start than a small case to be solved.
enum class Ways { sampled, all };

struct CheckRequest {
  Devices devices = Devices::cpu;
  Ranks ranks = Ranks::none;
  Ways ways = Ways::sampled;
};

/// What was found about some cases.
struct Findings {
  std::map<std::string, std::uint64_t> counts;  ///< "triangles: cases", "refused: …", "not converged: …"
  std::vector<std::string> failures;            ///< one line each

  void add(const Findings& other);
};

Findings check_case(const Case& problem, const CheckRequest& request);

}  // namespace isochron::test
