#include "measure/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attnprof {
namespace {

constexpr size_t kDefault = 0;
constexpr const char* kNoBudget = "too few timings in the budget to tell candidates apart";

bool timed(const Record& r) {
  return r.status == Status::ok && r.time && r.time->samples >= stats::kFewestForInterval;
}

bool is_verified(const Record& r) {
  return r.verify && r.verify->passed;
}

std::string tile_text(const KernelConfig& k) {
  return fmt::format("{}x{}, {} stage{}", k.tile_m, k.tile_n, k.stages, k.stages == 1 ? "" : "s");
}

/// What a later round has measured goes into the record; what only an earlier one has, or has more of, stays.
void take_over(Record& record, Record fresh) {
  const int samples = fresh.time ? fresh.time->samples : 0;
  if (record.time && record.time->samples > samples) fresh.time = record.time;
  if (!fresh.verify) fresh.verify = record.verify;
  if (fresh.counters.source == BytesSource::none && record.counters.source != BytesSource::none) {
    fresh.counters = record.counters;
    fresh.kernels = record.kernels;
  }
  record = std::move(fresh);
}

}  // namespace

/// The candidates of one race.
struct Tuner::Field {
  const std::vector<PlannedRow>& rows;
  TuneOutcome& outcome;
  std::vector<size_t> in;  ///< still in the race; the default as long as it runs at all

  Record& record(size_t i) { return outcome.records[i]; }
  void drop_failed() {
    std::erase_if(in, [this](size_t i) { return record(i).status != Status::ok; });
  }
};

Tuner::Tuner(Device& device, CounterSource* counters, TuneOptions options, RunConditions conditions,
             std::function<double()> now_s)
    : device_(device),
      counters_(counters),
      options_(options),
      conditions_(std::move(conditions)),
      now_s_(std::move(now_s)) {}

RunOptions Tuner::round_options(int samples, double budget_s, size_t candidates) const {
  RunOptions run = options_.run;
  run.verify = run.counters = false;
  run.warmups = 1;
  run.stopping.min_samples = 1;  // the budget counts
  run.stopping.max_samples = samples;
  run.stopping.target_half_width = 0;  // the same number of samples for all
  run.stopping.budget_s = std::min(run.stopping.budget_s, budget_s / static_cast<double>(candidates));
  return run;
}

void Tuner::round(Field& field, const std::vector<size_t>& who, const RunOptions& options,
                  const std::atomic<bool>& stop) {
  std::vector<PlannedRow> rows;
  for (const size_t i : who) rows.push_back(field.rows[i]);
  Runner runner(device_, counters_, options, conditions_, now_s_);
  std::vector<Record> records = runner.run(rows.data(), rows.data() + rows.size(), stop);
  for (size_t k = 0; k < who.size(); ++k) take_over(field.record(who[k]), std::move(records[k]));
  field.drop_failed();
}

void Tuner::verify_one(Field& field, size_t index, const std::atomic<bool>& stop) {
  RunOptions run = options_.run;
  run.time = run.counters = false;
  run.verify = true;
  run.warmups = 1;
  round(field, {index}, run, stop);
}

/// The fastest candidate whose result is right: one that is wrong must not push others out.
std::optional<size_t> Tuner::leader(Field& field, const std::atomic<bool>& stop) {
  while (true) {
    std::optional<size_t> best;
    for (const size_t i : field.in) {
      if (!timed(field.record(i))) continue;
      if (!best || field.record(i).time->median_us < field.record(*best).time->median_us) best = i;
    }
    if (!best || is_verified(field.record(*best))) return best;
    verify_one(field, *best, stop);  // out of the race when it fails
  }
}

