// In which order files keep the components of symmetric tensors.
#pragma once

#include <span>

#include "isochron/core/vec.h"

namespace isochron {

/// Where the six components of a symmetric tensor stand. Nine components are always a full matrix, row by row.
enum class TensorOrder {
  vtk,     ///< xx, yy, zz, xy, yz, xz (VTK, ParaView)
  row,     ///< xx, xy, xz, yy, yz, zz (FSL, and NRRD)
  mrtrix,  ///< xx, yy, zz, xy, xz, yz
  lower    ///< xx, xy, yy, xz, yz, zz (NIfTI's symmatrix: the lower triangle row by row)
};

/// The tensor of six or nine components; of nine the symmetric part.
inline SymTensor3d tensor_of(std::span<const double> t, TensorOrder order) {
  if (t.size() == 9) return {t[0], 0.5 * (t[1] + t[3]), 0.5 * (t[2] + t[6]), t[4], 0.5 * (t[5] + t[7]), t[8]};
  switch (order) {
    case TensorOrder::row: return {t[0], t[1], t[2], t[3], t[4], t[5]};
    case TensorOrder::mrtrix: return {t[0], t[3], t[4], t[1], t[5], t[2]};
    case TensorOrder::lower: return {t[0], t[1], t[3], t[2], t[4], t[5]};
    default: return {t[0], t[3], t[5], t[1], t[4], t[2]};
  }
}

}  // namespace isochron
