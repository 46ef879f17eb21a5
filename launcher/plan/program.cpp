#include "launcher/plan/program.hpp"

#include <fmt/format.h>

#include <string_view>

#include "launcher/plan/wording.hpp"

namespace forklift {
namespace {

struct Python {
  std::string path;
  std::string origin;
};

Python choose_python(const LaunchRequest& request, const Environment& environment) {
  if (!request.python.empty()) return {request.python, origin_of(request, "python", "--python")};
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const auto found = environment.find(name);
    if (found != environment.end() && !found->second.empty()) {
      return {found->second + "/bin/python", fmt::format("environment: {}", name)};
    }
  }
  return {"python3", "default: no virtual environment is active"};
}

/// Why a file of this kind cannot be run at all.
Result<void> check_file(const LaunchRequest& request, ProgramFile file) {
  switch (file) {
    case ProgramFile::unknown:
    case ProgramFile::executable:
      return {};
    case ProgramFile::missing:
      return Error{ErrorKind::not_found,
                   fmt::format("cannot find the program '{}': no such file here or in PATH", request.program)};
    case ProgramFile::directory:
      return Error{ErrorKind::not_executable,
                   fmt::format("the program '{}' is a directory; expected a script or an executable", request.program)};
    case ProgramFile::not_executable:
      if (request.run_as != RunAs::direct) return {};
      return Error{
          ErrorKind::not_executable,
          fmt::format("the program '{}' has no execute permission, and --no-python was given: use chmod +x, or leave "
                      "out --no-python",
                      request.program)};
  }
  return {};
}

enum class Runner { itself, python_script, python_module };

Runner choose_runner(const LaunchRequest& request, ProgramFile file) {
  switch (request.run_as) {
    case RunAs::module:
      return Runner::python_module;
    case RunAs::direct:
      return Runner::itself;
    case RunAs::automatic:
      break;
  }
  const bool is_script = request.program.ends_with(".py") || file == ProgramFile::not_executable;
  return is_script ? Runner::python_script : Runner::itself;
}

std::string expand(std::string text, std::string_view name, int value) {
  const std::string number = std::to_string(value);
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + number.size())) {
    text.replace(at, name.size(), number);
  }
  return text;
}

}  // namespace

Result<ProgramCommand> plan_program(const LaunchRequest& request, const PlanInputs& inputs) {
  if (request.program.empty()) {
    return Error{ErrorKind::usage, "no PROGRAM was given; expected: forklift launch [options] PROGRAM [arguments…]"};
  }
  const Runner runner = choose_runner(request, inputs.program);
  if (runner != Runner::itself && request.start_method == StartMethod::from_template) {
    return Error{
        ErrorKind::usage,
        fmt::format("--template: '{}' is a Python program, and the Python module that gives it a fork point is "
                    "not part of this version; expected a program that calls forklift::fork_point()",
                    request.program)};
  }
  if (runner != Runner::python_module) {
    const auto checked = check_file(request, inputs.program);
    if (!checked) return checked.error();
  }
  ProgramCommand command;
  if (runner != Runner::itself) {
    Python python = choose_python(request, inputs.environment);
    command.kind = ProgramKind::python;
    command.python_origin = std::move(python.origin);
    command.words = {std::move(python.path), "-u"};
    if (runner == Runner::python_module) command.words.emplace_back("-m");
    if (inputs.program == ProgramFile::not_executable && !request.program.ends_with(".py") &&
        runner == Runner::python_script) {
      command.warnings.push_back(
          fmt::format("'{}' has no execute permission: it is run by {}", request.program, command.words.front()));
    }
  }
  command.words.push_back(request.program);
  command.first_argument = command.words.size();
  command.words.insert(command.words.end(), request.arguments.begin(), request.arguments.end());
  return command;
}

std::vector<std::string> argv_of(const ProgramCommand& command, ArgumentExpansion expansion, Rank rank,
                                 LocalRank local_rank) {
  std::vector<std::string> argv = command.words;
  if (expansion == ArgumentExpansion::literal) return argv;
  for (std::size_t index = command.first_argument; index < argv.size(); ++index) {
    argv[index] = expand(expand(argv[index], "{rank}", rank.value), "{local_rank}", local_rank.value);
  }
  return argv;
}

}  // namespace forklift
