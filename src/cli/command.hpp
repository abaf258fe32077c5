// Commands and their options. A thin layer over CLI11, which only command.cpp includes: it takes eight
// seconds to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace attnprof {

/// An option just declared; each call refines it: `option("--rest", rest, "...").within(0.0, 100.0)`.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(option) {}

  Option& type_name(const std::string& name);  ///< shown in the help: FILE, not TEXT
  Option& within(int low, int high);
  Option& within(double low, double high);  ///< a finite number
  Option& one_of(const std::vector<std::string>& words);
  Option& not_empty(const std::string& message);  ///< `message`: what is wrong with ""
  Option& required();
  Option& shows_default();               ///< in the help
  Option& values(int fewest, int most);  ///< of a list
  Option& one_at_a_time();               ///< a list gets one value each time that its name is given
  Option& delimiter(char mark);          ///< a list is split there as well

 private:
  CLI::Option& option_;
};

/// A command such as `sweep`. Options write into variables of the caller; a name without dashes is a
/// positional.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(app) {}
  std::string name() const;

  /// The heading in the help for the options that are declared from here on.
  void group(const std::string& heading);
  Option option(const std::string& names, std::string& value, const std::string& help);
  Option option(const std::string& names, int& value, const std::string& help);
  Option option(const std::string& names, int64_t& value, const std::string& help);
  Option option(const std::string& names, double& value, const std::string& help);
  Option option(const std::string& names, std::optional<double>& value, const std::string& help);
  Option option(const std::string& names, std::optional<std::string>& value, const std::string& help);
  Option option(const std::string& names, std::vector<std::string>& value, const std::string& help);
  void flag(const std::string& names, bool& value, const std::string& help);
  void footer(const std::string& text);
  /// What the command does once its options are parsed; returns the exit code.
  void action(std::function<int()> run) { action_ = std::move(run); }

  /// For a configuration file: the options by their long names without dashes, and which were typed.
  struct Declared {
    std::string name;
    bool is_flag = false, is_list = false, given = false;
  };
  std::vector<Declared> options() const;
  /// Sets an option as if `values` had been typed. Throws UsageError for a value that it does not take.
  void set(const std::string& name, const std::vector<std::string>& values);
  std::vector<std::string> all_commands() const;  ///< of the program

 private:
  friend class CommandLine;
  CLI::App& app_;
  std::function<int()> action_;
};

/// The program: its commands, and the options before them.
class CommandLine {
 public:
  CommandLine(const std::string& about, const std::string& version, const std::string& footer);
  ~CommandLine();

  void flag(const std::string& names, bool& value, const std::string& help);
  Command& add(const std::string& name, const std::string& about);
  /// Parses, and returns what was asked for: a command's action, or printing the help or the version. Throws
  /// UsageError that names the help to read.
  std::function<int()> parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
  std::vector<std::unique_ptr<Command>> commands_;
};

}  // namespace attnprof
