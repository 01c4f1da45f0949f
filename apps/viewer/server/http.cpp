// The routes. Only this file and the listener know cpp-httplib.
#include "apps/viewer/server/http.h"

#include <atomic>
#include <charconv>
#include <chrono>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "apps/viewer/server/access.h"
#include "apps/viewer/server/embedded.h"
#include "apps/viewer/server/events.h"
#include "apps/viewer/server/fields.h"
#include "apps/viewer/server/listener.h"
#include "isochron/core/join_text.h"
#include "isochron/error.h"

namespace isochron::viewer {
namespace {

using Request = httplib::Request;
using Response = httplib::Response;

constexpr std::size_t max_body = 1 << 20;
constexpr std::size_t max_path_length = 512;
/// Of questions to all data sets together.
constexpr int max_in_flight = 40;
/// Every stream and question holds one; a few are left for what is answered at once.
constexpr std::size_t known_threads = max_in_flight + 16 + Events::max_streams;
/// Connections that are not accepted yet.
constexpr int max_waiting = 512;
constexpr auto heartbeat = std::chrono::milliseconds(1000);
constexpr auto look_interval = std::chrono::milliseconds(250);

constexpr const char* content_policy =
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "worker-src 'self' blob:; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

/// An answer that is not the one asked for.
struct Refusal {
  int status;
  std::string message;
  std::string allowed{};       ///< of 405: the methods that are
  Json more = Json::object();  ///< what else there is to say
};

void refuse(Response& response, const Refusal& refusal) {
  response.status = refusal.status;
  Json said{{"error", refusal.message}};
  said.update(refusal.more);
  response.set_content(text_of(said), "application/json");
  if (!refusal.allowed.empty()) response.set_header("Allow", refusal.allowed);
}

const Refusal nothing_here{404, "there is nothing here"};
const Refusal only_get{405, "this is asked with GET", "GET, HEAD"};
const Refusal unreadable_body{400, "the body cannot be read (it is cut short, or not packed as it says); send JSON"};
const Refusal forms{415, "forms are not understood; send JSON"};
const Refusal only_post{405, "this is asked with POST", "POST"};

const char* type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".js") || name.ends_with(".mjs")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  if (name.ends_with(".png")) return "image/png";
  if (name.ends_with(".json")) return "application/json";
  return "application/octet-stream";
}

/// "3/solve" of "/api/datasets/3/solve", taken apart.
struct DataSetPath {
  std::size_t id = 0;
  std::string name;
};

std::optional<DataSetPath> parse_data_set_path(std::string_view path) {
  constexpr std::string_view prefix = "/api/datasets/";
  if (!path.starts_with(prefix)) return std::nullopt;
  path.remove_prefix(prefix.size());
  std::size_t id = 0;
  const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), id);
  const auto digits = static_cast<std::size_t>(end - path.data());
  if (error != std::errc() || digits > 6 || digits >= path.size() || path[digits] != '/') return std::nullopt;
  return DataSetPath{id, std::string(path.substr(digits + 1))};
}

/// The answer that an exception gives.
Refusal refusal_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Refusal& refusal) {
    return refusal;
  } catch (const Superseded& why) {
    return {409, why.what()};
  } catch (const Cancelled&) {
    return {409, Superseded().what()};
  } catch (const TooBusy& why) {
    return {503, why.what()};
  } catch (const RequestError& why) {
    return {400, why.what()};
  } catch (const UnknownCall& why) {
    return {404, why.what()};
  } catch (const OffMesh& why) {
    return {422, why.what(), {}, {{"sources", why.sources}}};
  } catch (const Error& why) {
    const bool our_fault = why.kind() == ErrorKind::runtime || why.kind() == ErrorKind::device;
    return {our_fault ? 500 : 422, to_text(why, FieldWording())};
  } catch (const std::bad_alloc&) {
    return {500, "out of memory; close other data sets, or use a machine with more memory"};
  } catch (const std::exception& why) {
    return {500, why.what()};
  } catch (...) {
    return {500, "unknown failure; please report it"};
  }
}

