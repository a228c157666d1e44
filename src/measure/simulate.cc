#include "crowdfold/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/random.h"
#include "crowdfold/error.h"

namespace crowdfold {
namespace {

// Workers and tasks have a stream each: more tasks do not change the workers.
constexpr std::uint64_t kWorkerStream = 1;
constexpr std::uint64_t kTaskStream = 2;

// Of a worker's row of wrong labels. Below 1: most workers have a few favourite mistakes.
constexpr double kMistakeConcentration = 0.5;

// Smaller shapes let both gamma variates of a beta underflow to 0, larger ones lose precision.
constexpr double kMinShape = 0.1;
constexpr double kMaxShape = 1e9;

Random stream(std::uint64_t seed, std::uint64_t which) { return Random(mix64(seed) + which); }

[[noreturn]] void usage_error(const std::string& message) { throw Error(ErrorCode::usage, message); }

// False for NaN, too.
bool within(double x, double lower, double upper) { return x >= lower && x <= upper; }

void check(const QualityDistribution& quality) {
  const auto [kind, a, b] = quality;
  switch (kind) {
    case QualityDistribution::Kind::fixed:
      if (!within(a, 0, 1)) usage_error(fmt::format("a quality of {} is not in 0 to 1", a));
      break;
    case QualityDistribution::Kind::uniform:
      if (!within(a, 0, 1) || !within(b, a, 1)) {
        usage_error(fmt::format("qualities from {} to {} are not a range in 0 to 1", a, b));
      }
      break;
    case QualityDistribution::Kind::beta:
      if (!within(a, kMinShape, kMaxShape) || !within(b, kMinShape, kMaxShape)) {
        usage_error(
            fmt::format("beta shapes {} and {} are not in {} to {}", a, b, kMinShape, kMaxShape));
      }
      break;
  }
}

void check(const SimulationOptions& options) {
  if (options.tasks > kMaxTasks) usage_error(fmt::format("more than {} tasks", kMaxTasks));
  if (options.workers > kMaxWorkers) usage_error(fmt::format("more than {} workers", kMaxWorkers));
  if (options.classes < 2 || options.classes > kMaxClasses) {
    usage_error(fmt::format("{} classes: there can be 2 to {}", options.classes, kMaxClasses));
  }
  if (options.min_labels < 1 || options.min_labels > options.max_labels) {
    usage_error(fmt::format("{} to {} labels per task: not a range from 1 on", options.min_labels,
                            options.max_labels));
  }
  if (options.max_labels > options.workers) {
    usage_error(fmt::format("{} labels per task need as many workers, not {}", options.max_labels,
                            options.workers));
  }
  if (!within(options.spammers, 0, 1) || !within(options.adversaries, 0, 1) ||
      options.spammers + options.adversaries > 1) {
    usage_error(fmt::format("shares of {} spammers and {} adversaries are not parts of 1",
                            options.spammers, options.adversaries));
  }
  if (!within(options.skew, 0, std::numeric_limits<double>::max())) {
    usage_error(fmt::format("a skew of {} is not a number from 0 on", options.skew));
  }
  check(options.quality);
}

double draw_quality(const QualityDistribution& quality, Random& random) {
  switch (quality.kind) {
    case QualityDistribution::Kind::fixed: return quality.a;
    case QualityDistribution::Kind::uniform:
      return quality.a + (quality.b - quality.a) * random.uniform();
    case QualityDistribution::Kind::beta: return random.beta(quality.a, quality.b);
  }
  throw Error(ErrorCode::internal, "unknown kind of quality distribution");
}

// An index, with probability proportional to its step in `cumulative` weights.
std::uint64_t draw_index(std::span<const double> cumulative, Random& random) {
  const double x = random.uniform() * cumulative.back();
  return static_cast<std::uint64_t>(std::ranges::upper_bound(cumulative, x) - cumulative.begin());
}

std::vector<double> cumulative_class_prior(const SimulationOptions& options) {
  std::vector<double> cumulative;
  double sum = 0;
  for (std::uint32_t k = 0; k < options.classes; ++k) {
    cumulative.push_back(sum += std::pow(k + 1.0, -options.skew));
  }
  return cumulative;
}

enum class Role { honest, spammer, adversary };

// Exact shares, not only expected ones, dealt at random.
std::vector<Role> deal_roles(const SimulationOptions& options, Random& random) {
  const auto part = [&](double share) {
    return static_cast<std::size_t>(std::llround(share * options.workers));
  };
  std::vector<Role> roles(options.workers, Role::honest);
  const std::size_t spammers = part(options.spammers);
  // Both parts may have been rounded up.
  const std::size_t others = std::min(spammers + part(options.adversaries), roles.size());
  std::fill_n(roles.begin(), others, Role::adversary);
  std::fill_n(roles.begin(), spammers, Role::spammer);
  random.shuffle(roles);
  return roles;
}

// How every worker labels.
class Workers {
 public:
  Workers(const SimulationOptions& options, Random random) : classes_(options.classes) {
    // All qualities first: they stay the same whatever the options below.
    for (std::uint32_t w = 0; w < options.workers; ++w) {
      quality_.push_back(draw_quality(options.quality, random));
    }
    const std::vector<Role> roles = deal_roles(options, random);
    if (options.confusion) mistakes_.reserve(std::size_t{options.workers} * classes_ * (classes_ - 1));
    for (std::uint32_t w = 0; w < options.workers; ++w) {
      if (roles[w] == Role::spammer) quality_[w] = 1.0 / classes_;
      if (roles[w] == Role::adversary) quality_[w] = std::min(quality_[w], 1 - quality_[w]);
      if (options.confusion) draw_mistakes(roles[w], random);
    }
  }

