// find_root_cause: the cause against the collateral.
#include <algorithm>
#include <csignal>

#include "launcher/diagnose/case.hpp"
#include "launcher/diagnose/diagnose.hpp"
#include "launcher/diagnose/lost_peer.hpp"
#include "launcher/diagnose/plain_text.hpp"

namespace forklift {
namespace {

bool failed_by_itself(const Ending& ending) { return !succeeded(ending.outcome) && ending.asked == AskedToStop::no; }

bool is_sign_of_a_crash(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGKILL;
}

/// A replica that was already falling when the polite request reached it: a large process needs a while to die, and a
/// witness may be seen first. It crashed by a signal that we did not send, or raised an exception of its own.
bool was_already_falling(const Ending& ending) {
  if (ending.asked != AskedToStop::politely) return false;
  if (const auto* signalled = std::get_if<Signalled>(&ending.outcome)) return is_sign_of_a_crash(signalled->signal);
  const auto* exited = std::get_if<Exited>(&ending.outcome);
  if (exited == nullptr || exited->code == 0) return false;
  const std::optional<PythonFailure> python = find_python_failure(plain_text(ending.stderr_tail));
  return python && python->exception.type != "KeyboardInterrupt" && !contains(python->exception.type, "Signal");
}

/// The first, in the kernel's order, of those for which `counts` holds.
template <class Predicate>
const Ending* first(const std::vector<Ending>& endings, Predicate counts) {
  const Ending* found = nullptr;
  for (const Ending& ending : endings) {
    if (counts(ending) && (found == nullptr || ending.order < found->order)) found = &ending;
  }
  return found;
}

}  // namespace

const Ending* find_root_cause(const std::vector<Ending>& endings) {
  const Ending* earliest = first(endings, failed_by_itself);
  if (earliest == nullptr || !only_lost_a_peer(*earliest)) return earliest;

  const Ending* culprit =
      first(endings, [](const Ending& ending) { return failed_by_itself(ending) && !only_lost_a_peer(ending); });
  if (culprit == nullptr) {
    culprit =
        first(endings, [](const Ending& ending) { return was_already_falling(ending) && !only_lost_a_peer(ending); });
  }
  return culprit == nullptr ? earliest : culprit;
}

}  // namespace forklift
