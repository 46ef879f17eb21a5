#include "bench/support/options.hpp"

#include <unistd.h>

#include <boost/program_options.hpp>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

#include "bench/support/siblings.hpp"

namespace forklift::bench {
namespace {

namespace po = boost::program_options;

std::filesystem::path default_forklift() {
  const char* named = std::getenv("FORKLIFT_BINARY");
  if (named != nullptr && *named != '\0') return named;
  return build_folder() / "forklift";
}

std::filesystem::path executable(const std::filesystem::path& path, const std::string& option) {
  if (::access(path.c_str(), X_OK) != 0) {
    throw std::runtime_error(option + ": " + path.string() + " cannot be executed; expected the path of a program");
  }
  return std::filesystem::absolute(path);
}

}  // namespace

Options parse_options(int argc, char** argv, const po::options_description& own) {
  Options options;
  po::options_description all("Options");
  // clang-format off
  all.add_options()
      ("help", "this text")
      ("forklift", po::value<std::string>(), "the binary to measure [FORKLIFT_BINARY, else this build's]")
      ("torchrun", po::value<std::string>(), "compare with this torchrun as well")
      ("json", po::value<std::string>(), "write the results to this file as well")
      ("rounds", po::value<int>(&options.rounds)->default_value(15), "how often each side runs at most");
  // clang-format on
  all.add(own);

  po::variables_map given;
  po::store(po::parse_command_line(argc, argv, all), given);
  po::notify(given);
  if (given.count("help") != 0) {
    std::cout << all;
    std::exit(0);
  }
  if (options.rounds < 1) throw std::runtime_error("--rounds: expected at least 1");
  options.forklift = executable(
      given.count("forklift") != 0 ? std::filesystem::path(given["forklift"].as<std::string>()) : default_forklift(),
      "--forklift");
  if (given.count("torchrun") != 0) options.torchrun = executable(given["torchrun"].as<std::string>(), "--torchrun");
  if (given.count("json") != 0) options.json = given["json"].as<std::string>();
  return options;
}

}  // namespace forklift::bench