  ClassId label(WorkerId worker, ClassId truth, Random& random) const {
    if (random.uniform() < quality_[worker]) return truth;
    const std::uint64_t wrong =
        mistakes_.empty() ? random.below(classes_ - 1) : draw_index(mistakes_of(worker, truth), random);
    return static_cast<ClassId>(wrong < truth ? wrong : wrong + 1);  // wrong labels leave the truth out
  }

  const std::vector<double>& quality() const { return quality_; }

 private:
  // One worker's rows of cumulative weights over the wrong classes, one row per true class.
  // Gamma variates are a Dirichlet's weights before they are normalised.
  void draw_mistakes(Role role, Random& random) {
    for (std::uint32_t truth = 0; truth < classes_; ++truth) {
      double sum = 0;
      for (std::uint32_t j = 0; j + 1 < classes_; ++j) {
        sum += role == Role::spammer ? 1 : random.gamma(kMistakeConcentration);
        mistakes_.push_back(sum);
      }
    }
  }

  std::span<const double> mistakes_of(WorkerId worker, ClassId truth) const {
    const std::size_t length = classes_ - 1;
    return {mistakes_.data() + (std::size_t{worker} * classes_ + truth) * length, length};
  }

  std::uint32_t classes_;
  std::vector<double> quality_;
  std::vector<double> mistakes_;  // empty: all mistakes are equally likely
};

// Draws a task's workers, all different, in time linear in their number (Floyd's algorithm).
class WorkerDraw {
 public:
  explicit WorkerDraw(std::uint32_t workers) : drawn_for_(workers, kNever) {}

  const std::vector<WorkerId>& operator()(TaskId task, std::uint32_t count, Random& random) {
    drawn_.clear();
    const auto workers = static_cast<WorkerId>(drawn_for_.size());
    for (WorkerId last = workers - count; last < workers; ++last) {
      auto worker = static_cast<WorkerId>(random.below(std::uint64_t{last} + 1));
      if (drawn_for_[worker] == task) worker = last;
      drawn_for_[worker] = task;
      drawn_.push_back(worker);
    }
    random.shuffle(drawn_);  // Floyd's order favours late workers at the end
    return drawn_;
  }

 private:
  static constexpr TaskId kNever = std::numeric_limits<TaskId>::max();

