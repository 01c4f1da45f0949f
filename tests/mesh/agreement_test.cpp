#include "isochron/mesh/agreement.h"

#include <gtest/gtest.h>

#include "isochron/core/error.h"
#include "support/threads_exchange.h"

namespace isochron {
namespace {

TEST(Agreement, AllThrowWhatTheFirstThatFailsThrows) {
  std::vector<std::string> said(4);
  std::vector<int> code(4, 0), together(4, 0);
  ThreadsExchange(4).run([&](Exchange& exchange) {
    const std::size_t rank = exchange.rank();
    all_or_none(exchange, [] {});
    try {
      all_or_none(exchange, [&] {
        if (rank == 2) throw InputError("two");
        if (rank == 3) throw RuntimeError("three");
      });
    } catch (const Error& error) {
      said[rank] = error.what();
      code[rank] = error.exit_code();
      together[rank] = dynamic_cast<const ThrownTogether*>(&error) != nullptr ? 1 : 0;
    }
  });
  EXPECT_EQ(said, std::vector<std::string>(4, "two"));
  EXPECT_EQ(code, std::vector<int>(4, 3));
  EXPECT_EQ(together, std::vector<int>(4, 1));
}

TEST(Agreement, KeepsTheKindOfError) {
  const auto thrown = [](auto error) {
    int code = 0;
    ThreadsExchange(2).run([&](Exchange& exchange) {
      try {
        all_or_none(exchange, [&] {
          if (exchange.rank() == 1) throw error;
        });
      } catch (const Error& got) {
        if (exchange.rank() == 0) code = got.exit_code();
      }
    });
    return code;
  };
  EXPECT_EQ(thrown(UsageError("a")), 2);
  EXPECT_EQ(thrown(NoAnswerError("a")), 5);
  EXPECT_EQ(thrown(Cancelled()), 130);
  EXPECT_EQ(thrown(std::bad_alloc()), 1);
  EXPECT_EQ(thrown(std::runtime_error("a")), 1);
}

}  // namespace
}  // namespace isochron
