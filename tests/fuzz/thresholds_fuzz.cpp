// The thresholds of `attnprof check` on any bytes: a UsageError, or limits that any row can be asked for.
#include <cstdlib>
#include <string_view>

#include "core/error.hpp"
#include "gate/thresholds.hpp"

using namespace attnprof;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

RowFile some_rows() {
  return rows_of(parse_csv(
      "schema,device,threads,impl,pass,dtype,batch,heads,kv_heads,seqlen_q,seqlen_kv,head_dim,causal,window,"
      "scale,fill,seed,cache,tile_m,tile_n,stages,warps,status,time_us,rel_err,tolerance\n"
      "1,gpu,,flash3,fwd,bf16,4,16,16,4096,4096,128,1,0,0.125,normal,1,cold,128,128,2,12,ok,100,0.001,0.01\n"
      "1,cpu,2,naive,fwd,fp32,1,2,2,64,64,32,0,0,0.125,normal,1,cold,,,,,unsupported,,,\n",
      "rows.csv"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const RowFile file = some_rows();
  try {
    const Thresholds thresholds = parse_thresholds({reinterpret_cast<const char*>(data), size}, "t.toml");
    for (const Row& row : file.rows) {
      const Limits limits = thresholds.of(row);
      for (const double pct : {limits.time_pct, limits.bytes_pct, limits.flops_pct, limits.workspace_pct}) {
        require(pct >= 0);  // and no NaN
      }
      require(!limits.noise_pct || *limits.noise_pct >= 0);
    }
    require(!thresholds.alpha || (*thresholds.alpha > 0 && *thresholds.alpha < 1));
  } catch (const UsageError& error) {
    require(!std::string_view(error.what()).empty());
  }
  return 0;
}
