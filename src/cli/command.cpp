#include "cli/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "core/error.hpp"
#include "rows/csv.hpp"

namespace attnprof {
namespace {

/// CLI::Range lets "nan" pass, since nothing compares with it.
CLI::Validator finite_number(double low, double high) {
  return CLI::Validator(
      [low, high](std::string& text) {
        const std::optional<double> value = cell_number(text);
        if (value && *value >= low && *value <= high) return std::string();
        return fmt::format("'{}' is not a number from {} to {}", text, low, high);
      },
      fmt::format("NUMBER in [{} - {}]", low, high));
}

/// The first word, when it is no command: CLI11 would only say that one is required.
void refuse_unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::string known;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (command->get_name() == argv[1]) return;
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  throw UsageError(fmt::format("'{}' is no command; commands: {}", argv[1], known));
}

std::function<int()> printing(const std::string& text) {
  return [text] {
    fmt::print("{}", text);
    return 0;
  };
}

}  // namespace

Option& Option::type_name(const std::string& name) {
  option_.type_name(name);
  return *this;
}

Option& Option::within(int low, int high) {
  option_.check(CLI::Range(low, high));
  return *this;
}

Option& Option::within(double low, double high) {
  option_.check(finite_number(low, high));
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& words) {
  option_.check(CLI::IsMember(words));
  return *this;
}

Option& Option::not_empty(const std::string& message) {
  option_.check([message](const std::string& text) { return text.empty() ? message : ""; });
  return *this;
}

Option& Option::required() {
  option_.required();
  return *this;
}

Option& Option::shows_default() {
  option_.capture_default_str();
  return *this;
}

Option& Option::values(int fewest, int most) {
  option_.expected(fewest, most);
  return *this;
}

Option& Option::one_at_a_time() {
  option_.allow_extra_args(false);
  return *this;
}

Option& Option::delimiter(char mark) {
  option_.delimiter(mark);
  return *this;
}

std::string Command::name() const {
  return app_.get_name();
}

void Command::group(const std::string& heading) {
  app_.option_defaults()->group(heading);
}

Option Command::option(const std::string& names, std::string& value, const std::string& help) {
  return Option(*app_.add_option(names, value, help));
}

Option Command::option(const std::string& names, int& value, const std::string& help) {
  return Option(*app_.add_option(names, value, help));
}

Option Command::option(const std::string& names, int64_t& value, const std::string& help) {
  return Option(*app_.add_option(names, value, help));
}

Option Command::option(const std::string& names, double& value, const std::string& help) {
  return Option(*app_.add_option(names, value, help));
}

Option Command::option(const std::string& names, std::optional<double>& value, const std::string& help) {
  return Option(*app_.add_option(names, value, help));
}

Option Command::option(const std::string& names, std::optional<std::string>& value, const std::string& help) {
  return Option(*app_.add_option(names, value, help));
}

Option Command::option(const std::string& names, std::vector<std::string>& value, const std::string& help) {
  CLI::Option& list = *app_.add_option(names, value, help);
  list.check(
      [](const std::string& text) { return text == "{}" ? "'{}' is no value" : ""; });  // an empty list
  return Option(list);
}

void Command::flag(const std::string& names, bool& value, const std::string& help) {
  app_.add_flag(names, value, help);
}

void Command::footer(const std::string& text) {
  app_.footer(text);
}

std::vector<Command::Declared> Command::options() const {
  std::vector<Declared> all;
  for (const CLI::Option* option : std::as_const(app_).get_options()) {
    if (option->get_lnames().empty() || option == app_.get_help_ptr()) continue;
    all.push_back({option->get_lnames().front(), option->get_items_expected_max() == 0,
                   option->get_items_expected_max() > 1, option->count() > 0});
  }
  return all;
}

void Command::set(const std::string& name, const std::vector<std::string>& values) {
  try {
    CLI::Option* option = app_.get_option("--" + name);
    for (const std::string& value : values) option->add_result(value);
    option->run_callback();
  } catch (const CLI::Error& e) {
    throw UsageError(e.what());
  }
}

std::vector<std::string> Command::all_commands() const {
  std::vector<std::string> names;
  for (const CLI::App* command : app_.get_parent()->get_subcommands(nullptr))
    names.push_back(command->get_name());
  return names;
}

CommandLine::CommandLine(const std::string& about, const std::string& version, const std::string& footer)
    : app_(std::make_unique<CLI::App>(about)) {
  app_->set_version_flag("--version", version);
  app_->footer(footer);
  app_->require_subcommand(1);
}

CommandLine::~CommandLine() = default;

void CommandLine::flag(const std::string& names, bool& value, const std::string& help) {
  app_->add_flag(names, value, help);
}

Command& CommandLine::add(const std::string& name, const std::string& about) {
  return *commands_.emplace_back(std::make_unique<Command>(*app_->add_subcommand(name, about)));
}

std::function<int()> CommandLine::parse(int argc, char** argv) {
  refuse_unknown_command(*app_, argc, argv);
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return printing(app_->help());
  } catch (const CLI::CallForVersion& version) {
    return printing(fmt::format("{}\n", version.what()));
  } catch (const CLI::ParseError& e) {
    const std::vector<CLI::App*> chosen = app_->get_subcommands();
    throw UsageError(fmt::format("{}; see `attnprof {}--help`", e.what(),
                                 chosen.empty() ? "" : chosen.front()->get_name() + " "));
  }
  const auto named = std::find_if(commands_.begin(), commands_.end(),
                                  [](const auto& command) { return command->app_.parsed(); });
  return (*named)->action_;
}

}  // namespace attnprof
