// wgmma.mma_async (PTX ISA 9.0, 9.7.15.5.2) for every N that a tile or head_dim can ask for: D[64 x N] +=
// A[64 x 16] B[16 x N], bf16 or fp16 (ATTNPROF_BF16) with fp32 accumulation. Wgmma<N>::shared_shared takes A
// and B from shared memory, both with K along the rows' 128 bytes (Q K^T); Wgmma<N>::register_shared takes A
// from registers and B with N along them (P V).
//
// Each thread of the warpgroup holds N/2 accumulators: element 4b + 2h + e of c is row 16 warp + lane/4 + 8h,
// column 8b + 2 (lane % 4) + e.
// The instruction names every accumulator as an operand, so the lists are spelled out once, each N extending
// the last.
#pragma once

#include "kernels/device/ptx_sm90.cuh"

#if ATTNPROF_BF16
#define ATTNPROF_WGMMA_TYPES "f32.bf16.bf16"
#else
#define ATTNPROF_WGMMA_TYPES "f32.f16.f16"
#endif

namespace attnprof {

template <int kN>
struct Wgmma;

// clang-format off

#define AP_R8 "%0, %1, %2, %3"
#define AP_R16 AP_R8 ", " "%4, %5, %6, %7"
#define AP_R24 AP_R16 ", " "%8, %9, %10, %11"
#define AP_R32 AP_R24 ", " "%12, %13, %14, %15"
#define AP_R40 AP_R32 ", " "%16, %17, %18, %19"
#define AP_R48 AP_R40 ", " "%20, %21, %22, %23"
#define AP_R56 AP_R48 ", " "%24, %25, %26, %27"
#define AP_R64 AP_R56 ", " "%28, %29, %30, %31"
#define AP_R72 AP_R64 ", " "%32, %33, %34, %35"
#define AP_R80 AP_R72 ", " "%36, %37, %38, %39"
#define AP_R88 AP_R80 ", " "%40, %41, %42, %43"
#define AP_R96 AP_R88 ", " "%44, %45, %46, %47"
#define AP_R104 AP_R96 ", " "%48, %49, %50, %51"
#define AP_R112 AP_R104 ", " "%52, %53, %54, %55"
#define AP_R120 AP_R112 ", " "%56, %57, %58, %59"
#define AP_R128 AP_R120 ", " "%60, %61, %62, %63"
#define AP_R136 AP_R128 ", " "%64, %65, %66, %67"
#define AP_R144 AP_R136 ", " "%68, %69, %70, %71"
#define AP_R152 AP_R144 ", " "%72, %73, %74, %75"
#define AP_R160 AP_R152 ", " "%76, %77, %78, %79"
#define AP_R168 AP_R160 ", " "%80, %81, %82, %83"
#define AP_R176 AP_R168 ", " "%84, %85, %86, %87"
#define AP_R184 AP_R176 ", " "%88, %89, %90, %91"
#define AP_R192 AP_R184 ", " "%92, %93, %94, %95"
#define AP_R200 AP_R192 ", " "%96, %97, %98, %99"
#define AP_R208 AP_R200 ", " "%100, %101, %102, %103"
#define AP_R216 AP_R208 ", " "%104, %105, %106, %107"
#define AP_R224 AP_R216 ", " "%108, %109, %110, %111"
#define AP_R232 AP_R224 ", " "%112, %113, %114, %115"
#define AP_R240 AP_R232 ", " "%116, %117, %118, %119"
#define AP_R248 AP_R240 ", " "%120, %121, %122, %123"
#define AP_R256 AP_R248 ", " "%124, %125, %126, %127"

#define AP_C8 "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
#define AP_C16 AP_C8, "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7])
#define AP_C24 AP_C16, "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11])
#define AP_C32 AP_C24, "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15])
#define AP_C40 AP_C32, "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19])
#define AP_C48 AP_C40, "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23])
#define AP_C56 AP_C48, "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27])
#define AP_C64 AP_C56, "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31])
#define AP_C72 AP_C64, "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35])
#define AP_C80 AP_C72, "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39])
#define AP_C88 AP_C80, "+f"(c[40]), "+f"(c[41]), "+f"(c[42]), "+f"(c[43])
#define AP_C96 AP_C88, "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47])
#define AP_C104 AP_C96, "+f"(c[48]), "+f"(c[49]), "+f"(c[50]), "+f"(c[51])
#define AP_C112 AP_C104, "+f"(c[52]), "+f"(c[53]), "+f"(c[54]), "+f"(c[55])
#define AP_C120 AP_C112, "+f"(c[56]), "+f"(c[57]), "+f"(c[58]), "+f"(c[59])
#define AP_C128 AP_C120, "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63])
#define AP_C136 AP_C128, "+f"(c[64]), "+f"(c[65]), "+f"(c[66]), "+f"(c[67])
#define AP_C144 AP_C136, "+f"(c[68]), "+f"(c[69]), "+f"(c[70]), "+f"(c[71])
#define AP_C152 AP_C144, "+f"(c[72]), "+f"(c[73]), "+f"(c[74]), "+f"(c[75])
#define AP_C160 AP_C152, "+f"(c[76]), "+f"(c[77]), "+f"(c[78]), "+f"(c[79])
#define AP_C168 AP_C160, "+f"(c[80]), "+f"(c[81]), "+f"(c[82]), "+f"(c[83])
#define AP_C176 AP_C168, "+f"(c[84]), "+f"(c[85]), "+f"(c[86]), "+f"(c[87])
#define AP_C184 AP_C176, "+f"(c[88]), "+f"(c[89]), "+f"(c[90]), "+f"(c[91])
#define AP_C192 AP_C184, "+f"(c[92]), "+f"(c[93]), "+f"(c[94]), "+f"(c[95])
#define AP_C200 AP_C192, "+f"(c[96]), "+f"(c[97]), "+f"(c[98]), "+f"(c[99])
#define AP_C208 AP_C200, "+f"(c[100]), "+f"(c[101]), "+f"(c[102]), "+f"(c[103])
#define AP_C216 AP_C208, "+f"(c[104]), "+f"(c[105]), "+f"(c[106]), "+f"(c[107])
#define AP_C224 AP_C216, "+f"(c[108]), "+f"(c[109]), "+f"(c[110]), "+f"(c[111])
#define AP_C232 AP_C224, "+f"(c[112]), "+f"(c[113]), "+f"(c[114]), "+f"(c[115])
#define AP_C240 AP_C232, "+f"(c[116]), "+f"(c[117]), "+f"(c[118]), "+f"(c[119])
#define AP_C248 AP_C240, "+f"(c[120]), "+f"(c[121]), "+f"(c[122]), "+f"(c[123])
#define AP_C256 AP_C248, "+f"(c[124]), "+f"(c[125]), "+f"(c[126]), "+f"(c[127])

// I0...: operand numbers after the N/2 accumulators
#define AP_WGMMA(N, I0, I1, I2, I3, I4, I5)                                                                        \
  template <>                                                                                                      \
  struct Wgmma<N> {                                                                                                \
    static __device__ __forceinline__ void shared_shared(float (&c)[N / 2], uint64 a, uint64 b, int accumulate) {  \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #I2 ", 0;\n"                                               \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16." ATTNPROF_WGMMA_TYPES                              \
                   " {" AP_R##N "}, %" #I0 ", %" #I1 ", p, 1, 1, 0, 0;\n}\n"                                       \
                   : AP_C##N : "l"(a), "l"(b), "r"(accumulate));                                                   \
    }                                                                                                              \
    static __device__ __forceinline__ void register_shared(float (&c)[N / 2], const uint32 (&a)[4], uint64 b,      \
                                                           int accumulate) {                                       \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #I5 ", 0;\n"                                               \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16." ATTNPROF_WGMMA_TYPES                              \
                   " {" AP_R##N "}, {%" #I0 ", %" #I1 ", %" #I2 ", %" #I3 "}, %" #I4 ", p, 1, 1, 1;\n}\n"          \
                   : AP_C##N : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate));               \
    }                                                                                                              \
  };

AP_WGMMA(8, 4, 5, 6, 7, 8, 9)
AP_WGMMA(16, 8, 9, 10, 11, 12, 13)
AP_WGMMA(24, 12, 13, 14, 15, 16, 17)
AP_WGMMA(32, 16, 17, 18, 19, 20, 21)
AP_WGMMA(40, 20, 21, 22, 23, 24, 25)
AP_WGMMA(48, 24, 25, 26, 27, 28, 29)
AP_WGMMA(56, 28, 29, 30, 31, 32, 33)
AP_WGMMA(64, 32, 33, 34, 35, 36, 37)
AP_WGMMA(72, 36, 37, 38, 39, 40, 41)
AP_WGMMA(80, 40, 41, 42, 43, 44, 45)
AP_WGMMA(88, 44, 45, 46, 47, 48, 49)
AP_WGMMA(96, 48, 49, 50, 51, 52, 53)
AP_WGMMA(104, 52, 53, 54, 55, 56, 57)
AP_WGMMA(112, 56, 57, 58, 59, 60, 61)
AP_WGMMA(120, 60, 61, 62, 63, 64, 65)
AP_WGMMA(128, 64, 65, 66, 67, 68, 69)
AP_WGMMA(136, 68, 69, 70, 71, 72, 73)
AP_WGMMA(144, 72, 73, 74, 75, 76, 77)
AP_WGMMA(152, 76, 77, 78, 79, 80, 81)
AP_WGMMA(160, 80, 81, 82, 83, 84, 85)
AP_WGMMA(168, 84, 85, 86, 87, 88, 89)
AP_WGMMA(176, 88, 89, 90, 91, 92, 93)
AP_WGMMA(184, 92, 93, 94, 95, 96, 97)
AP_WGMMA(192, 96, 97, 98, 99, 100, 101)
AP_WGMMA(200, 100, 101, 102, 103, 104, 105)
AP_WGMMA(208, 104, 105, 106, 107, 108, 109)
AP_WGMMA(216, 108, 109, 110, 111, 112, 113)
AP_WGMMA(224, 112, 113, 114, 115, 116, 117)
AP_WGMMA(232, 116, 117, 118, 119, 120, 121)
AP_WGMMA(240, 120, 121, 122, 123, 124, 125)
AP_WGMMA(248, 124, 125, 126, 127, 128, 129)
AP_WGMMA(256, 128, 129, 130, 131, 132, 133)
// clang-format on

#undef AP_WGMMA

}  // namespace attnprof
