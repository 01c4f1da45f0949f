#include "apps/viewer/server/jobs.h"

#include <algorithm>
#include <exception>

namespace isochron::viewer {
namespace {

/// More clients and channels than this in one run are a mistake of a client: then old numbers are forgotten.
constexpr std::size_t max_channels = 4096;

std::string name_of(const JobKey& key) { return key.client + '\n' + key.channel; }

}  // namespace

void Job::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_.store(true);
  if (watched_ != nullptr) watched_->store(true);
}

Job::Watch::Watch(Job& job, std::atomic<bool>& flag) : job_(job) {
  const std::lock_guard lock(job.mutex_);
  flag.store(job.cancelled());
  job.watched_ = &flag;
}

Job::Watch::~Watch() {
  const std::lock_guard lock(job_.mutex_);
  job_.watched_ = nullptr;
}

struct Jobs::Task {
  Task(const JobKey& key, const std::function<void(Job&)>& to_do)
      : job(key.client), name(name_of(key)), replaceable(key.sequence.has_value()), what(to_do) {}

  Job job;
  std::string name;
  bool replaceable;
  const std::function<void(Job&)>& what;  ///< the caller waits, so it lives
  bool done = false;
  std::exception_ptr error;
};

Jobs::Jobs() : worker_([this] { work(); }) {}

Jobs::~Jobs() {
  stop();
  worker_.join();
}

void Jobs::admit(const JobKey& key, const std::shared_ptr<Task>& task) {
  if (stopped_) throw Superseded();
  if (key.sequence) {
    if (latest_.size() >= max_channels) latest_.clear();
    const auto [latest, fresh] = latest_.try_emplace(task->name, *key.sequence);
    if (!fresh && *key.sequence < latest->second) throw Superseded();
    latest->second = *key.sequence;
    const auto replaced = [&](const std::shared_ptr<Task>& other) {
      return other != nullptr && other->replaceable && other->name == task->name;
    };
    for (const auto& other : waiting_)
      if (replaced(other)) other->job.cancel();
    if (replaced(running_)) running_->job.cancel();
  }
  answer_cancelled();
  if (waiting_.size() >= max_waiting) throw TooBusy();
  waiting_.push_back(task);
}

/// Those that were cancelled while they waited wait no longer, and make room.
void Jobs::answer_cancelled() {
  const auto kept = std::remove_if(waiting_.begin(), waiting_.end(), [](const auto& task) {
    if (task->job.cancelled()) task->done = true;
    return task->done;
  });
  waiting_.erase(kept, waiting_.end());
  changed_.notify_all();
}

void Jobs::run(const JobKey& key, const std::function<void(Job&)>& work) {
  const auto task = std::make_shared<Task>(key, work);
  std::unique_lock lock(mutex_);
  admit(key, task);
  changed_.wait(lock, [&] { return task->done; });
  if (task->job.cancelled()) throw Superseded();
  if (task->error) std::rethrow_exception(task->error);
}

void Jobs::cancel(const std::string& client) {
  const std::lock_guard lock(mutex_);
  for (const auto& task : waiting_)
    if (task->job.client() == client) task->job.cancel();
  if (running_ && running_->job.client() == client) running_->job.cancel();
  answer_cancelled();
  std::erase_if(latest_, [name = name_of({client, ""})](const auto& entry) { return entry.first.starts_with(name); });
}

void Jobs::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (const auto& task : waiting_) task->job.cancel();
  if (running_) running_->job.cancel();
  changed_.notify_all();
}

void Jobs::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopped_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    running_ = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    try {
      if (!running_->job.cancelled()) running_->what(running_->job);
    } catch (...) {
      running_->error = std::current_exception();
    }
    lock.lock();
    running_->done = true;
    running_.reset();
    changed_.notify_all();
  }
}

}  // namespace isochron::viewer