TuneOutcome Tuner::race(const std::vector<PlannedRow>& rows, double budget_s, const std::atomic<bool>& stop) {
  TuneOutcome outcome;
  Field field{rows, outcome, {}};
  for (size_t i = 0; i < rows.size(); ++i) {
    outcome.records.push_back(blank_record(rows[i], device_.info(), conditions_));
    field.in.push_back(i);
  }
  field.drop_failed();
  const double end_s = now_s_() + budget_s;
  // A part of the time is kept for the last round, which decides.
  constexpr double kShareOfRounds = 0.75;
  const double rounds_end_s = now_s_() + kShareOfRounds * budget_s;
  std::optional<size_t> best;
  for (int samples = options_.first_samples; !field.in.empty() && !stop; samples *= 2) {
    RunOptions run = round_options(samples, rounds_end_s - now_s_(), field.in.size());
    if (samples == options_.first_samples) {
      run.verify = options_.verify_all;
      run.counters = options_.count_all && options_.run.counters;
    }
    const double start_s = now_s_();
    const size_t runners = field.in.size();
    round(field, std::vector<size_t>(field.in), run, stop);
    const double each_s = (now_s_() - start_s) / static_cast<double>(runners);
    best = leader(field, stop);
    if (!best) break;
    const double limit_us = field.record(*best).time->hi_us;
    std::erase_if(field.in, [&](size_t i) {
      return i != kDefault && timed(field.record(i)) && field.record(i).time->lo_us > limit_us;
    });
    const bool settled =
        std::all_of(field.in.begin(), field.in.end(), [&](size_t i) { return i == kDefault || i == *best; });
    const double next_round_s = 2 * each_s * static_cast<double>(field.in.size());
    if (settled || 2 * samples > options_.last_samples || now_s_() + next_round_s > rounds_end_s) break;
  }
  if (stop) {
    outcome.end = TuneOutcome::End::interrupted;
  } else if (!best) {
    outcome.end = field.in.empty() ? TuneOutcome::End::nothing_ran : TuneOutcome::End::no_budget;
    outcome.message = field.in.empty() ? outcome.records.front().message : kNoBudget;
  } else {
    decide(field, *best, std::max(0.0, end_s - now_s_()), stop);
  }
  for (Record& record : outcome.records) {
    if (record.status != Status::ok || is_verified(record)) continue;
    record.status = Status::skipped;
    record.message = "out of the race before it was verified";
  }
  return outcome;
}

/// Fresh timings of the two that matter: the best of many is the luckiest of them too, and what it showed on
/// the way here is no evidence.
void Tuner::decide(Field& field, size_t best, double budget_s, const std::atomic<bool>& stop) {
  using End = TuneOutcome::End;
  TuneOutcome& outcome = field.outcome;
  const bool default_runs = field.record(kDefault).status == Status::ok;
  std::vector<size_t> last{best};
  if (best != kDefault && default_runs) last.insert(last.begin(), kDefault);
  RunOptions run = options_.run;
  run.verify = true;
  for (const size_t i : last) field.record(i).time.reset();
  run.stopping.budget_s = std::min(run.stopping.budget_s, budget_s / static_cast<double>(last.size()));
  round(field, last, run, stop);
  const auto right = [&](size_t i) { return timed(field.record(i)) && is_verified(field.record(i)); };
  if (stop) {
    outcome.end = End::interrupted;
    return;
  }
  const bool best_ran = field.record(best).status == Status::ok;
  const bool default_ran = field.record(kDefault).status == Status::ok;
  if ((best_ran && !timed(field.record(best))) || (default_ran && !timed(field.record(kDefault)))) {
    outcome.end = End::no_budget;
    outcome.message = kNoBudget;
    return;
  }
  if (!right(best)) {
    outcome.end = right(kDefault) ? End::kept : End::nothing_ran;
    outcome.message = fmt::format("{} failed in the last round: {}",
                                  tile_text(field.rows[best].planned.config), field.record(best).message);
    return;
  }
  outcome.best_time = field.record(best).time;
  if (best == kDefault) {
    outcome.end = End::kept;
    outcome.message = "the default is the fastest";
    return;
  }
  if (!right(kDefault)) {
    outcome.end = End::better;
    outcome.best = best;
    outcome.message =
        fmt::format("the default, {}, does not run: {}", tile_text(field.rows[kDefault].planned.config),
                    field.record(kDefault).message);
    return;
  }
  const TimeStats& was = *field.record(kDefault).time;
  const TimeStats& is = *field.record(best).time;
  outcome.default_time = was;
  outcome.speedup = was.median_us / is.median_us;
  outcome.speedup_lo = was.lo_us / is.hi_us;
  outcome.speedup_hi = was.hi_us / is.lo_us;
  if (*outcome.speedup_lo > 1 && *outcome.speedup >= options_.min_speedup) {
    outcome.end = End::better;
    outcome.best = best;
    outcome.message = fmt::format("was {}", tile_text(field.rows[kDefault].planned.config));
    return;
  }
  outcome.end = End::kept;
  outcome.message = fmt::format("default kept: {} is {:.3f}x as fast ({:.3f}..{:.3f}), within the noise",
                                tile_text(field.rows[best].planned.config), *outcome.speedup,
                                *outcome.speedup_lo, *outcome.speedup_hi);
  outcome.best_time = was;
}

}  // namespace attnprof
