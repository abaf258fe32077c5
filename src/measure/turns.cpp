#include "measure/turns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <sstream>
#include <system_error>

#include "core/error.hpp"
#include "core/stats.hpp"

namespace attnprof {
namespace {

/// Samples that an interrupted case still takes: the fewest that have a 95% interval.
constexpr int kSamplesWhenInterrupted = 6;

/// Samples taken from one case before the next one's turn: about this long, so that drift hits all cases
/// alike, and few.
constexpr double kTurnUs = 20e3;
constexpr int kMaxSamplesPerTurn = 4;
/// Samples of one turn share what the chip was doing then, so they say nothing of how far the next run will
/// be from this one: narrow or not, an interval counts from so many turns on. (One of 21 samples in two turns
/// was 6% off, unseen, on a chip at its power limit.)
constexpr int kFewestTurns = 6;
constexpr double kMaxRestUs = 1e6;  ///< an interrupt waits for the samples of a turn

int samples_per_turn(const std::vector<double>& samples_us, int max_samples) {
  if (samples_us.empty()) return 1;
  const double typical_us = std::max(samples_us.back(), 1.0);
  const int left = max_samples - static_cast<int>(samples_us.size());
  return std::clamp(static_cast<int>(kTurnUs / typical_us), 1,
                    std::min(kMaxSamplesPerTurn, std::max(1, left)));
}

/// The median clock, and every reason for throttling that was seen: a single look at the end misses what went
/// on in between.
ClockReading clocks_over(const std::vector<ClockReading>& readings) {
  ClockReading all;
  std::vector<double> clocks_mhz;
  for (const ClockReading& reading : readings) {
    all.busy = all.busy || reading.busy;
    if (reading.sm_mhz) clocks_mhz.push_back(*reading.sm_mhz);
    std::istringstream reasons(reading.throttle_reasons);
    for (std::string reason; std::getline(reasons, reason, '|');) {
      if (('|' + all.throttle_reasons + '|').find('|' + reason + '|') != std::string::npos) continue;
      all.throttle_reasons += (all.throttle_reasons.empty() ? "" : "|") + reason;
    }
  }
  if (!clocks_mhz.empty()) all.sm_mhz = static_cast<int>(stats::median(clocks_mhz));
  return all;
}

void take_turn(Device& device, const RunOptions& options, ActiveCase& active,
               const std::function<double()>& now_s, const std::atomic<bool>& stop) {
  const NamedRange range(device, active.name);
  const double start_s = now_s();
  const Sampling sampling(options.cache, std::clamp(options.rest * active.last_us, 0.0, kMaxRestUs));
  const std::vector<double> turn = device.sample_us(
      *active.work, sampling, samples_per_turn(active.samples_us, options.stopping.max_samples));
  if (!turn.empty()) active.last_us = turn.back();
  active.elapsed_s += now_s() - start_s;
  active.samples_us.insert(active.samples_us.end(), turn.begin(), turn.end());
  const bool hurry = stop && static_cast<int>(active.samples_us.size()) >=
                                 std::min(options.stopping.min_samples, kSamplesWhenInterrupted);
  ++active.turns;
  active.spent = hurry || active.elapsed_s >= options.stopping.budget_s ||
                 static_cast<int>(active.samples_us.size()) >= options.stopping.max_samples;
  const bool few_turns = active.turns < kFewestTurns && !active.spent;
  active.timing =
      !hurry && (few_turns || !stats::enough(options.stopping, active.samples_us, active.elapsed_s));
  active.clocks.push_back(device.clocks());
}

}  // namespace

void take_error(Record& record) {
  record.status = Status::failed;
  try {
    throw;
  } catch (const OutOfMemory& e) {
    record.status = Status::oom;
    record.available_bytes = e.available_bytes;
    record.message = e.what();
  } catch (const Error& e) {
    record.message = e.what();
  } catch (const std::bad_alloc&) {
    record.status = Status::oom;
    record.message = "out of memory: the system refused an allocation of this process (ulimit -v?)";
  } catch (const std::system_error& e) {
    if (e.code() != std::errc::resource_unavailable_try_again && e.code() != std::errc::not_enough_memory)
      throw;
    record.status = Status::oom;
    record.message = "out of memory: the system refused a thread of this process (ulimit -v or -u?)";
  }
}

void take_turns(Device& device, const RunOptions& options, std::vector<ActiveCase>& cases,
                const std::function<double()>& now_s, const std::atomic<bool>& stop) {
  std::vector<ActiveCase*> timing;
  for (ActiveCase& active : cases) timing.push_back(&active);
  const auto wants_more = [](const ActiveCase* a) { return a->alive() && a->timing; };
  // Who has enough goes on, within its budget, as long as another does not: else the first to be done would
  // have been measured on a cool chip and the others on a throttled one.
  while (std::any_of(timing.begin(), timing.end(), wants_more)) {
    for (ActiveCase* active : timing)
      active->guarded([&] { take_turn(device, options, *active, now_s, stop); });
    std::erase_if(timing, [](const ActiveCase* a) { return !a->alive() || (!a->timing && a->spent); });
    // There and back: a case that leaves the chip hot or its clock low must not always hand it to the same
    // one.
    std::reverse(timing.begin(), timing.end());
  }
  for (ActiveCase& active : cases) {
    Record& record = *active.record;
    record.clocks = clocks_over(active.clocks);
    if (!active.alive()) continue;
    record.time =
        stats::summarise(options.stopping, active.samples_us, options.warmups, device.timer_resolution_us());
    if (record.clocks.busy)
      record.message += fmt::format("{}{}", record.message.empty() ? "" : "; ", kBusyMachine);
    if (record.time->samples == 0) {
      record.status = Status::no_samples;
      record.message = fmt::format("none of {} timings was a positive number", active.samples_us.size());
      record.time.reset();
    }
  }
}

}  // namespace attnprof
