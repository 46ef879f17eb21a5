// The rules of diagnosis: each looks at one case and answers, or leaves it to the next. One file per rule.
#pragma once

#include <optional>

#include "launcher/diagnose/case.hpp"

namespace forklift {

using Rule = std::optional<Diagnosis> (*)(const Case&);

std::optional<Diagnosis> explain_failed_start(const Case& the_case);  ///< start_failure.cpp
std::optional<Diagnosis> explain_lost(const Case& the_case);          ///< exit_codes.cpp
std::optional<Diagnosis> explain_oom_kill(const Case& the_case);      ///< out_of_memory.cpp: a counter grew
std::optional<Diagnosis> explain_bus_error(const Case& the_case);     ///< shared_memory.cpp
std::optional<Diagnosis> explain_port_in_use(const Case& the_case);   ///< port_in_use.cpp
std::optional<Diagnosis> explain_known_text(const Case& the_case);    ///< known_text_rule.cpp
std::optional<Diagnosis> explain_kill(const Case& the_case);          ///< out_of_memory.cpp: no counter grew
std::optional<Diagnosis> explain_python(const Case& the_case);        ///< python_exception.cpp
std::optional<Diagnosis> explain_signal(const Case& the_case);        ///< signals.cpp
std::optional<Diagnosis> explain_shell_signal(const Case& the_case);  ///< signals.cpp: exit code 128 + signal
std::optional<Diagnosis> explain_exit_code(const Case& the_case);     ///< exit_codes.cpp: answers every exit

}  // namespace forklift
