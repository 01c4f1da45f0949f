// The options of pathways and streamlines; see core/option_table.h.
#pragma once

#include "isochron/connect.h"
#include "isochron/metric/option_tables.h"

namespace isochron {

template <class Visit>
void each_option(ConnectQuery& query, Visit&& visit) {
  visit({"epsilon", "E", "The pathway is what is at most this share dearer than the best ({})"}, query.epsilon);
}

template <class Visit>
void each_option(StreamlineOptions& options, Visit&& visit) {
  visit({"streamline_fa", "FA", "They end below this anisotropy ({})"}, options.min_anisotropy);
  visit({"streamline_angle", "DEG", "They end where they would turn by more in a step ({})"}, options.largest_angle);
  visit({"streamline_step", "VOXELS", "Length of a step ({})"}, options.step);
  visit({"streamline_seeds", "N", "N³ seeds in each voxel ({})"}, options.seeds_per_axis);
}

}  // namespace isochron
