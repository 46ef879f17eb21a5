// The steps of parse_launch: each reads the options of one subject into the request, or says what is wrong with them.
//
// They run in this order; a later step may use what an earlier one has filled in. Internal to launcher/request.
#pragma once

#include "forklift/request.hpp"
#include "forklift/result.hpp"
#include "launcher/request/given_options.hpp"
#include "launcher/request/split_command.hpp"

namespace forklift {

/// Refuses flags whose meaning does not exist in this version, and warns once of each that changes nothing.
Result<void> apply_flag_status(const GivenOptions& given, LaunchRequest& request);

/// Where one thing was set by the command line in one peer's word and by the environment in the other's, the command
/// line wins and the request's warnings say so.
void drop_overridden_twins(GivenOptions& given, LaunchRequest& request);

Result<void> fill_program(const GivenOptions& given, const SplitCommand& split, LaunchRequest& request);

/// Dialect, machines, this machine's rank, number of replicas.
Result<void> fill_size(const GivenOptions& given, LaunchRequest& request);

/// Address and port of the main process, from the plain flags or the rendezvous ones.
Result<void> fill_address(const GivenOptions& given, LaunchRequest& request);

Result<void> fill_devices(const GivenOptions& given, LaunchRequest& request);
Result<void> fill_environment(const GivenOptions& given, LaunchRequest& request);
Result<void> fill_output(const GivenOptions& given, LaunchRequest& request);
Result<void> fill_supervision(const GivenOptions& given, LaunchRequest& request);
Result<void> fill_planning(const GivenOptions& given, LaunchRequest& request);

/// Rules between options of different subjects.
Result<void> check_contradictions(const GivenOptions& given, LaunchRequest& request);

/// One entry for every honoured option; those that a step has recorded stay.
void record_origins(const GivenOptions& given, LaunchRequest& request);

}  // namespace forklift
