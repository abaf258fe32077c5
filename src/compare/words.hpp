// A comparison in sentences: "8.87 GB -> 0.27 GB, 33x fewer (cupti); 2.27 ms -> 0.79 ms, 2.9x faster; ...".
#pragma once

#include <string>

#include "compare/comparison.hpp"

namespace attnprof {

/// A ratio as people say it: "13x", "6.2x", "1.13x", "1.004x".
std::string ratio_text(double ratio);
/// "13x fewer", "1.4x more", "the same"; `ratio` above 1 is less of it.
std::string less_or_more(double ratio, const char* less, const char* more);
/// "2.9x faster (2.88 to 2.90)", "within noise (1.003x, 0.997 to 1.008)"; "" without a ratio.
std::string time_words(const Pair& pair);

/// "4.10 GB -> 0.31 GB"; each in its own unit when one has none of the other's ("69.6 GB -> 271 MB"); "?" for
/// what is not known.
std::string bytes_words(const Change& change);
std::string times_words(const Change& change);
/// As bytes_words, with "none" for 0 on both or one side: "1.11 GB -> none".
std::string workspace_words(const Change& change);

/// What the two rows are: "flash3 against naive, bf16 b4 h16 s4k d128", or for two files the row's label.
std::string subject(const Pair& pair, bool two_files);
/// All quantities of the pair, with absolute figures, ratios, sources, and reasons where there is no ratio.
std::string sentence(const Pair& pair);
/// "flash3 against naive, geometric mean: 3.3x faster (1.2x to 4.1x, 12 pairs), 36x fewer HBM bytes (...)".
std::string sentence(const Mean& mean);

}  // namespace attnprof
