#include <fmt/format.h>

#include <algorithm>

#include "core/axes.hpp"
#include "core/error.hpp"

namespace attnprof {

const std::vector<Preset>& presets() {
  // Shapes from the models' published configurations; batch so that about 16k tokens are in flight, except
  // where a publication fixes it.
  static const std::vector<Preset> table{
      {"gpt2-small", "GPT-2 124M", 12, 12, 64, 1024, 16, true},
      {"gpt2-medium", "GPT-2 355M; batch as in the FlashAttention paper's figure 2", 16, 16, 64, 1024, 64,
       true},
      {"gpt2-xl", "GPT-2 1.5B", 25, 25, 64, 1024, 16, true},
      {"bert-large", "BERT-large, bidirectional", 16, 16, 64, 512, 32, false},
      {"llama2-7b", "Llama 2 7B", 32, 32, 128, 4096, 4, true},
      {"llama3-8b", "Llama 3 8B, four query heads per KV head", 32, 8, 128, 8192, 2, true},
      {"llama3-70b", "Llama 3 70B, eight query heads per KV head", 64, 8, 128, 8192, 2, true},
      {"mistral-7b", "Mistral 7B (add --window 4096 for its sliding window)", 32, 8, 128, 8192, 2, true},
      {"qwen2.5-7b", "Qwen2.5 7B, seven query heads per KV head", 28, 4, 128, 8192, 2, true},
      {"gemma2-9b", "Gemma 2 9B, head_dim 256", 16, 8, 256, 8192, 2, true},
  };
  return table;
}

const Preset& find_preset(std::string_view name) {
  std::string known;
  for (const Preset& preset : presets()) {
    if (preset.name == name) return preset;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", preset.name);
  }
  throw UsageError(fmt::format("--preset '{}' is not known; known: {}", name, known));
}

}  // namespace attnprof
