#include "isochron/communicator.h"

#include <cstdlib>

#include "isochron/error.h"

#if defined(ISOCHRON_WITH_MPI)

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>
#include <thread>
#include <utility>

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>  // says whether this MPI takes device memory
#endif

namespace isochron::mpi {
namespace {

/// Messages of more bytes than an int counts are sent in pieces of this size, the last one filled up.
constexpr std::size_t unit_bytes = 4096;
constexpr std::size_t max_bytes = std::numeric_limits<int>::max();

void combine_tallies(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const Tally*>(in);
  auto* into = static_cast<Tally*>(inout);
  for (int i = 0; i < *count; ++i) into[i].add(from[i]);
}

bool mpi_takes_device_memory() {
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

/// Bytes filled up to whole units, when they need units.
std::size_t filled_up(std::size_t bytes) {
  return bytes > max_bytes ? (bytes + unit_bytes - 1) / unit_bytes * unit_bytes : bytes;
}

class MpiCommunicator final : public Communicator {
 public:
  /// Takes over an MPI communicator. The last one to be destroyed ends MPI.
  MpiCommunicator(MPI_Comm world, bool last) : world_(world), last_(last) {
    MPI_Comm_rank(world_, &rank_);
    MPI_Comm_size(world_, &size_);
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &local_rank_);
    MPI_Allreduce(&rank_, &machine_, 1, MPI_INT, MPI_MIN, machine);
    MPI_Comm_free(&machine);
    MPI_Type_contiguous(static_cast<int>(unit_bytes), MPI_BYTE, &unit_);
    MPI_Type_commit(&unit_);
    MPI_Type_contiguous(static_cast<int>(sizeof(Tally)), MPI_BYTE, &tally_type_);
    MPI_Type_commit(&tally_type_);
    MPI_Op_create(combine_tallies, 1, &combine_);
  }
  ~MpiCommunicator() override {
    while (!sending_.empty()) reap();
    MPI_Op_free(&combine_);
    MPI_Type_free(&tally_type_);
    MPI_Type_free(&unit_);
    MPI_Comm_free(&world_);
    if (last_) MPI_Finalize();
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] int local_rank() const override { return local_rank_; }
  [[nodiscard]] int machine() const override { return machine_; }

  std::unique_ptr<Communicator> split(bool member) override {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(world_, member ? 0 : MPI_UNDEFINED, rank_, &part);
    if (part == MPI_COMM_NULL) return nullptr;
    return std::make_unique<MpiCommunicator>(part, false);
  }

  void send(int to, int tag, Bytes&& bytes) override {
    waits_ = 0;
    reap();
    Sending& sending = sending_.emplace_back();
    sending.bytes = std::move(bytes);
    sending.bytes.resize(filled_up(sending.bytes.size()));
    start(sending, to, tag, sending.bytes.data(), sending.bytes.size());
  }

  bool receive(int tag, RankMessage& message) override {
    Arrived arrived;
    if (!find(tag, arrived)) return false;
    message.rank = arrived.from;
    message.bytes.resize(arrived.bytes);
    take(arrived, message.bytes.data());
    return true;
  }

  [[nodiscard]] bool takes_device_memory() const override { return takes_device_memory_; }
  void send_from_device(int to, int tag, const std::byte* data, std::size_t bytes) override {
    if (!takes_device_memory_) return Communicator::send_from_device(to, tag, data, bytes);
    waits_ = 0;
    reap();
    Sending& sending = sending_.emplace_back();
    if (!spare_.empty()) {
      sending.memory = std::move(spare_.back());
      spare_.pop_back();
    }
    const std::size_t filled = filled_up(bytes);
    if (sending.memory.size() < filled) sending.memory = cuda::DeviceArray<std::byte>(2 * filled);
    cuda::copy_on_device(sending.memory.data(), data, bytes);
    cuda::wait();  // MPI knows nothing of what the device has still to do
    start(sending, to, tag, sending.memory.data(), filled);
  }
  bool receive_on_device(int tag, DeviceMessage& message) override {
    if (!takes_device_memory_) return Communicator::receive_on_device(tag, message);
    Arrived arrived;
    if (!find(tag, arrived)) return false;
    message.resize(arrived.bytes);
    take(arrived, message.memory.data());
    return true;
  }

  void start_tally(const Tally& own) override {
    own_ = own;
    MPI_Iallreduce(&own_, &all_, 1, tally_type_, combine_, world_, &tally_);
  }
  bool tally_done(Tally& all) override {
    int done = 0;
    MPI_Test(&tally_, &done, MPI_STATUS_IGNORE);
    if (done == 0) return false;
    waits_ = 0;
    all = all_;
    return true;
  }

  /// Bands take a millisecond; whoever waits longer than a few does so for a file, for a mesh to be cut or for those
  /// who solve on its core: the longer it has waited the longer it sleeps, about a hundredth of that.
  void pause() override {
    constexpr int patience = 20000;
    constexpr std::chrono::microseconds first_sleep{200}, longer{20}, longest{10000};
    reap();
    if (++waits_ > patience) std::this_thread::sleep_for(std::min(first_sleep + (waits_ - patience) * longer, longest));
    else if (waits_ % 64 == 0) std::this_thread::yield();
  }

  [[noreturn]] void abort(int exit_code) override {
    MPI_Abort(world_, exit_code);
    std::abort();  // not reached: the line above ends the process
  }

 private:
  struct Sending {
    MPI_Request request = MPI_REQUEST_NULL;
    Bytes bytes;
    cuda::DeviceArray<std::byte> memory;  ///< instead of them
  };
  /// A message that is here and nobody has taken.
  struct Arrived {
    MPI_Message handle = MPI_MESSAGE_NULL;
    int from = 0;
    std::size_t bytes = 0;
  };

  void start(Sending& sending, int to, int tag, const std::byte* data, std::size_t bytes) {
    const bool large = bytes > max_bytes;
    MPI_Isend(data, static_cast<int>(large ? bytes / unit_bytes : bytes), large ? unit_ : MPI_BYTE, to, tag, world_,
              &sending.request);
  }
  bool find(int tag, Arrived& arrived) {
    int found = 0;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, tag, world_, &found, &arrived.handle, &status);
    if (found == 0) return false;
    waits_ = 0;
    MPI_Count bytes = 0;
    MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    arrived.from = status.MPI_SOURCE;
    arrived.bytes = static_cast<std::size_t>(bytes);
    return true;
  }
  void take(Arrived& arrived, std::byte* to) {
    const bool large = arrived.bytes > max_bytes;
    MPI_Mrecv(to, static_cast<int>(large ? arrived.bytes / unit_bytes : arrived.bytes), large ? unit_ : MPI_BYTE,
              &arrived.handle, MPI_STATUS_IGNORE);
  }

