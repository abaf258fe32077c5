// The tuned table as a CSV, its columns named as the sweep's: read, checked, written.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tuned.hpp"

namespace attnprof {

/// Says whether an implementation exists on a kind of device; messages list what it knows.
using KnownImplementation = std::function<bool(std::string_view impl, DeviceKind device)>;

/// Rows of `text`. Throws UsageError "FILE:LINE: column 'x': ..." for a cell that cannot be right, a key that
/// appears twice, an implementation that `known` does not know, and what parse_csv throws.
std::vector<TunedEntry> parse_tuned(std::string_view text, const std::string& file,
                                    const KnownImplementation& known);

/// The whole file: header and rows, in a stable order of keys.
std::string tuned_csv(std::vector<TunedEntry> entries);

/// Replaces the row of the same key, or adds one.
void put_tuned(std::vector<TunedEntry>& table, const TunedEntry& entry);

}  // namespace attnprof
