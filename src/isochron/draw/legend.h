// The flat part of a picture: colour bar, labels and title.
#pragma once

#include <string>
#include <vector>

#include "isochron/draw/color_map.h"

class vtkRenderer;

namespace isochron {

struct Legend {
  std::string title;  ///< over the bar
  std::string units;  ///< behind the title, or under it when both do not fit
  std::string picture_title;
  double low = 0;
  double high = 1;
  std::vector<double> lines;  ///< isochrones, marked on the bar
  std::vector<Color> colors;  ///< from low to high
  bool unreached = false;     ///< explain the grey of places without a value
  std::vector<std::size_t>
      histogram;  ///< counts in equal parts of the range, as bars left of the colours; may be empty
};

/// Where the bar stands, as parts of the picture's width and height from the lower left corner.
struct LegendPlace {
  static constexpr double left = 0.875, right = 0.897, bottom = 0.18, top = 0.80;
  static constexpr double histogram_left = 0.74;  ///< where the longest bar ends
};

/// Adds the legend's actors to a renderer that covers the whole picture of width × height pixels.
void add_legend(vtkRenderer& renderer, const Legend& legend, int width, int height);

}  // namespace isochron
