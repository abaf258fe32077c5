#include "cli/given_ceilings.hpp"

#include "cli/typed.hpp"

namespace attnprof {

void add_given_ceilings(CLI::App& app, const std::string& before, std::optional<double>& copy_gbps,
                        std::optional<double>& matrix_tflops, std::optional<double>* exp_gops) {
  const CLI::Validator positive = number_within(1e-9, 1e12);
  const auto add = [&](const char* name, std::optional<double>& value, const char* what) {
    app.add_option(name, value, before + what + ", in place of what the file says was measured")
        ->check(positive);
  };
  add("--copy-gbps", copy_gbps, "copy bandwidth in GB/s");
  add("--matrix-tflops", matrix_tflops, "matrix rate in TFLOP/s");
  if (exp_gops != nullptr) add("--exp-gops", *exp_gops, "exponentials in 1e9/s");
}

}  // namespace attnprof