/// While one lives a question is counted. Throws TooBusy when there are too many.
class InFlight {
 public:
  explicit InFlight(std::atomic<int>& count) : count_(count) {
    if (++count_ <= max_in_flight) return;
    --count_;
    throw TooBusy();
  }
  ~InFlight() { --count_; }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

 private:
  std::atomic<int>& count_;
};

bool may_have_body(const Request& request) {
  return request.method == "POST" || request.method == "PUT" || request.method == "PATCH" || request.method == "DELETE";
}

bool is_form(const Request& request) {
  const std::string type = request.get_header_value("Content-Type");
  return request.is_multipart_form_data() || type.starts_with("application/x-www-form-urlencoded");
}

std::uint64_t announced_bytes(const Request& request) {
  const std::string text = request.get_header_value("Content-Length");
  std::uint64_t bytes = 0;
  const std::errc error = std::from_chars(text.data(), text.data() + text.size(), bytes).ec;
  return error == std::errc::result_out_of_range ? max_body + 1 : bytes;
}

bool has_body(const Request& request) {
  return announced_bytes(request) > 0 || request.has_header("Transfer-Encoding");
}

/// Reads a body that is not wanted: what is left of it would be taken for the connection's next request.
void skip_body(const Request& request, const httplib::ContentReader& read) {
  if (!request.has_header("Content-Length") && !request.has_header("Transfer-Encoding")) return;
  const_cast<Request&>(request).headers.erase("Content-Type");  // NOLINT: or a form would be taken apart
  read([](const char*, std::size_t) { return true; });
}

/// The posted object, of which no more than the limit is ever held. All of it is read in any case, as above. JSON
/// counts as JSON even where it is called a form, as some programs call everything that they post. No body at all is an
/// object without fields.
Json read_body(const Request& request, const httplib::ContentReader& read) {
  std::string body;
  bool too_large = false;
  const auto keep = [&](const char* data, std::size_t size) {
    too_large = too_large || body.size() + size > max_body;
    if (!too_large) body.append(data, size);
    return true;
  };
  const bool whole = !has_body(request) || read(keep);
  if (too_large) throw Refusal{413, fmt::format("the body is too large; send at most {} bytes", max_body)};
  if (!whole) throw unreadable_body;
  if (is_form(request) && !body.starts_with('{')) throw forms;
  return body.empty() ? Json::object() : parse_object(body);
}

Json query_of(const Request& request) {
  Json query = Json::object();
  for (const auto& [name, value] : request.params) {
    if (query.contains(name)) throw RequestError(fmt::format("'{}' is there twice; leave one of them out", name));
    query[name] = value;
  }
  query.erase("token");
  return query;
}

/// Of questions about the server as a whole.
Fields query_fields(const Json& query) { return Fields(query, "the request", Fields::Values::texts); }

const EmbeddedFile* find_static(std::string_view path) {
  const std::string_view name = path == "/" ? std::string_view("index.html") : path.substr(1);
  for (const EmbeddedFile& file : embedded_files())
    if (file.name == name) return &file;
  return nullptr;
}

}  // namespace

