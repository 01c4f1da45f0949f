// The only file that knows cpp-httplib.
#include "apps/viewer/server/http.h"

#include <atomic>
#include <charconv>
#include <chrono>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <httplib.h>

#include "apps/viewer/server/access.h"
#include "apps/viewer/server/embedded.h"
#include "apps/viewer/server/events.h"
#include "apps/viewer/server/fields.h"
#include "isochron/core/error.h"

namespace isochron::viewer {
namespace {

using Request = httplib::Request;
using Response = httplib::Response;

constexpr std::size_t most_body = 1 << 20;
constexpr std::size_t longest_path = 512;
/// Of questions to all data sets together.
constexpr int most_in_flight = 40;
/// Every stream, question and kept connection holds one; a few are left for what is answered at once.
constexpr std::size_t pool_threads = most_in_flight + 16 + Events::most_streams;
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
};

void refuse(Response& response, int status, const std::string& message) {
  response.status = status;
  response.set_content(text_of(Json{{"error", message}}), "application/json");
}

const char* type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".js") || name.ends_with(".mjs")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  if (name.ends_with(".png")) return "image/png";
  if (name.ends_with(".json")) return "application/json";
  return "application/octet-stream";
}

/// The questions that are asked with GET; all others are posted.
bool is_read(std::string_view name) {
  return name == "geometry" || name == "array" || name == "fibers" || name == "histogram" ||
         name.starts_with("volume/") || name == "surface/particles";
}

/// "3/solve" of "/api/datasets/3/solve", taken apart.
struct DataSetPath {
  std::size_t id;
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

/// What an exception means to the one who asked.
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
  } catch (const UnknownCall& why) {
    return {404, why.what()};
  } catch (const RuntimeError& why) {
    return {500, why.what()};
  } catch (const Error& why) {
    return {422, why.what()};
  } catch (const Json::parse_error&) {
    return {400, "the body is not JSON; send an object"};
  } catch (const Json::exception& why) {
    return {400, fmt::format("the body is not as expected ({})", why.what())};
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
    if (++count_ <= most_in_flight) return;
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

std::uint64_t announced_bytes(const Request& request) {
  const std::string text = request.get_header_value("Content-Length");
  std::uint64_t bytes = 0;
  const std::errc error = std::from_chars(text.data(), text.data() + text.size(), bytes).ec;
  return error == std::errc::result_out_of_range ? most_body + 1 : bytes;
}

/// Reads a body that is not wanted: what is left of it would be taken for the connection's next request.
void skip_body(const Request& request, const httplib::ContentReader& read) {
  if (!request.has_header("Content-Length") && !request.has_header("Transfer-Encoding")) return;
  const_cast<Request&>(request).headers.erase("Content-Type");  // NOLINT: or a form would be taken apart
  read([](const char*, std::size_t) { return true; });
}

/// The posted object, of which no more than the limit is ever held. All of it is read in any case, as above.
Json read_body(const httplib::ContentReader& read) {
  std::string body;
  bool too_large = false;
  read([&](const char* data, std::size_t size) {
    too_large = too_large || body.size() + size > most_body;
    if (!too_large) body.append(data, size);
    return true;
  });
  if (too_large) throw Refusal{413, fmt::format("the body is too large; send at most {} bytes", most_body)};
  Json object = Json::parse(body);
  if (!object.is_object()) throw Refusal{400, "the body is not a JSON object; send one"};
  return object;
}

Json query_of(const Request& request) {
  Json query = Json::object();
  for (const auto& [name, value] : request.params)
    if (name != "token") query[name] = value;
  return query;
}

}  // namespace

class Server::Engine {
 public:
  explicit Engine(ServerOptions options);

  void open(const std::filesystem::path& file) { data_sets_.push_back(std::make_shared<DataSet>(file, options_.open)); }
  [[nodiscard]] std::string url() const { return fmt::format("http://127.0.0.1:{}/?token={}", port_, token_); }
  void run(const std::function<bool()>& ended);

 private:
  void bind();
  void add_routes();
  [[nodiscard]] std::optional<Refusal> check(const Request& request) const;
  [[nodiscard]] std::optional<Refusal> check_token(const Request& request) const;
  [[nodiscard]] std::shared_ptr<DataSet> data_set(std::size_t id);
  void reload(std::size_t id);
  [[nodiscard]] Json state();
  void look_at_files();

