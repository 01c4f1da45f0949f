#include "isochron/dist/id_places.h"

#include <gtest/gtest.h>

#include <set>

#include "isochron/communicator.h"
#include "isochron/core/random.h"

namespace isochron {
namespace TEST_FILE {

TEST(IdPlaces, AreThoseOfASortedList) {
  for (const std::size_t ranks : {1, 2, 5, 8}) {
    Random random(ranks);
    std::vector<std::vector<std::vector<std::uint64_t>>> lists(ranks);
    std::set<std::uint64_t> all;
    for (std::size_t r = 0; r < ranks; ++r)
      for (std::size_t i = 0; i < r % 3; ++i) {  // some have none
        auto& list = lists[r].emplace_back();
        for (int k = 0; k < 40; ++k) list.push_back(1'000'000'000'000ULL + 7 * (random.bits() % 100));
        all.insert(list.begin(), list.end());
      }
    std::vector<IdPlaces> places(ranks);
    run_on_threads(ranks, [&](Communicator& communicator) {
      places[communicator.index()] = place_ids(communicator, lists[communicator.index()]);
    });
    for (std::size_t r = 0; r < ranks; ++r)
      for (std::size_t i = 0; i < lists[r].size(); ++i)
        for (std::size_t k = 0; k < lists[r][i].size(); ++k) {
          const std::uint64_t id = lists[r][i][k];
          EXPECT_EQ(places[r].of[i][k].number, static_cast<std::uint64_t>(std::distance(all.begin(), all.find(id))));
          std::uint64_t lowest = 0;
          const auto has = [&](const auto& list) { return std::find(list.begin(), list.end(), id) != list.end(); };
          while (std::none_of(lists[lowest].begin(), lists[lowest].end(), has)) ++lowest;
          EXPECT_EQ(places[r].of[i][k].rank, lowest);
        }
  }
}

TEST(IdPlaces, TellsAllOfOneThatIsThereTwice) {
  run_on_threads(3, [&](Communicator& communicator) {
    const std::uint64_t rank = communicator.index();
    const std::vector<std::vector<std::uint64_t>> once{{3 * rank, 3 * rank + 1}}, twice{{rank / 2 + 7}};
    EXPECT_FALSE(place_ids(communicator, once).repeated);
    EXPECT_EQ(place_ids(communicator, twice).repeated, 7U);
    EXPECT_FALSE(place_ids(communicator, {}).repeated);
  });
}

}  // namespace TEST_FILE
}  // namespace isochron
