// The parsers of axes, shards and the like on any text: a UsageError that is one line, or values within their
// bounds. The first byte chooses the parser.
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "core/axes.hpp"
#include "core/error.hpp"
#include "measure/shard.hpp"

using namespace attnprof;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

template <class T>
void check_values(const std::vector<T>& values, size_t most) {
  require(!values.empty() && values.size() <= most);
  require(std::set<T>(values.begin(), values.end()).size() == values.size());
}

void parse(unsigned char which, std::string_view text) {
  constexpr size_t kMost = 4096;
  switch (which % 7) {
    case 0:
    case 1: {
      const auto values = parse_int_axis("seqlen", text, which % 7);
      check_values(values, kMost);
      for (const int64_t value : values) require(value >= which % 7);
      return;
    }
    case 2:
    case 3:
    case 4:
    case 5: {
      constexpr const char* kOptions[]{"causal", "dtype", "tile", "window"};
      const char* option = kOptions[which % 7 - 2];
      const auto items = parse_axis(option, text);
      check_values(items, kMost);
      for (const AxisItem& item : items) {
        require(item.size() == (std::string_view(option) == "tile" ? 2 : 1));
        for (const Cell& cell : item) {
          const int64_t* number = std::get_if<int64_t>(&cell);
          require(number == nullptr || *number >= 0);
          require(item.size() == 1 || (number != nullptr && *number <= 1 << 20));
        }
      }
      return;
    }
    default: {
      const Shard shard = parse_shard(text);
      require(shard.index >= 1 && shard.index <= shard.count && shard.count <= kMaxShards);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    parse(data[0], text);
  } catch (const UsageError& error) {
    require(!std::string_view(error.what()).empty());
  }
  return 0;
}
