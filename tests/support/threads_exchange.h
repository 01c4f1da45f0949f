// Processes that are threads of one.
#pragma once

#include <algorithm>
#include <barrier>
#include <exception>
#include <thread>
#include <vector>

#include "isochron/mesh/exchange.h"

namespace isochron {

/// Runs `work(exchange)` on as many threads as there are to be processes; throws what one of them throws.
class ThreadsExchange {
 public:
  explicit ThreadsExchange(std::size_t ranks) : ranks_(ranks), barrier_(static_cast<std::ptrdiff_t>(ranks)) {}

  template <class Work>
  void run(Work&& work) {
    std::vector<std::exception_ptr> problems(ranks_);
    std::vector<std::thread> threads;
    mail_.assign(ranks_, std::vector<Bytes>(ranks_));
    numbers_.resize(ranks_);
    reals_.resize(ranks_);
    for (std::size_t r = 0; r < ranks_; ++r)
      threads.emplace_back([&, r] {
        Member member(*this, r);
        try {
          work(member);
        } catch (...) {
          problems[r] = std::current_exception();
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& problem : problems)
      if (problem) std::rethrow_exception(problem);
  }

 private:
  class Member : public Exchange {
   public:
    Member(ThreadsExchange& all, std::size_t rank) : all_(all), rank_(rank) {}
    [[nodiscard]] std::size_t rank() const override { return rank_; }
    [[nodiscard]] std::size_t ranks() const override { return all_.ranks_; }
    std::vector<Bytes> all_to_all(std::vector<Bytes> messages) override {
      all_.mail_[rank_] = std::move(messages);
      all_.barrier_.arrive_and_wait();
      std::vector<Bytes> received;
      for (std::size_t r = 0; r < all_.ranks_; ++r) received.push_back(all_.mail_[r][rank_]);
      all_.barrier_.arrive_and_wait();
      return received;
    }
    void sum(std::span<std::uint64_t> numbers) override {
      reduce(all_.numbers_, numbers, [](std::uint64_t a, std::uint64_t b) { return a + b; });
    }
    void max(std::span<double> numbers) override {
      reduce(all_.reals_, numbers, [](double a, double b) { return std::max(a, b); });
    }

   private:
    template <class T, class Combine>
    void reduce(std::vector<std::vector<T>>& shared, std::span<T> numbers, Combine&& combine) {
      shared[rank_].assign(numbers.begin(), numbers.end());
      all_.barrier_.arrive_and_wait();
      for (std::size_t r = 0; r < all_.ranks_; ++r)
        for (std::size_t i = 0; r != rank_ && i < numbers.size(); ++i) numbers[i] = combine(numbers[i], shared[r][i]);
      all_.barrier_.arrive_and_wait();
    }
    ThreadsExchange& all_;
    std::size_t rank_;
  };

  std::size_t ranks_;
  std::barrier<> barrier_;
  std::vector<std::vector<Bytes>> mail_;
  std::vector<std::vector<std::uint64_t>> numbers_;
  std::vector<std::vector<double>> reals_;
};

}  // namespace isochron
