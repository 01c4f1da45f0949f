// The options of an inversion and the names of their choices; see core/option_table.h.
#pragma once

#include <array>

#include "isochron/core/option_table.h"
#include "isochron/invert.h"

namespace isochron {

constexpr auto choices_of(Unknown) {
  return std::array{Choice{"speed", Unknown::speed}, Choice{"tensor-scale", Unknown::tensor_scale},
                    Choice{"region-velocities", Unknown::region_velocities}, Choice{"onsets", Unknown::onsets},
                    Choice{"source-positions", Unknown::source_positions}};
}
constexpr auto choices_of(Smoothing) {
  return std::array{Choice{"gradient", Smoothing::gradient}, Choice{"curvature", Smoothing::curvature},
                    Choice{"total-variation", Smoothing::total_variation}};
}
constexpr auto choices_of(InversionEnd) {
  return std::array{Choice{"noise-level", InversionEnd::noise_level}, Choice{"settled", InversionEnd::settled},
                    Choice{"max-iterations", InversionEnd::max_iterations}};
}

/// How an inversion goes about it; what is unknown, the start and the solve's options stand apart.
template <class Visit>
void each_option(InversionOptions& options, Visit&& visit) {
  visit({"smoothing", "S", "Weight of the smoothness of speeds or factors, in any units; 0: none ({})"},
        options.smoothing);
  visit({"smoothing_kind", "NAME", "gradient (default), curvature or total-variation (keeps jumps)"},
        options.smoothing_kind);
  visit({"min_velocity", "V", "Least speed, velocity or factor"}, options.min_velocity);
  visit({"max_velocity", "V", "Largest speed, velocity or factor"}, options.max_velocity);
  visit({"noise", "T", "Standard deviation of the times: a misfit of that much ends it ({})"}, options.noise);
  visit({"max_iterations", "N", "Most steps ({})"}, options.max_iterations);
  visit({"min_decrease", "SHARE", "Misfit and smoothing must become this much less in a step, or it ends ({})"},
        options.min_decrease);
}

}  // namespace isochron
