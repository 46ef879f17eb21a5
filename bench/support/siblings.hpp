// Where the programs are that were built together with this bench.
#pragma once

#include <filesystem>
#include <string>

namespace forklift::bench {

/// The folder that the running bench was built into.
inline std::filesystem::path bench_folder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

/// The build tree around it, where `forklift` is.
inline std::filesystem::path build_folder() { return bench_folder().parent_path(); }

/// The program that does the bare minimum of what forklift does: the limit (programs/bare.cpp).
inline std::string bare_program() { return bench_folder() / "bench_bare"; }

/// What runs as a replica (programs/replica.cpp).
inline std::string replica_program() { return bench_folder() / "bench_replica"; }

/// What runs as a template (programs/template.cpp).
inline std::string template_program() { return bench_folder() / "bench_template_program"; }

/// A program that only exits, without a C library (programs/noop.cpp).
inline std::string noop_program() { return bench_folder() / "bench_noop"; }

}  // namespace forklift::bench
