// What stdout is: a terminal of some width, or a file or pipe.
#pragma once

#include "rows/table.hpp"

namespace attnprof {

/// Colour only on a terminal and without NO_COLOR; the terminal's width, 100 elsewhere.
TableStyle terminal_style();

}  // namespace attnprof
