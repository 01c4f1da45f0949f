#include "isochron/mesh/agreement.h"

#include <gtest/gtest.h>

#include "isochron/core/error.h"
#include "support/threads_exchange.h"

namespace isochron {
namespace {

TEST(Agreement, AllThrowWhatTheFirstThatFailsThrows) {
  std::vector<std::string> said(4);
  std::vector<ErrorKind> kind(4, ErrorKind::cancelled);
  std::vector<int> together(4, 0);
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
      kind[rank] = error.kind();
      together[rank] = dynamic_cast<const ThrownTogether*>(&error) != nullptr ? 1 : 0;
    }
  });
  EXPECT_EQ(said, std::vector<std::string>(4, "two"));
  EXPECT_EQ(kind, std::vector<ErrorKind>(4, ErrorKind::input));
  EXPECT_EQ(together, std::vector<int>(4, 1));
}

TEST(Agreement, KeepsTheKindOfError) {
  const auto thrown = [](auto error) {
    std::optional<ErrorKind> kind;
    ThreadsExchange(2).run([&](Exchange& exchange) {
      try {
        all_or_none(exchange, [&] {
          if (exchange.rank() == 1) throw error;
        });
      } catch (const Error& got) {
        if (exchange.rank() == 0) kind = got.kind();
      }
    });
    return kind;
  };
  EXPECT_EQ(thrown(UsageError("a")), ErrorKind::usage);
  EXPECT_EQ(thrown(NoAnswerError("a")), ErrorKind::no_answer);
  EXPECT_EQ(thrown(DeviceError("a")), ErrorKind::device);
  EXPECT_EQ(thrown(Cancelled()), ErrorKind::cancelled);
  EXPECT_EQ(thrown(std::bad_alloc()), ErrorKind::runtime);
  EXPECT_EQ(thrown(std::runtime_error("a")), ErrorKind::runtime);
}

}  // namespace
}  // namespace isochron
