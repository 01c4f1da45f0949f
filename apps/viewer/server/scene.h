// What the server asks of a data set, whatever its kind. No HTTP in here.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/viewer/server/fields.h"
#include "apps/viewer/server/jobs.h"
#include "apps/viewer/server/wire.h"
#include "isochron/core/timer.h"
#include "isochron/error.h"

namespace isochron::viewer {

/// A question about a data set: "solve" of POST /api/datasets/0/solve, "volume/fa" of GET /api/datasets/0/volume/fa.
struct Call {
  std::string name;
  /// The object that was posted; of a GET its query.
  Json body = Json::object();
  Fields::Values values = Fields::Values::typed;

  /// What is asked. Every question may have the client's id and the number of the question.
  [[nodiscard]] Fields fields() const {
    Fields fields(body, "the request", values);
    (void)fields.client();
    (void)fields.sequence();
    return fields;
  }
};

/// How a question is asked.
enum class Asked { get, post };

struct Question {
  std::string_view name;
  Asked asked;
};

/// The bytes of an answer.
struct Reply {
  std::string bytes;
  std::string type;
  std::string file_name{};  ///< of a download; empty: no download

  static Reply of(const Pack& pack) { return {pack.packed(), std::string(Pack::content_type)}; }
  static Reply of(const Json& json) { return {text_of(json), "application/json"}; }
};

/// The scene has no answer of that name.
class UnknownCall : public Error {
 public:
  explicit UnknownCall(const std::string& name)
      : Error(ErrorKind::usage, "there is nothing called '" + name + "' here") {}
};

/// Sources that are not on the mesh, counted as in the answers.
class OffMesh : public InputError {
 public:
  OffMesh(const std::string& message, std::vector<std::size_t> off) : InputError(message), sources(std::move(off)) {}
  std::vector<std::size_t> sources;
};

/// What says in an answer which question it is the answer to.
inline Json sequence_of(Fields& fields) {
  const auto sequence = fields.sequence();
  return sequence ? Json(*sequence) : Json(nullptr);
}

/// Sends the client that asked how far its work is, or something else that happens while it is done.
using Notify = std::function<void(std::string_view event, Json data)>;

/// Passes one report every tenth of a second, and none in the first: what is done by then needs none.
class Throttle {
 public:
  [[nodiscard]] bool passes() {
    if (since_.seconds() < interval) return false;
    since_.restart();
    return true;
  }

 private:
  static constexpr double interval = 0.1;
  Timer since_;
};

/// While one lives, what the solvers of a scene report is sent to the client. They keep `place` for all their solves.
class Reporting {
 public:
  using Report = std::function<void(double)>;
  Reporting(Report& place, const Notify& notify, const char* stage) : place_(place) {
    place_ = [this, &notify, stage](double fraction) {
      if (throttle_.passes()) notify("progress", {{"stage", stage}, {"fraction", fraction}});
    };
  }
  ~Reporting() { place_ = nullptr; }
  Reporting(const Reporting&) = delete;
  Reporting& operator=(const Reporting&) = delete;

 private:
  Report& place_;
  Throttle throttle_;
};

/// A data set that is open: what it is, and answers to questions about it.
class Scene {
 public:
  Scene() = default;
  virtual ~Scene() = default;
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  /// Its entry in /api/state, without id and name. Must not change; any thread may call.
  [[nodiscard]] virtual Json describe() const = 0;

  /// All questions that `handle` and `glance` answer.
  [[nodiscard]] virtual std::span<const Question> questions() const = 0;
  /// Whether a question can have another answer than why there is none, with these data.
  [[nodiscard]] virtual bool can_answer(std::string_view question) const {
    (void)question;
    return true;
  }

  /// Answers; only one call at a time. Long work looks at `job` and stops when it is cancelled. Throws UnknownCall,
  /// RequestError, InputError, UsageError and NoAnswerError, whose messages are shown.
  virtual Reply handle(const Call& call, Job& job, const Notify& notify) = 0;

  /// Answers from another thread while `handle` works, for those few things that cannot wait.
  virtual std::optional<Reply> glance(const Call& call) {
    (void)call;
    return std::nullopt;
  }

  /// The client left: nothing kept for it is needed any more. Never while `handle` works.
  virtual void forget(const std::string& client) { (void)client; }
};

}  // namespace isochron::viewer
