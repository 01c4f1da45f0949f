// What a whole solve starts from and gives back, as bytes of a message.
#pragma once

#include <string>

#include "isochron/solve/arrival.h"
#include "isochron/solve/mpi/wire.h"
#include "isochron/solve/sources.h"

namespace isochron::mpi {

void put_text(Bytes& bytes, const std::string& text);
std::string take_text(Unpack& unpack);

void put_sources(Bytes& bytes, const Sources& sources);
Sources take_sources(Unpack& unpack);

/// Without upwind weights.
void put_arrival(Bytes& bytes, const Arrival& arrival);
Arrival take_arrival(Unpack& unpack);

}  // namespace isochron::mpi
