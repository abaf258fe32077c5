#include "cli/given_ceilings.hpp"

namespace attnprof {

void add_given_ceilings(Command& command, const std::string& before, std::optional<double>& copy_gbps,
                        std::optional<double>& matrix_tflops, std::optional<double>* exp_gops) {
  const auto add = [&](const char* name, std::optional<double>& value, const char* what) {
    command.option(name, value, before + what + ", in place of what the file says was measured")
        .within(1e-9, 1e12);
  };
  add("--copy-gbps", copy_gbps, "copy bandwidth in GB/s");
  add("--matrix-tflops", matrix_tflops, "matrix rate in TFLOP/s");
  if (exp_gops != nullptr) add("--exp-gops", *exp_gops, "exponentials in 1e9/s");
}

}  // namespace attnprof