  /// Lets go of what has been sent; oldest first, which is about the order in which it goes.
  void reap() {
    while (!sending_.empty()) {
      int done = 0;
      MPI_Test(&sending_.front().request, &done, MPI_STATUS_IGNORE);
      if (done == 0) return;
      if (sending_.front().memory.size() > 0) spare_.push_back(std::move(sending_.front().memory));
      sending_.pop_front();
    }
  }

  MPI_Comm world_;
  bool last_;
  MPI_Datatype unit_ = MPI_DATATYPE_NULL, tally_type_ = MPI_DATATYPE_NULL;
  MPI_Op combine_ = MPI_OP_NULL;
  MPI_Request tally_ = MPI_REQUEST_NULL;
  Tally own_, all_;
  int rank_ = 0, size_ = 1, local_rank_ = 0, machine_ = 0;
  int waits_ = 0;
  bool takes_device_memory_ = mpi_takes_device_memory();
  std::deque<Sending> sending_;
  std::vector<cuda::DeviceArray<std::byte>> spare_;  ///< of messages that were sent from device memory
};

}  // namespace

bool available() { return true; }

std::unique_ptr<Communicator> join_world() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm world = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &world);  // errors end the job, as MPI's default is
  return std::make_unique<MpiCommunicator>(world, true);
}

}  // namespace isochron::mpi

#else

namespace isochron::mpi {

bool available() { return false; }

std::unique_ptr<Communicator> join_world() {
  throw RuntimeError("this build has no MPI back end (" + Setting{Option::backend, "mpi"} +
                     "); use another one, or build where MPI is installed");
}

}  // namespace isochron::mpi

#endif

namespace isochron::mpi {

int launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return 0;
}

int launched_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return 1;
}

}  // namespace isochron::mpi