class Server::Engine {
 public:
  explicit Engine(ServerOptions options) : options_(std::move(options)) {
    // Not httplib's own, which would share a port that is in use.
    http_.set_socket_options([this](socket_t socket) {
      listening_ = socket;
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    http_.set_tcp_nodelay(true);
    http_.set_keep_alive_timeout(Connections::idle_time.count());
    http_.set_payload_max_length(max_body);
    http_.set_default_headers({{"Accept-Ranges", "none"},
                               {"Content-Security-Policy", content_policy},
                               {"X-Content-Type-Options", "nosniff"},
                               {"Referrer-Policy", "no-referrer"},
                               {"Cache-Control", "no-store"}});
    add_routes();
    bind();
  }

  Opened open(const std::filesystem::path& file) {
    data_sets_.push_back(std::make_shared<DataSet>(file, options_.open));
    const Json entry = data_sets_.back()->describe();
    return {entry["kind"], entry["why"]};
  }

  [[nodiscard]] std::string url() const { return fmt::format("http://127.0.0.1:{}/?token={}", port_, token_); }

  void run(const std::function<bool()>& ended) {
    std::atomic<bool> over{false};
    std::thread listening([&] {
      http_.listen(token_, known_threads);
      over = true;
    });
    // Only a server that runs can be stopped.
    while (!http_.is_running() && !over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::shared_ptr<void> at_end(nullptr, [&](void*) {  // however it comes
      stop();
      listening.join();
    });
    constexpr auto nap = std::chrono::milliseconds(100);
    for (int naps = 0; !ended(); ++naps) {
      if (over) throw RuntimeError("the server hears no more (the system has closed its port); start it again");
      std::this_thread::sleep_for(nap);
      if (naps % 10 == 9) look_at_files();
    }
  }

 private:
  void bind() {
    if (options_.port == 0) port_ = http_.bind_to_any_port("127.0.0.1");
    else port_ = http_.bind_to_port("127.0.0.1", options_.port) ? options_.port : -1;
    if (port_ > 0) {
      // httplib lets 5 connections wait to be taken, and the system resets those that come at the same time as others.
      ::listen(listening_, max_waiting);
      return;
    }
    if (options_.port == 0) throw RuntimeError("no port of the loopback is free; close other programs that use many");
    throw RuntimeError(
        fmt::format("port {} cannot be taken (it is in use, or not allowed); give another with --port, or leave it out",
                    options_.port));
  }

  void add_routes() {
    http_.set_pre_routing_handler([this](const Request& request, Response& response) {
      // Whole answers only, and none compressed: the object is the server's own, and only a const view is handed out.
      auto& plain = const_cast<Request&>(request);  // NOLINT
      plain.ranges.clear();
      plain.headers.erase("Accept-Encoding");
      if (request.path.size() > max_path_length)
        plain.path.resize(max_path_length + 1);                                        // refused, and quickly matched
      if (may_have_body(request)) return httplib::Server::HandlerResponse::Unhandled;  // `post` checks, and reads it
      auto refusal = check(request);
      if (!refusal && has_body(request)) {
        refusal = Refusal{400, "only POST has a body; leave it out"};
        response.set_header("Connection", "close");  // it is not read, and would be taken for the next request
      }
      if (!refusal) return httplib::Server::HandlerResponse::Unhandled;
      refuse(response, *refusal);
      return httplib::Server::HandlerResponse::Handled;
    });
    http_.Get("/.*", [this](const Request& request, Response& response) { get(request, response); });
    const auto with_body = [this](const Request& request, Response& response, const httplib::ContentReader& read) {
      post(request, response, read);
    };
    http_.Post("/.*", with_body);
    http_.Put("/.*", with_body);
    http_.Patch("/.*", with_body);
    http_.Delete("/.*", with_body);
    http_.set_exception_handler([](const Request&, Response& response, const std::exception_ptr& error) {
      refuse(response, refusal_of(error));
    });
    http_.set_error_handler([](const Request&, Response& response) {
      if (!response.body.empty()) return;
      refuse(response, {response.status, response.status == 414 ? "the address is too long; ask with a shorter one"
                                                                : "the request cannot be answered"});
    });
  }

  [[nodiscard]] std::optional<Refusal> check(const Request& request) const {
    if (request.method != "GET" && request.method != "POST" && request.method != "HEAD")
      return Refusal{405, "only GET and POST are understood", "GET, HEAD, POST"};
    if (request.path.size() > max_path_length) return Refusal{414, "the path is too long"};
    if (announced_bytes(request) > max_body)
      return Refusal{413, fmt::format("the body is too large; send at most {} bytes", max_body)};
    if (request.get_header_value_count("Host") > 1)
      return Refusal{400, "the Host header is there twice; leave one of them out"};
    if (request.has_header("Range")) return Refusal{400, "parts are not served; ask for the whole"};
    if (!own_host(request.get_header_value("Host"), port_)) return Refusal{403, "the Host header is not this server"};
    if (!own_origin(request.get_header_value("Origin"), port_)) return Refusal{403, "other pages may not ask"};
    if (request.is_multipart_form_data()) return forms;
    if (request.path.starts_with("/api")) return check_token(request);
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Refusal> check_token(const Request& request) const {
    std::string given = request.get_header_value("X-Isochron-Token");
    if (given.empty()) given = request.get_param_value("token");
    if (given.empty()) return Refusal{401, "the token is missing; open the address that 'isochron view' prints"};
    if (!same_token(given, token_))
      return Refusal{403, "the token is wrong (of another run?); open the address that 'isochron view' prints"};
    return std::nullopt;
  }

  /// Throws Refusal when nothing is there, or it is asked with the other method.
  [[nodiscard]] DataSetPath place_of(const Request& request, Asked asked) {
    const auto place = parse_data_set_path(request.path);
    if (!place) {
      const bool known = request.path == "/api/state" || request.path == "/api/events" || find_static(request.path);
      throw known ? only_get : nothing_here;
    }
    const std::shared_ptr<DataSet> asked_of = data_set(place->id);
    const auto known = asked_of->asked(place->name);
    if (!known) {
      std::vector<std::string_view> names;
      for (const Question& question : asked_of->questions()) names.push_back(question.name);
      throw Refusal{404, fmt::format("{}; ask for {}", UnknownCall(place->name).what(), join_text(names, ", "))};
    }
    if (known != asked) throw known == Asked::get ? only_get : only_post;
    return *place;
  }

  [[nodiscard]] std::shared_ptr<DataSet> data_set(std::size_t id) {
    const std::lock_guard lock(mutex_);
    if (id >= data_sets_.size()) throw Refusal{404, fmt::format("there is no data set {}", id)};
    return data_sets_[id];
  }

  void reload(std::size_t id) {
    const std::shared_ptr<DataSet> old = data_set(id);
    const std::unique_lock reading(reloading_, std::try_to_lock);
    if (!reading) throw Refusal{503, "another file is being read again; try again later"};
    auto fresh = std::make_shared<DataSet>(old->path(), options_.open);
    {
      const std::lock_guard lock(mutex_);
      data_sets_[id] = std::move(fresh);
      // Before the file is looked at again: later changes are sent after this.
      events_.send("", "reloaded", {{"dataset", id}});
    }
    old->stop();
  }

  [[nodiscard]] Json state() {
    Json list = Json::array();
    const std::lock_guard lock(mutex_);
    for (std::size_t id = 0; id < data_sets_.size(); ++id) {
      Json entry{{"id", id}};
      entry.update(data_sets_[id]->describe());
      list.push_back(std::move(entry));
    }
    return {{"version", options_.version}, {"datasets", std::move(list)}};
  }

  void look_at_files() {
    const std::lock_guard lock(mutex_);
    for (std::size_t id = 0; id < data_sets_.size(); ++id)
      if (const auto state = data_sets_[id]->look_again())
        events_.send("", "changed", {{"dataset", id}, {"file", name_of(*state)}});
  }

  void get(const Request& request, Response& response) {
    if (const EmbeddedFile* file = find_static(request.path))
      return response.set_content(file->bytes.data(), file->bytes.size(), type_of(file->name));
    if (request.path == "/api/state") {
      query_fields(query_of(request)).done();
      return response.set_content(text_of(state()), "application/json");
    }
    if (request.path == "/api/events") return get_events(request, response);
    const DataSetPath place = place_of(request, Asked::get);
    answer(place.id, {place.name, query_of(request), Fields::Values::texts}, response);
  }

  void get_events(const Request& request, Response& response) {
    if (request.method == "HEAD") throw Refusal{405, "this is asked with GET", "GET"};
    const Json query = query_of(request);
    Fields fields = query_fields(query);
    const std::string client = fields.client();
    fields.done();
    if (client.empty()) throw RequestError("'client' is missing; give an id");
    const auto stream = events_.open(client);
    if (!stream) throw Refusal{503, fmt::format("{} streams are open; close other windows", Events::max_streams)};
    response.set_chunked_content_provider(
        "text/event-stream",
        [stream, last = std::chrono::steady_clock::time_point{}](std::size_t, httplib::DataSink& sink) mutable {
          const auto text = stream->next(look_interval);
          if (!text) {
            sink.done();
            return true;
          }
          const auto now = std::chrono::steady_clock::now();
          std::string out = *text;
          if (out.empty() && now - last >= heartbeat) out = ": alive\n\n";
          if (!out.empty()) last = now;
          if (!sink.is_writable()) return false;
          return out.empty() || sink.write(out.data(), out.size());
        },
        [this, stream](bool) {
          events_.close(stream);
          leave(stream->client());
        });
  }

  void post(const Request& request, Response& response, const httplib::ContentReader& read) {
    const auto wanted = [&] {
      if (const auto refusal = check(request)) throw Refusal(*refusal);
      DataSetPath place = place_of(request, Asked::post);
      if (!query_of(request).empty()) throw RequestError("the address has fields; put them into the posted object");
      return place;
    };
    DataSetPath place;
    try {
      place = wanted();
    } catch (...) {
      skip_body(request, read);
      throw;
    }
    Call call{place.name, read_body(request, read)};
    if (place.name != "reload") return answer(place.id, call, response);
    call.fields().done();
    reload(place.id);
    response.set_content(text_of(state()), "application/json");
  }

  void answer(std::size_t id, const Call& call, Response& response) {
    const auto from = data_set(id);
    const std::string client = call.fields().client();
    const auto wait_for = [&] {
      const InFlight place(in_flight_);
      return from->answer(call, [&](std::string_view event, Json data) {
        if (client.empty()) return;
        data["dataset"] = id;
        events_.send(client, event, data);
      });
    };
    auto at_once = from->answer_at_once(call);
    Reply reply = at_once ? std::move(*at_once) : wait_for();
    if (!reply.file_name.empty()) {
      std::string name = reply.file_name;
      for (char& c : name)
        if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20) c = '_';
      response.set_header("Content-Disposition", fmt::format("attachment; filename=\"{}\"", name));
    }
    response.body = std::move(reply.bytes);
    response.set_header("Content-Type", reply.type);
  }

  void leave(const std::string& client) {
    std::vector<std::shared_ptr<DataSet>> open;
    {
      const std::lock_guard lock(mutex_);
      open = data_sets_;
    }
    for (const auto& data_set : open) data_set->leave(client, [&] { return !events_.has(client); });
  }

  void stop() {
    events_.close_all();
    {
      const std::lock_guard lock(mutex_);
      for (const auto& data_set : data_sets_) data_set->stop();
    }
    http_.stop();
  }

  ServerOptions options_;
  std::string token_ = make_token();
  int port_ = 0;
  socket_t listening_ = INVALID_SOCKET;
  std::mutex mutex_;  ///< of the list; the data sets guard themselves
  std::vector<std::shared_ptr<DataSet>> data_sets_;
  std::mutex reloading_;  ///< one file at a time
  std::atomic<int> in_flight_{0};
  Events events_;
  Listener http_;
};

Server::Server(ServerOptions options) : engine_(std::make_unique<Engine>(std::move(options))) {}
Server::~Server() = default;
Opened Server::open(const std::filesystem::path& file) { return engine_->open(file); }
std::string Server::url() const { return engine_->url(); }
void Server::run(const std::function<bool()>& ended) { engine_->run(ended); }

}  // namespace isochron::viewer
