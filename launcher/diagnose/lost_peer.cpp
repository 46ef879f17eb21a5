#include "launcher/diagnose/lost_peer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "launcher/diagnose/plain_text.hpp"

namespace forklift {
namespace {

/// What libraries say when a peer has gone: such a replica is a witness of the failure, not its cause.
constexpr std::array<std::string_view, 14> peer_loss_texts{
    "Connection reset by peer",
    "Connection closed by peer",
    "Broken pipe",
    "remote process exited",                         // NCCL
    "remote process exiting prematurely",            // NCCL
    "ncclRemoteError",                               // NCCL
    "Socket closed",                                 // gRPC
    "failed to connect to all addresses",            // gRPC, when the coordinator is gone
    "recvValue failed",                              // TCPStore
    "failed to recv, got 0 bytes",                   // TCPStore
    "sendBytes failed",                              // TCPStore
    "another task died",                             // JAX coordination service
    "The client socket has failed to connect",       // TCPStore, when rank 0 is gone
    "Watchdog caught collective operation timeout",  // a peer stopped taking part
};

/// Those that had ended with success before the case's replica did, in the order of their ends.
std::vector<const Ending*> early_leavers(const FailureCase& the_case) {
  std::vector<const Ending*> leavers;
  for (const Ending& ending : the_case.endings) {
    const bool unasked = ending.asked == AskedToStop::no;
    if (unasked && succeeded(ending.outcome) && ending.order < the_case.ending.order) leavers.push_back(&ending);
  }
  std::ranges::sort(leavers, {}, &Ending::order);
  return leavers;
}

/// "rank 0"; "ranks 0, 2"; of many the first ones.
std::string names_of(const std::vector<const Ending*>& leavers) {
  constexpr std::size_t most = 8;
  std::string names = leavers.size() == 1 ? "rank " : "ranks ";
  for (std::size_t at = 0; at < std::min(leavers.size(), most); ++at) {
    names += fmt::format("{}{}", at == 0 ? "" : ", ", leavers[at]->rank.value);
  }
  if (leavers.size() > most) names += fmt::format(", … ({} in all)", leavers.size());
  return names;
}

}  // namespace

bool only_lost_a_peer(const Ending& ending) {
  const std::string words = own_words(ending);
  return std::any_of(peer_loss_texts.begin(), peer_loss_texts.end(),
                     [&](std::string_view text) { return contains(words, text); });
}

namespace {

/// Nothing of this machine's replicas explains it, and there are other machines.
void point_to_other_machines(const FailureCase& the_case, Diagnosis& diagnosis) {
  if (the_case.python) diagnosis.evidence.push_back(fmt::format("it {}", raised(the_case.python->exception)));
  diagnosis.summary =
      fmt::format("{} lost a peer: likely a replica on another machine, which ended first.", who(the_case));
  diagnosis.confidence = Confidence::possible;
  diagnosis.advice.insert(diagnosis.advice.begin(),
                          fmt::format("Read the reports of the other {} machine{}: the one whose replica failed by "
                                      "itself has the cause.",
                                      the_case.plan.num_nodes - 1, the_case.plan.num_nodes == 2 ? "" : "s"));
}

}  // namespace

void name_likely_peer(const FailureCase& the_case, Diagnosis& diagnosis) {
  if (!only_lost_a_peer(the_case.ending)) return;
  const std::vector<const Ending*> leavers = early_leavers(the_case);
  if (leavers.empty()) {
    if (the_case.plan.num_nodes > 1) point_to_other_machines(the_case, diagnosis);
    return;
  }
  const std::string names = names_of(leavers);
  const Ending& last = *leavers.back();
  if (the_case.python) diagnosis.evidence.push_back(fmt::format("it {}", raised(the_case.python->exception)));
  diagnosis.evidence.push_back(fmt::format("rank {} (pid {}) had exited with code 0, {:.1f} s before", last.rank.value,
                                           last.pid, std::max(0.0, the_case.ending.ended_s - last.ended_s)));
  diagnosis.summary =
      fmt::format("{} lost a peer: likely {}, which had exited with code 0 while the other replicas still needed {}.",
                  who(the_case), names, leavers.size() == 1 ? "it" : "them");
  diagnosis.confidence = Confidence::likely;
  diagnosis.advice.insert(
      diagnosis.advice.begin(),
      fmt::format("See why {} left so early: an exit or return that depends on the rank, or fewer batches than the "
                  "others have. Every replica must make the same collective calls.",
                  names));
}

}  // namespace forklift
