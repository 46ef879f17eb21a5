// The rules of diagnosis: each looks at one case and answers, or leaves it to the next. One file per rule.
#pragma once

#include <optional>

#include "launcher/diagnose/case.hpp"

namespace forklift {

using Rule = std::optional<Diagnosis> (*)(const FailureCase&);

std::optional<Diagnosis> explain_failed_start(const FailureCase& the_case);  ///< start_failure.cpp
std::optional<Diagnosis> explain_lost(const FailureCase& the_case);          ///< exit_codes.cpp
std::optional<Diagnosis> explain_oom_kill(const FailureCase& the_case);      ///< out_of_memory.cpp: a counter grew
std::optional<Diagnosis> explain_bus_error(const FailureCase& the_case);     ///< shared_memory.cpp
std::optional<Diagnosis> explain_port_in_use(const FailureCase& the_case);   ///< port_in_use.cpp
std::optional<Diagnosis> explain_known_text(const FailureCase& the_case);    ///< known_text_rule.cpp
std::optional<Diagnosis> explain_kill(const FailureCase& the_case);          ///< out_of_memory.cpp: no counter grew
std::optional<Diagnosis> explain_python(const FailureCase& the_case);        ///< python_exception.cpp
std::optional<Diagnosis> explain_signal(const FailureCase& the_case);        ///< signals.cpp
std::optional<Diagnosis> explain_shell_signal(const FailureCase& the_case);  ///< signals.cpp: exit code 128 + signal
std::optional<Diagnosis> explain_exit_code(const FailureCase& the_case);     ///< exit_codes.cpp: answers every exit

}  // namespace forklift
