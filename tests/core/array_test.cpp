#include "isochron/types.h"

#include <span>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isochron {
namespace TEST_FILE {

using testing::ElementsAre;

/// Memory of somebody else, and how many still need it.
struct Lender {
  std::vector<int> memory{1, 2, 3};
  std::shared_ptr<int> keeper = std::make_shared<int>(0);

  [[nodiscard]] Array<int> lend() const { return Array<int>::borrowed(memory.data(), memory.size(), keeper); }
  [[nodiscard]] long borrowers() const { return keeper.use_count() - 1; }
};

TEST(Array, ReadsBorrowedMemoryWhereItIs) {
  const Lender lender;
  const Array<int> array = lender.lend();
  EXPECT_TRUE(array.is_borrowed());
  EXPECT_EQ(array.data(), lender.memory.data());
  EXPECT_THAT(array, ElementsAre(1, 2, 3));
  EXPECT_EQ(array.front() + array.back() + array[1], 6);
  const std::span<const int> view(array);
  EXPECT_EQ(view.data(), lender.memory.data());
}

TEST(Array, KeepsTheLenderAliveAsLongAsItBorrows) {
  const Lender lender;
  {
    Array<int> array = lender.lend();
    const Array<int> copy = array;
    EXPECT_EQ(copy.data(), lender.memory.data());
    EXPECT_EQ(lender.borrowers(), 2);
    Array<int> moved = std::move(array);
    EXPECT_EQ(lender.borrowers(), 2);
    moved.clear();
    EXPECT_TRUE(moved.empty());
    EXPECT_EQ(lender.borrowers(), 1);
  }
  EXPECT_EQ(lender.borrowers(), 0);
}

TEST(Array, ChangesAreItsOwn) {
  const Lender lender;
  const auto change = [&](auto&& body) {
    Array<int> array = lender.lend();
    body(array);
    EXPECT_FALSE(array.is_borrowed());
    EXPECT_EQ(lender.borrowers(), 0);
    EXPECT_THAT(lender.memory, ElementsAre(1, 2, 3));
    return std::vector<int>(std::move(array));
  };
  EXPECT_THAT(change([](auto& a) { a[1] = 7; }), ElementsAre(1, 7, 3));
  EXPECT_THAT(change([](auto& a) { a.push_back(4); }), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(change([](auto& a) { a.emplace_back(4) = 5; }), ElementsAre(1, 2, 3, 5));
  EXPECT_THAT(change([](auto& a) { a.insert(a.begin() + 1, 6); }), ElementsAre(1, 6, 2, 3));
  EXPECT_THAT(change([](auto& a) { a.pop_back(); }), ElementsAre(1, 2));
  EXPECT_THAT(change([](auto& a) { a.resize(4); }), ElementsAre(1, 2, 3, 0));
  EXPECT_THAT(change([](auto& a) { a.resize(4, 9); }), ElementsAre(1, 2, 3, 9));
  EXPECT_THAT(change([](auto& a) { a.assign(2, 8); }), ElementsAre(8, 8));
  EXPECT_THAT(change([](auto& a) { a.front() = a.back(); }), ElementsAre(3, 2, 3));
  EXPECT_THAT(change([](auto& a) {
                for (int& x : a) x *= 2;
              }),
              ElementsAre(2, 4, 6));
  EXPECT_THAT(change([](auto& a) {
                const std::vector<int> more{5, 6};
                a.insert(a.begin() + 1, more.begin(), more.end());
              }),
              ElementsAre(1, 5, 6, 2, 3));
}

TEST(Array, TakesAnElementOfItsOwnMemory) {
  auto memory = std::make_shared<std::vector<int>>(std::vector<int>{1, 2, 3});
  Array<int> array = Array<int>::borrowed(memory->data(), memory->size(), memory);
  memory.reset();  // the array is the last one that keeps it
  array.push_back(std::as_const(array)[0]);
  EXPECT_THAT(array, ElementsAre(1, 2, 3, 1));
}

TEST(Array, OfItsOwnIsAVector) {
  Array<int> array(std::vector<int>{4, 5});
  EXPECT_FALSE(array.is_borrowed());
  Array<int> copy = array;
  copy[0] = 1;
  EXPECT_THAT(array.copy(), ElementsAre(4, 5));
  const int* memory = array.data();
  const std::vector<int> taken = std::move(array);
  EXPECT_EQ(taken.data(), memory);
  EXPECT_TRUE(array.empty());  // NOLINT: moved from, and empty by contract
  array = copy;
  EXPECT_EQ(array, copy);
  array.swap(copy);
  EXPECT_EQ(array, (Array<int>{1, 5}));
  EXPECT_FALSE(array == (Array<int>{1}));
}

TEST(Array, LeavesBorrowedMemoryToTheLenderWhenItBecomesAVector) {
  const Lender lender;
  const std::vector<int> copied = lender.lend();
  EXPECT_THAT(copied, ElementsAre(1, 2, 3));
  EXPECT_NE(copied.data(), lender.memory.data());
  EXPECT_EQ(lender.borrowers(), 0);
}

}  // namespace TEST_FILE
}  // namespace isochron
