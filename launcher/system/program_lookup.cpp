#include "launcher/system/program_lookup.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string_view>

namespace forklift {
namespace {

/// What execvp searches where no PATH is set.
constexpr std::string_view default_path = "/usr/local/bin:/usr/bin:/bin";

ProgramFile look_at(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return ProgramFile::missing;
  if (S_ISDIR(about.st_mode)) return ProgramFile::directory;
  const bool executable = S_ISREG(about.st_mode) && ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0;
  return executable ? ProgramFile::executable : ProgramFile::not_executable;
}

std::string_view search_path(const Environment& environment) {
  const auto path = environment.find("PATH");
  return path == environment.end() ? default_path : std::string_view(path->second);
}

struct Found {
  std::string path;
  ProgramFile file = ProgramFile::missing;
};

/// The first executable of that name in PATH, else the first file of that name that cannot be executed, else missing.
Found search(const std::string& name, const Environment& environment) {
  Found second_best;
  std::string_view rest = search_path(environment);
  for (bool more = true; more;) {
    const auto colon = rest.find(':');
    more = colon != std::string_view::npos;
    const std::string_view directory = rest.substr(0, colon);
    rest = more ? rest.substr(colon + 1) : std::string_view();
    std::string path = directory.empty() ? name : std::string(directory) + "/" + name;  // Empty: working directory.
    switch (look_at(path)) {
      case ProgramFile::executable:
        if (directory.empty()) path.insert(0, "./");
        return {std::move(path), ProgramFile::executable};
      case ProgramFile::not_executable:
        if (second_best.path.empty()) second_best = {std::move(path), ProgramFile::not_executable};
        break;
      case ProgramFile::directory:
      case ProgramFile::missing:
      case ProgramFile::unknown:
        break;
    }
  }
  return second_best;
}

Error cannot_execute(const std::string& path, const std::string& reason) {
  return {ErrorKind::not_executable, "cannot execute '" + path + "': " + reason, 0};
}

Result<std::string> check_path(const std::string& path) {
  switch (look_at(path)) {
    case ProgramFile::executable:
      return path;
    case ProgramFile::directory:
      return cannot_execute(path, "it is a directory, a program was expected");
    case ProgramFile::not_executable:
      return cannot_execute(path, "it is no file with execute permission (chmod +x)");
    case ProgramFile::missing:
    case ProgramFile::unknown:
      break;
  }
  return Error{ErrorKind::not_found, "there is no file '" + path + "'", 0};
}

}  // namespace

ProgramFile look_at_program(const std::string& program, const Environment& environment) {
  if (program.empty()) return ProgramFile::missing;
  const bool script = program.ends_with(".py");
  if (script || program.find('/') != std::string::npos) return look_at(program);
  const Found found = search(program, environment);
  if (found.file == ProgramFile::executable) return found.file;
  const ProgramFile here = look_at(program);
  return here == ProgramFile::missing ? found.file : here;
}

Result<std::string> find_executable(const std::string& name, const Environment& environment) {
  if (name.find('/') != std::string::npos) return check_path(name);
  Found found = name.empty() ? Found() : search(name, environment);
  if (found.file == ProgramFile::executable) return std::move(found.path);
  if (found.file == ProgramFile::not_executable) return check_path(found.path);
  std::string message = "no file named '" + name + "' in PATH";
  if (!name.empty() && look_at(name) == ProgramFile::executable)
    message += "; the one in the working directory is './" + name + "'";
  return Error{ErrorKind::not_found, std::move(message), 0};
}

}  // namespace forklift
