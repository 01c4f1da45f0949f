// Where obtuse corners get virtual elements.
#pragma once

#include "isochron/domain.h"
#include "isochron/options.h"

namespace isochron {

constexpr bool wants_split(ObtuseSplit obtuse, DomainKind kind) {
  return obtuse == ObtuseSplit::split || (obtuse == ObtuseSplit::automatic && kind == DomainKind::triangles);
}

}  // namespace isochron