  void get(const Request& request, Response& response);
  void get_static(const Request& request, Response& response) const;
  void get_events(const Request& request, Response& response);
  void post(const Request& request, Response& response, const httplib::ContentReader& read);
  void answer(std::size_t id, const Call& call, Response& response);
  void leave(const std::string& client);
  void stop();

  ServerOptions options_;
  std::string token_ = make_token();
  int port_ = 0;
  std::mutex mutex_;  ///< of the list; the data sets guard themselves
  std::vector<std::shared_ptr<DataSet>> data_sets_;
  std::mutex reloading_;  ///< one file at a time
  std::atomic<int> in_flight_{0};
  Events events_;
  httplib::Server http_;
};

Server::Engine::Engine(ServerOptions options) : options_(std::move(options)) {
  http_.new_task_queue = [] { return new httplib::ThreadPool(pool_threads); };
  // Not httplib's own, which would share a port that is in use.
  http_.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  http_.set_tcp_nodelay(true);
  http_.set_keep_alive_max_count(1000000);
  http_.set_keep_alive_timeout(2);
  http_.set_payload_max_length(most_body);
  http_.set_default_headers({{"Content-Security-Policy", content_policy},
                             {"X-Content-Type-Options", "nosniff"},
                             {"Referrer-Policy", "no-referrer"},
                             {"Cache-Control", "no-store"}});
  add_routes();
  bind();
}

void Server::Engine::bind() {
  if (options_.port == 0) port_ = http_.bind_to_any_port("127.0.0.1");
  else port_ = http_.bind_to_port("127.0.0.1", options_.port) ? options_.port : -1;
  if (port_ > 0) return;
  if (options_.port == 0) throw RuntimeError("no port of the loopback is free; close other programs that use many");
  throw RuntimeError(
      fmt::format("port {} cannot be taken (it is in use, or not allowed); give another with --port, or leave it out",
                  options_.port));
}

void Server::Engine::add_routes() {
  http_.set_pre_routing_handler([this](const Request& request, Response& response) {
    // Whole answers only, and none compressed: the object is the server's own, and only a const view is handed out.
    auto& plain = const_cast<Request&>(request);  // NOLINT
    plain.ranges.clear();
    plain.headers.erase("Accept-Encoding");
    if (request.path.size() > longest_path) plain.path.resize(longest_path + 1);     // refused, and quickly matched
    if (may_have_body(request)) return httplib::Server::HandlerResponse::Unhandled;  // `post` checks, and reads it
    if (const auto refusal = check(request)) {
      refuse(response, refusal->status, refusal->message);
      return httplib::Server::HandlerResponse::Handled;
    }
    return httplib::Server::HandlerResponse::Unhandled;
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
    const Refusal refusal = refusal_of(error);
    refuse(response, refusal.status, refusal.message);
  });
  http_.set_error_handler([](const Request&, Response& response) {
    if (response.body.empty()) refuse(response, response.status, "the request cannot be answered");
  });
}

std::optional<Refusal> Server::Engine::check(const Request& request) const {
  if (request.method != "GET" && request.method != "POST" && request.method != "HEAD")
    return Refusal{405, "only GET and POST are understood"};
  if (request.path.size() > longest_path) return Refusal{414, "the path is too long"};
  if (announced_bytes(request) > most_body)
    return Refusal{413, fmt::format("the body is too large; send at most {} bytes", most_body)};
  if (request.has_header("Range")) return Refusal{400, "parts are not served; ask for the whole"};
  if (!own_host(request.get_header_value("Host"), port_)) return Refusal{403, "the Host header is not this server"};
  if (!own_origin(request.get_header_value("Origin"), port_)) return Refusal{403, "other pages may not ask"};
  if (request.is_multipart_form_data()) return Refusal{415, "forms are not understood; send JSON"};
  if (request.path.starts_with("/api")) return check_token(request);
  return std::nullopt;
}

std::optional<Refusal> Server::Engine::check_token(const Request& request) const {
  std::string given = request.get_header_value("X-Isochron-Token");
  if (given.empty()) given = request.get_param_value("token");
  if (given.empty()) return Refusal{401, "the token is missing; open the address that 'isochron view' prints"};
  if (!same_token(given, token_))
    return Refusal{403, "the token is wrong (of another run?); open the address that 'isochron view' prints"};
  return std::nullopt;
}

std::shared_ptr<DataSet> Server::Engine::data_set(std::size_t id) {
  const std::lock_guard lock(mutex_);
  if (id >= data_sets_.size()) throw Refusal{404, fmt::format("there is no data set {}", id)};
  return data_sets_[id];
}