  std::vector<TaskId> drawn_for_;  // by worker: the last task they were drawn for
  std::vector<WorkerId> drawn_;
};

// "worker_007": padded to the width of the largest index, so that names sort as indices do.
std::string padded_name(std::string_view prefix, std::uint64_t index, std::uint64_t count) {
  return fmt::format("{}_{:0{}}", prefix, index, fmt::formatted_size("{}", count - 1));
}

std::vector<std::string> padded_names(std::string_view prefix, std::uint32_t count) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < count; ++i) names.push_back(padded_name(prefix, i, count));
  return names;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return value;
}

}  // namespace

QualityDistribution QualityDistribution::parse(const std::string& text) {
  const auto fail = [&] {
    usage_error(fmt::format(
        "'{}' is not a distribution of quality: write fixed:.8, uniform:.4,.7 or beta:4,2", text));
  };
  const std::string_view view = text;
  const std::size_t colon = view.find(':');
  if (colon == view.npos) fail();
  const std::string_view name = view.substr(0, colon);
  const std::string_view numbers = view.substr(colon + 1);
  const std::size_t comma = numbers.find(',');

  QualityDistribution result;
  if (name == "fixed") {
    result.kind = Kind::fixed;
  } else if (name == "uniform") {
    result.kind = Kind::uniform;
  } else if (name == "beta") {
    result.kind = Kind::beta;
  } else {
    fail();
  }
  const bool two_numbers = comma != numbers.npos;
  const auto a = parse_number(numbers.substr(0, comma));
  const auto b = two_numbers ? parse_number(numbers.substr(comma + 1)) : a;
  if (!a || !b || two_numbers == (result.kind == Kind::fixed)) fail();
  result.a = *a;
  result.b = *b;
  check(result);
  return result;
}

SimulatedCrowd simulate(const SimulationOptions& options, std::uint64_t seed,
                        const std::function<void(TaskId, WorkerId, ClassId)>& row) {
  check(options);
  const Workers workers(options, stream(seed, kWorkerStream));
  const std::vector<double> class_prior = cumulative_class_prior(options);
  const std::uint64_t label_counts = std::uint64_t{options.max_labels} - options.min_labels + 1;
  WorkerDraw draw_workers(options.workers);
  Random random = stream(seed, kTaskStream);

  SimulatedCrowd crowd;
  crowd.quality = workers.quality();
  crowd.truths.reserve(options.tasks);
  for (std::uint64_t t = 0; t < options.tasks; ++t) {
    const auto task = static_cast<TaskId>(t);
    const auto truth = static_cast<ClassId>(draw_index(class_prior, random));
    const auto count = static_cast<std::uint32_t>(options.min_labels + random.below(label_counts));
    crowd.truths.push_back(truth);
    for (const WorkerId w : draw_workers(task, count, random)) {
      row(task, w, workers.label(w, truth, random));
    }
  }
  return crowd;
}

Labels simulate_labels(const SimulationOptions& options, std::uint64_t seed, SimulatedCrowd* crowd) {
  check(options);  // before names are made for them
  const std::vector<std::string> worker_names = padded_names("worker", options.workers);
  const std::vector<std::string> class_names = padded_names("class", options.classes);
  LabelsBuilder builder(Duplicates::keep);
  const SimulatedCrowd drawn = simulate(options, seed, [&](TaskId task, WorkerId worker, ClassId label) {
    builder.add(padded_name("task", task, options.tasks), worker_names[worker], class_names[label]);
  });
  Labels labels = builder.build();

  // Labels number by first appearance; the crowd is told in the same ids. Workers and classes that no
  // label names follow.
  NameTable workers = labels.workers();
  NameTable classes = labels.classes();
  SimulatedCrowd renumbered;
  renumbered.quality.resize(options.workers);
  for (std::uint32_t w = 0; w < options.workers; ++w) {
    renumbered.quality[workers.intern(worker_names[w])] = drawn.quality[w];
  }
  std::vector<ClassId> class_ids;
  for (const std::string& name : class_names) {
    class_ids.push_back(static_cast<ClassId>(classes.intern(name)));
  }
  for (const ClassId truth : drawn.truths) renumbered.truths.push_back(class_ids[truth]);
  if (crowd != nullptr) *crowd = std::move(renumbered);
  return std::move(labels).with_workers(std::move(workers)).with_classes(std::move(classes));
}

}  // namespace crowdfold
