// cuDNN's fused attention as an implementation: the opponent to compare with.
#pragma once

#include "core/implementation.hpp"

namespace attnprof {

/// "cudnn": the forward pass of scaled dot product attention as a cuDNN 9 graph, with LSE. bf16 and fp16,
/// GQA, causal (bottom-right aligned), sliding windows. The engine is the first that cuDNN's heuristic A
/// proposes and accepts, as in frameworks; the plan is built in prepare().
///
/// What the plan needs as workspace is known only once it is built, so prepare() allocates it (256 bytes,
/// more where few queries meet many keys); Prepared::own_workspace_bytes() tells how much. Where
/// libcudnn.so.9 is missing, `limits` says so.
Implementation cudnn_gpu();

}  // namespace attnprof
