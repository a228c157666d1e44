// What tests of streams need: events that own their text, states that are gone afterwards, and a stream
// that keeps what it told.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "crowdfold/stream.h"
#include "support.h"

namespace crowdfold::testing {

// An event that owns its text.
struct Said {
  StreamEvent::Kind kind = StreamEvent::Kind::label;
  std::string task;
  std::string worker;
  std::string label;
  std::string id;
  StreamEvent event() const { return {kind, task, worker, label, id}; }
};
inline Said label(std::string task, std::string worker, std::string answer, std::string id = "") {
  return {StreamEvent::Kind::label, std::move(task), std::move(worker), std::move(answer),
          std::move(id)};
}

// A state that is gone afterwards.
class TemporaryState {
 public:
  std::string path() const { return folder_ / "state.db"; }

 private:
  TempDir folder_;
};

// A stream with what it told.
struct Watched {
  struct Told {
    std::string task;
    std::string label;
    double confidence;
    std::uint32_t labels;
    bool closed;
    std::string reason;
  };
  std::vector<Told> told;
  std::vector<std::string> alarms;
  std::vector<std::string> refusals;
  std::shared_ptr<StreamStore> store;
  LiveStream stream;

  explicit Watched(const StopRule& stop = {}, const std::string& path = "",
                   const std::function<void(StreamConfig&)>& overrides = {})
      : store(open_store(path, overrides)),
        stream(store, stop,
               {[this](const TaskUpdate& u) {
                  told.push_back({std::string(u.task), std::string(u.label), u.confidence, u.labels,
                                  u.closed, std::string(u.reason)});
                },
                [this](const WorkerSummary& w) { alarms.emplace_back(w.worker); },
                [this](const StreamEvent&, const std::string& why) { refusals.push_back(why); }}) {}
  void consume(const std::vector<Said>& events) {
    for (const Said& said : events) stream.consume(said.event());
  }
  std::map<std::string, WorkerCounts> counts() const {
    std::map<std::string, WorkerCounts> all;
    for (const WorkerSummary& worker : stream.workers()) all[std::string(worker.worker)] = worker.counts;
    return all;
  }
};

}  // namespace crowdfold::testing
