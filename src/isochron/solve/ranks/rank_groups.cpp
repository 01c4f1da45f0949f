#include "isochron/solve/ranks/rank_groups.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

#include "isochron/comm/collectives.h"
#include "isochron/core/parallel.h"

namespace isochron::ranks {
namespace {

/// The machine and memory of a rank.
struct RankPlace {
  int machine = 0;  ///< its first rank
  int memory = -1;
  int alone = 0;
  int leader = 0;  ///< of its group
  CoreSet cores;
};

/// What ties threads to places, or nothing.
std::string tie_of_threads() {
  for (const char* name : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || std::string_view(value) == "false" || std::string_view(value) == "FALSE") continue;
    return name;
  }
  return {};
}

/// Whether this process may use all those cores; left as it was.
bool may_use(const CoreSet& own, const CoreSet& all) {
  if (all.within(own)) return true;
  const bool can = move_to_cores(all) && allowed_cores() == all;
  (void)move_to_cores(own);
  return can;
}

/// Ranks with the same machine and memory, `most` of them one after the other, are a group.
void form(std::vector<RankPlace>& places, int most) {
  struct Group {
    int leader = -1, size = 0;
  };
  std::map<std::pair<int, int>, Group> last;  // of each machine and memory
  for (std::size_t r = 0; r < places.size(); ++r) {
    RankPlace& place = places[r];
    place.leader = static_cast<int>(r);
    if (place.alone != 0) continue;
    Group& group = last[{place.machine, place.memory}];
    if (group.size == 0 || group.size == most) group = {place.leader, 0};
    place.leader = group.leader;
    ++group.size;
  }
}

CoreSet cores_of(const std::vector<RankPlace>& places, int leader) {
  CoreSet cores;
  for (const RankPlace& place : places)
    if (place.leader == leader) cores.join(place.cores);
  return cores;
}

}  // namespace

RankGroups::RankGroups(Communicator& world, int most)
    : world_(world), own_leader_(world.rank()), own_cores_(allowed_cores()) {
  Bytes wish;
  put(wish, most);
  most = Unpack(broadcast(world, std::move(wish))).take<int>();
  const std::string tie = tie_of_threads();
  const bool alone = most == 1 || own_cores_.count() == 0 || !tie.empty();
  std::vector<RankPlace> places =
      all_values(world, RankPlace{world.machine(), memory_of(own_cores_), alone ? 1 : 0, 0, own_cores_});
  form(places, most);
  // A rank that may not go where its group is leaves it alone: then the whole group stays as it was.
  const int wanted = places[static_cast<std::size_t>(world.rank())].leader;
  const CoreSet cores = cores_of(places, wanted);
  int size = 0;
  for (const RankPlace& place : places) size += place.leader == wanted ? 1 : 0;
  const int threads = std::min(size, cores.count());
  const bool asked = size > 1 && wanted == world.rank();
  const bool may = !asked || may_use(own_cores_, cores);
  const bool willing = may && (!asked || granted_threads(threads) == threads);
  const std::vector<int> can = all_values(world, willing ? 1 : 0);
  for (std::size_t r = 0; r < places.size(); ++r)
    if (can[static_cast<std::size_t>(places[r].leader)] == 0) places[r].leader = static_cast<int>(r);

  own_leader_ = places[static_cast<std::size_t>(world.rank())].leader;
  for (std::size_t r = 0; r < places.size(); ++r) {
    if (places[r].leader == static_cast<int>(r)) ++count_;
    else if (places[r].leader == world.rank()) members_.push_back(static_cast<int>(r));
  }
  const auto near = std::count_if(places.begin(), places.end(),
                                  [&](const RankPlace& place) { return place.machine == world.machine(); });
  if (most != 1 && near > 1 && !tie.empty())
    note_ = "each rank has a part of its own, since " + tie + " ties threads to places";
  else if (!may) note_ = "each rank has a part of its own, since one may not use the cores of the others";
  else if (!willing)
    note_ = "each rank has a part of its own, since one may not have as many threads (OMP_THREAD_LIMIT or OMP_DYNAMIC)";
  if (!any()) return;
  between_ = world.split(leads());
  if (members_.empty()) return;
  moved_ = !(cores == own_cores_) && move_to_cores(cores);
  threads_ = threads;
}

RankGroups::~RankGroups() {
  if (moved_) (void)move_to_cores(own_cores_);
}

void RankGroups::listen(int tag, const Progress& own) {
  stop_ = false;
  between().watch = [this, tag, &own] {
    RankMessage message;
    if (own.cancelled() || (!members_.empty() && world_.receive(tag, message))) stop_ = true;
  };
}

void RankGroups::dismiss(int tag, bool cancelled) {
  between().watch = nullptr;
  for (const int member : members_) {
    Bytes bytes;
    put<std::uint8_t>(bytes, cancelled ? 1 : 0);
    world_.send(member, tag, std::move(bytes));
  }
}

void RankGroups::wait_for_leader(int tag, const Progress& own) {
  RankMessage message;
  for (bool sent = false; !world_.receive(tag, message);) {
    if (!sent && own.cancelled()) {
      sent = true;
      world_.send(own_leader_, tag, {});
    }
    world_.pause();
  }
  if (Unpack(message.bytes).take<std::uint8_t>() != 0) throw Cancelled();
}

}  // namespace isochron::ranks
