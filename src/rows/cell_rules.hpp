// What the cells of each known column may hold. Inside src/rows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rows/csv.hpp"
#include "rows/rows.hpp"

namespace attnprof {

/// Key columns of schema 1: a file without one of them cannot be matched. Key columns added later read as
/// empty where a file lacks them.
const std::vector<std::string_view>& required_columns();

/// Throws UsageError when a required column or `schema` is missing (naming columns that are not known, one of
/// which may be it renamed), or when there are no rows.
void check_header_and_size(const CsvTable& table);

/// Checks every cell of the columns that are known and writes numbers in one form: blanks around them go, and
/// what stands for "missing" (nan, inf, NA, null) becomes an empty cell. Returns those of ok
/// rows that said nan or inf. Throws UsageError "FILE:LINE: column 'x': ...".
std::vector<NotANumber> check_and_normalise(CsvTable& table);

}  // namespace attnprof