void Server::Engine::reload(std::size_t id) {
  const std::shared_ptr<DataSet> old = data_set(id);
  const std::unique_lock reading(reloading_, std::try_to_lock);
  if (!reading) throw Refusal{503, "another file is being read again; try again later"};
  auto fresh = std::make_shared<DataSet>(old->path(), options_.open);
  {
    const std::lock_guard lock(mutex_);
    data_sets_[id] = std::move(fresh);
  }
  old->stop();
  events_.send("", "reloaded", {{"dataset", id}});
}

Json Server::Engine::state() {
  Json list = Json::array();
  const std::lock_guard lock(mutex_);
  for (std::size_t id = 0; id < data_sets_.size(); ++id) {
    Json entry{{"id", id}};
    entry.update(data_sets_[id]->describe());
    list.push_back(std::move(entry));
  }
  return {{"version", options_.version}, {"datasets", std::move(list)}};
}

void Server::Engine::get(const Request& request, Response& response) {
  if (!request.path.starts_with("/api")) return get_static(request, response);
  if (request.path == "/api/state") return response.set_content(text_of(state()), "application/json");
  if (request.path == "/api/events") return get_events(request, response);
  const auto place = parse_data_set_path(request.path);
  if (!place) throw Refusal{404, "there is nothing here"};
  if (!is_read(place->name)) throw Refusal{405, "this is asked with POST, or does not exist"};
  answer(place->id, {place->name, query_of(request)}, response);
}

void Server::Engine::get_static(const Request& request, Response& response) const {
  const std::string_view name =
      request.path == "/" ? std::string_view("index.html") : std::string_view(request.path).substr(1);
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name != name) continue;
    return response.set_content(file.bytes.data(), file.bytes.size(), type_of(name));
  }
  throw Refusal{404, "there is nothing here"};
}

void Server::Engine::get_events(const Request& request, Response& response) {
  const std::string client = client_field(query_of(request));
  if (client.empty()) throw InputError("'client' is missing; give an id");
  const auto stream = events_.open(client);
  if (!stream) throw Refusal{503, fmt::format("{} streams are open; close other windows", Events::most_streams)};
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

void Server::Engine::leave(const std::string& client) {
  std::vector<std::shared_ptr<DataSet>> open;
  {
    const std::lock_guard lock(mutex_);
    open = data_sets_;
  }
  for (const auto& data_set : open) data_set->leave(client, [&] { return !events_.has(client); });
}

void Server::Engine::post(const Request& request, Response& response, const httplib::ContentReader& read) {
  if (const auto refusal = check(request)) {
    skip_body(request, read);
    throw Refusal(*refusal);
  }
  Json body = read_body(read);
  const auto place = parse_data_set_path(request.path);
  if (!place) throw Refusal{404, "there is nothing here"};
  if (is_read(place->name)) throw Refusal{405, "this is asked with GET"};
  if (place->name == "reload") {
    reload(place->id);
    return response.set_content(text_of(state()), "application/json");
  }
  answer(place->id, {place->name, std::move(body)}, response);
}

void Server::Engine::answer(std::size_t id, const Call& call, Response& response) {
  const auto from = data_set(id);
  const std::string client = client_field(call.body);
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

void Server::Engine::look_at_files() {
  const std::lock_guard lock(mutex_);
  for (std::size_t id = 0; id < data_sets_.size(); ++id) {
    try {
      if (data_sets_[id]->look_again()) events_.send("", "changed", {{"dataset", id}});
    } catch (const std::exception&) {
      // A file that cannot be looked at has not changed: what was read of it is served all the same.
    }
  }
}

void Server::Engine::stop() {
  events_.close_all();
  {
    const std::lock_guard lock(mutex_);
    for (const auto& data_set : data_sets_) data_set->stop();
  }
  http_.stop();
}

void Server::Engine::run(const std::function<bool()>& ended) {
  std::atomic<bool> over{false};
  std::thread listening([&] {
    http_.listen_after_bind();
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

Server::Server(ServerOptions options) : engine_(std::make_unique<Engine>(std::move(options))) {}
Server::~Server() = default;
void Server::open(const std::filesystem::path& file) { engine_->open(file); }
std::string Server::url() const { return engine_->url(); }
void Server::run(const std::function<bool()>& ended) { engine_->run(ended); }

}  // namespace isochron::viewer
